package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// A process is killed after Discord has created its message and before the response arrived. The next process finds out
// whether the message exists: it looks for its text and time or, if it can't read it, sends it again with the same
// nonce while Discord still knows the nonce. If neither is possible, the message is not sent again and is listed among
// the dead letters.
func TestDiscordKilledBeforeTheResponse(t *testing.T) {
	t.Parallel()
	const ago = 10 * time.Minute // longer than Discord remembers a nonce
	for name, c := range map[string]struct {
		late       bool // the next process starts 10 minutes later
		hidden     bool // the message can't be read yet (read-after-write lag)
		unreadable bool // the bot may not read messages
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
			clock, began := discordtest.NewClock(time.Now()), time.Now()
			goesOn := func() time.Time { return clock.Now().Add(time.Since(began)) }
			if c.late {
				clock.Advance(-ago)
			}
			p := newDiscordProcess(t, sqliteFile, discordtest.Options{Now: goesOn, SessionLifetime: time.Hour},
				"GATEHOUSE_AGENT=echo")
			if c.unreadable {
				p.discord.DenyBot(channelID, discordtest.ReadMessageHistory)
			}
			p.open()
			p.waitConnected()
			if c.hidden {
				p.discord.LagReads(-1)
			}
			held := p.discord.Inject(
				discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: discordtest.AnswerHeld(), Times: 1})
			ask := p.ann.Posts(channelID, p.discord.MentionOfBot()+" word-1-1.")
			p.until("the response that is held back", p.app, func() bool { return held.Waiting() == 1 })
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
				t.Errorf("the thread contains %q", got)
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

// sentAgo moves the time at which the post in doubt was sent into the past.
func (p *discordProcess) sentAgo(ago time.Duration) {
	t := p.serveProcess.t
	owner, err := p.store.Register(t.Context(), "test", 0)
	noErr(t, err)
	p.until("that the dead process is missed", nil, func() bool {
		noErr(t, p.store.Beat(t.Context(), owner))
		rows, err := p.store.ClaimPosts(t.Context(),
			core.PostRequest{Owner: owner, Limit: 1, Scopes: []core.Scope{{Platform: "discord"}}})
		noErr(t, err)
		for _, row := range rows {
			part := &row.Parts[len(row.Parts)-1]
			if !part.InDoubt {
				t.Errorf("the post is not in doubt: %+v", row)
			}
			part.SentAt = part.SentAt.Add(-ago)
			noErr(t, p.store.SavePost(t.Context(), row))
			if _, err := p.store.ReleasePost(t.Context(), row, 0); err != nil {
				t.Fatal(err)
			}
		}
		return len(rows) > 0
	})
}
