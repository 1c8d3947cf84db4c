package admin

import (
	"context"

	"gatehouse/adapters/discord"
	"gatehouse/adapters/slack"
	"gatehouse/cmd/gatehouse/internal/cli"
)

// Manifest is gatehouse manifest.
type Manifest struct {
	Slack   manifestSlackCmd   `cmd:"" help:"Print the manifest of the Slack app as JSON, to paste where Slack asks for one."`
	Discord manifestDiscordCmd `cmd:"" help:"Print what the Discord application needs as JSON: the invitation URL, permissions, intents and commands."`
}

type manifestSlackCmd struct {
	HTTP      string `name:"http" placeholder:"URL" help:"The public https:// URL where Slack reaches gatehouse. Without it events come over Socket Mode."`
	Assistant bool   `help:"Add the assistant view: each thread of direct messages is a conversation of its own."`
}

// Run prints the manifest and nothing else.
func (c manifestSlackCmd) Run(_ context.Context, a *cli.App) error {
	text, err := slack.Manifest(slack.ManifestOptions{URL: c.HTTP, Assistant: c.Assistant})
	if err != nil {
		return err
	}
	_, err = a.Out.Write(text)
	return err
}

type manifestDiscordCmd struct {
	Application string `placeholder:"ID" help:"The application's id, for the invitation URL."`
	HTTP        string `name:"http" placeholder:"URL" help:"The public https:// URL where Discord sends button presses and commands. Without it they come over the gateway."`
	Reply       string `enum:"thread,channel" default:"thread" help:"The value of DISCORD_REPLY: ${enum}."`
}

// Run prints it and nothing else.
func (c manifestDiscordCmd) Run(_ context.Context, a *cli.App) error {
	text, err := discord.Manifest(discord.ManifestOptions{Application: c.Application, URL: c.HTTP, Reply: c.Reply})
	if err != nil {
		return err
	}
	_, err = a.Out.Write(text)
	return err
}
