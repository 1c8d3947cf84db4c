package main

import (
	"os"
	"path/filepath"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// Discord does not repeat a press that it sent over HTTP. If the process dies while handling it, Discord shows the user
// that it failed. A second press decides if the first was not stored; otherwise it changes nothing.
func TestDiscordKilledOverAPressByHTTP(t *testing.T) {
	t.Parallel()
	for _, point := range []string{"Accept.before", "Accept.after"} {
		t.Run(point, func(t *testing.T) {
			t.Parallel()
			p := newDiscordProcess(t, sqliteFile, discordtest.Options{}).byHTTP()
			fuse := filepath.Join(t.TempDir(), "fuse")
			p.open(append(armed(point, 1, ""), fuseKey+"="+fuse)...)
			p.waitConnected()
			ask := p.ann.Posts(channelID, p.discord.MentionOfBot()+" note add milk")
			card := p.waitForCard(ask)
			button, _ := p.discord.FindButton(ask.ID, card.ID, "Approve")
			noErr(t, os.WriteFile(fuse, nil, 0o600))
			press := p.bob.Presses(button)
			if err := press.Wait(p.ctx()); err == nil || press.State().Failed == "" {
				t.Errorf("Discord does not show a failure: %+v", press.State())
			}
			<-p.app.done
			if n, want := len(p.events(core.EventFilter{})),
				map[string]int{"Accept.before": 1, "Accept.after": 2}[point]; n != want {
				t.Errorf("%d events are stored, want %d", n, want)
			}
			if m, _ := p.discord.Message(ask.ID, card.ID); len(m.Buttons()) == 0 || len(p.approvals(core.Open)) != 1 {
				t.Errorf("the approval is already decided:\n%s", m.Shown())
			}
			p.open()
			again := p.bob.Presses(button)
			if err := again.Wait(p.ctx()); err != nil {
				t.Errorf("the second press: %v", err)
			}
			p.waitForEnd("", ask)
			if n := len(p.events(core.EventFilter{})); point == "Accept.before" && n != 3 ||
				point == "Accept.after" && n != 4 {
				t.Errorf("%d events are stored", n) // the request, the presses that were stored, the signal
			}
		})
	}
}
