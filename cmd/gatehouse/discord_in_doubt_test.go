package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// A process is killed after Discord has posted its answer and before the answer arrived. The next one finds out whether the answer is there: by
// its text and time or, while it can't be read, by the nonce, as long as Discord knows that. Where neither can tell it is not sent
// again, and the dead letters say so.
func TestDiscordKilledBeforeItWasTold(t *testing.T) {
	t.Parallel()
	const ago = 10 * time.Minute // longer than Discord knows a nonce
	for name, c := range map[string]struct {
		late       bool // the next process comes so much later
		hidden     bool // the message can't be read yet
		unreadable bool // no message can
		sends      int
		unknown    bool
	}{
		"found":                         {sends: 1},
		"not to be read yet":            {hidden: true, sends: 2},
		"without history":               {unreadable: true, sends: 2},
		"found later":                   {late: true, sends: 1},
		"without history, and too late": {late: true, unreadable: true, sends: 1, unknown: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			clock := discordtest.NewClock(time.Now())
			if c.late {
				clock.Advance(-ago)
			}
			p := newDiscordProcess(t, sqliteFile, discordtest.Options{Now: clock.Now, SessionLifetime: time.Hour}, "GATEHOUSE_AGENT=echo")
			if c.unreadable {
				p.discord.DenyBot(channelID, discordtest.ReadMessageHistory)
			}
			p.open()
			p.waitConnected()
			if c.hidden {
				p.discord.LagReads(-1)
			}
			held := p.discord.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: discordtest.AnswerHeld(), Times: 1})
			ask := p.ann.Posts(channelID, p.discord.MentionOfBot()+" word-1-1.")
			p.until("the answer on its way", p.app, func() bool { return held.Waiting() == 1 })
			p.app.kill()
			held.Lift()
			if c.late {
				clock.Advance(ago)
				p.sentAgo(ago)
			}
			p.open()
			p.bob.Posts(ask.ID, "word-1-2.")
			p.until("the next answer", p.app, func() bool { return len(p.discord.FromBot(ask.ID)) > 1 && p.settled() })
			if got := p.answers(&conversation{place: ask.ID}); !slices.Equal(got, []string{"word-1-1.", "word-1-2."}) {
				t.Errorf("in the thread stand %q", got)
			}
			if n := p.discord.CountCalls(discordtest.CreateMessage); n != c.sends+1 {
				t.Errorf("%d messages were sent to Discord, want %d", n, c.sends+1)
			}
			letters := p.workbench.start(nil, "deadletters", "list", "--json")
			letters.ok(t)
			if got := strings.Contains(letters.out.String(), `"unknown"`); got != c.unknown {
				t.Errorf("the dead letters are %s", letters.out)
			}
		})
	}
}

// sentAgo makes the post in doubt one that was sent so long ago.
func (p *discordProcess) sentAgo(ago time.Duration) {
	t := p.serveProcess.t
	owner, err := p.store.Register(t.Context(), "test")
	if err != nil {
		t.Fatal(err)
	}
	p.until("the end of the dead process's lease", nil, func() bool {
		rows, err := p.store.ClaimPosts(t.Context(), core.PostRequest{Owner: owner, Limit: 1, Lease: time.Minute, Scopes: []core.Scope{{Platform: "discord"}}})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range rows {
			part := &row.Parts[len(row.Parts)-1]
			if !part.InDoubt {
				t.Errorf("the post is not in doubt: %+v", row)
			}
			part.SentAt = part.SentAt.Add(-ago)
			if err := p.store.SavePost(t.Context(), row); err != nil {
				t.Fatal(err)
			}
			if err := p.store.ReleasePost(t.Context(), row, 0); err != nil {
				t.Fatal(err)
			}
		}
		return len(rows) > 0
	})
}
