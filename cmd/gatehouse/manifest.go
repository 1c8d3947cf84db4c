package main

import (
	"context"
	"fmt"

	"gatehouse/adapters/discord"
	"gatehouse/adapters/slack"
)

type manifestCmd struct {
	Slack   manifestSlackCmd   `cmd:"" help:"The manifest of the Slack app, as JSON; it is pasted where Slack asks for one."`
	Discord manifestDiscordCmd `cmd:"" help:"What the Discord application needs, as JSON: the address that invites the bot, its permissions, intents and commands."`
}

type manifestSlackCmd struct {
	HTTP      string `name:"http" placeholder:"URL" help:"Slack posts to gatehouse at this public address, https://HOST. Without it events come over Socket Mode."`
	Assistant bool   `help:"With the assistant view: each thread of direct messages is a conversation of its own."`
}

// Run prints the manifest and nothing else, so that it can be piped.
func (c manifestSlackCmd) Run(_ context.Context, a *app) error {
	text, err := slack.Manifest(slack.ManifestOptions{URL: c.HTTP, Assistant: c.Assistant})
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.std.Out, string(text))
	return err
}

type manifestDiscordCmd struct {
	Application string `placeholder:"ID" help:"The application's id, for the address of the invitation."`
	HTTP        string `name:"http" placeholder:"URL" help:"Discord posts presses and commands to gatehouse at this public address, https://HOST. Without it they come over the gateway."`
	Reply       string `enum:"thread,channel" default:"thread" help:"As DISCORD_REPLY: ${enum}."`
}

// Run prints it and nothing else, so that it can be piped.
func (c manifestDiscordCmd) Run(_ context.Context, a *app) error {
	text, err := discord.Manifest(discord.ManifestOptions{Application: c.Application, URL: c.HTTP, Reply: c.Reply})
	if err != nil {
		return err
	}
	_, err = fmt.Fprint(a.std.Out, string(text))
	return err
}
