package main

import (
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
)

// A command is answered once. Only its user sees the answer to /status; everybody sees that /new started a new session.
func TestDiscordAnswersACommandOnce(t *testing.T) {
	onEachTransport(t, func(t *testing.T, _ string, env map[string]string) {
		d := serveDiscord(t, discordtest.Options{}, env)
		d.registered()
		for command, want := range map[string]string{"/status": "Nothing is waiting.", "/new": "new conversation"} {
			i := d.ann.Runs(channelID, command)
			waitUntil(t, func() bool {
				m, _ := i.Shown()
				return strings.Contains(m.Content, want) && (m.Ephemeral == askerID) == (command == "/status")
			}, command+" is answered")
		}
		d.ann.Runs(channelID, "/ask calc 1+1")
		d.reads(channelID, "1+1 = 2") // a further answer would have come before this one
		all := d.discord.Messages(channelID)
		if len(all) != 2 || !strings.Contains(all[0].Content, "new conversation") {
			t.Errorf("the channel shows\n%s", d.discord.Dump())
		}
	})
}
