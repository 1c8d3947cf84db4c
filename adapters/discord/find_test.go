package discord

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// A post whose answer was lost is not posted twice: at first Discord's nonce prevents it, later Find finds the message.
func TestLostAnswerIsNotPostedTwice(t *testing.T) {
	for name, c := range map[string]struct {
		arrived bool
		late    time.Duration // until it is looked for
		lag     int           // reads that do not show it
	}{
		"it had arrived":              {true, 0, 0},
		"it had, and shows late":      {true, 0, -1},
		"it had not":                  {false, 0, 0},
		"it had arrived, long ago":    {true, time.Hour, 0},
		"it had not, and long ago":    {false, time.Hour, 0},
		"it had arrived, at the edge": {true, nonceTime, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRig(t, nil)
			w.LagReads(c.lag)
			to := w.asked("hello")
			trouble := discordtest.Cut()
			if c.arrived {
				trouble = discordtest.AnswerLost()
			}
			w.say(answerTo("reply/0", "the same words", to))
			w.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: trouble, Times: 1})
			d := answerTo("reply/1", "the same words", to)
			sentAt := w.clock.Now()
			if _, _, err := w.d.Post(w.ctx(), d); core.CategoryOf(err) != core.DeliveryInDoubt {
				t.Fatalf("%v", err)
			}
			w.clock.Advance(c.late)
			for i := range 150 {
				w.alice.Posts(to.Thread, fmt.Sprint("a word ", i))
			}
			d.SentAt = sentAt
			found, err := w.d.Find(w.ctx(), d)
			ref, more := found.Ref, found.More
			if err != nil || more || (ref != "") != (c.arrived && c.lag == 0) {
				t.Fatalf("%q, %v, %v", ref, more, err)
			}
			if ref == "" {
				ref = w.say(d)[0]
			}
			said := w.FromBot(to.Thread)
			if len(said) != 2 || ref != address.Ref(to.Thread, said[1].ID) {
				t.Errorf("%q names none of\n%s", ref, w.Dump())
			}
		})
	}
}

func TestFindInTheChannelIfTheThreadWasNotOpened(t *testing.T) {
	w := newRig(t, nil)
	w.DenyBot(general, discordtest.CreatePublicThreads)
	to := w.asked("hello")
	d := answerTo("reply/1", "words", to)
	want := w.say(d)[0]
	d.SentAt = w.clock.Now()
	w.clock.Advance(time.Hour)
	if found, err := w.d.Find(w.ctx(), d); err != nil || found.Ref != want {
		t.Errorf("%q, %v", found.Ref, err)
	}
}

// Without the permission to read the history, Discord returns an empty one, so the post stays in doubt.
func TestUnreadableHistoryLeavesThePostInDoubt(t *testing.T) {
	w := newRig(t, nil)
	w.DenyBot(general, discordtest.ReadMessageHistory)
	d := answerTo("reply/1", "words", core.Address{Platform: address.Platform, Channel: general})
	w.say(d)
	d.SentAt = w.clock.Now()
	if found, err := w.d.Find(w.ctx(), d); err != nil || found.Ref != "" {
		t.Errorf("within the nonce's minutes: %q, %v", found.Ref, err)
	}
	w.clock.Advance(time.Hour)
	if _, err := w.d.Find(w.ctx(), d); core.CategoryOf(err) != core.DeliveryInDoubt {
		t.Errorf("later: %v", err)
	}
}

// A search changes nothing, so it is repeated for as long as Discord fails.
func TestFailedSearchIsRetried(t *testing.T) {
	for name, c := range map[string]struct {
		trouble discordtest.Trouble
		want    core.Category
	}{
		"broken down": {discordtest.ServerError(503), core.DeliveryLater},
		"cut":         {discordtest.Cut(), core.DeliveryLater},
		"the token":   {discordtest.Unauthorized(), core.DeliveryLater},
		"a proxy":     {discordtest.RateLimitedByProxy(time.Second), core.DeliveryLater},
		"no view":     {discordtest.MissesAccess(), core.DeliveryForbidden}, // that may last
	} {
		t.Run(name, func(t *testing.T) {
			w := newRig(t, nil)
			d := answerTo("reply/1", "words", core.Address{Platform: address.Platform, Channel: general})
			d.SentAt = w.clock.Now()
			w.Inject(discordtest.Fault{Endpoint: discordtest.ListMessages, Trouble: c.trouble, Times: 1})
			if _, err := w.d.Find(w.ctx(), d); core.CategoryOf(err) != c.want {
				t.Errorf("%v", err)
			}
		})
	}
}

// For a known nonce Discord returns the message as it was first sent. If the approval was decided since then, the card
// is edited.
func TestCardDecidedBeforeItsSecondSendIsUpdated(t *testing.T) {
	w := newRig(t, nil)
	to := core.Address{Platform: address.Platform, Channel: general}
	d := core.Delivery{
		Post: core.Post{Key: "card/1", Kind: core.PostCard, Approval: "ap-1", To: to}, Card: rigSamples.Card(nil),
	}
	w.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: discordtest.AnswerLost(), Times: 1})
	if _, _, err := w.d.Post(w.ctx(), d); core.CategoryOf(err) != core.DeliveryInDoubt {
		t.Fatalf("%v", err)
	}
	d.Card = rigSamples.Card(func(c *core.Card) { c.State, c.DecidedAt = core.Approved, adaptertest.Noon })
	ref := w.say(d)[0]
	said := w.FromBot(general)
	if len(said) != 1 || ref != address.Ref(general, said[0].ID) || len(said[0].Buttons()) != 0 ||
		!strings.Contains(said[0].Shown(), "✅ Approved") {
		t.Errorf("%q names none of\n%s", ref, w.Dump())
	}
	w.say(core.Delivery{Post: core.Post{Key: "card/2", Kind: core.PostCard, Approval: "ap-1", To: to}, Card: d.Card})
	w.say(answerTo("reply/1", "  spaces around it \n\n", to))
	if n := w.CountCalls(discordtest.EditMessage); n != 1 {
		t.Errorf("%d messages were redrawn, want the first alone", n)
	}
	w.checkNoPings()
}

// After a restart it is not known which messages were sent. Find skips a message with the same text from before the
// send, and finds the one that was posted.
func TestAnotherProcessFindsALostAnswer(t *testing.T) {
	for name, arrived := range map[string]bool{"it had arrived": true, "it had not": false} {
		t.Run(name, func(t *testing.T) {
			w := newRig(t, nil)
			ahead := func() time.Time { return w.clock.Now().Add(time.Minute) } // this machine's clock
			w.d = w.restarted(ahead)
			to := core.Address{Platform: address.Platform, Channel: general}
			w.say(answerTo("reply/0", "the same words", to))
			w.clock.Advance(5 * time.Second)
			trouble := discordtest.Cut()
			if arrived {
				trouble = discordtest.AnswerLost()
			}
			w.Inject(discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: trouble, Times: 1})
			d := answerTo("reply/1", "the same words", to)
			d.SentAt, _, _ = w.d.Clock()
			if _, _, err := w.d.Post(w.ctx(), d); core.CategoryOf(err) != core.DeliveryInDoubt {
				t.Fatalf("%v", err)
			}
			w.clock.Advance(time.Hour)
			w.d = w.restarted(ahead)
			if err := w.d.Call(w.ctx(), "GET", "/users/@me", nil, nil); err != nil { // who it is
				t.Fatal(err)
			}
			found, err := w.d.Find(w.ctx(), d)
			ref := found.Ref
			if err != nil || (ref != "") != arrived {
				t.Fatalf("%q, %v", ref, err)
			}
			if ref == "" {
				ref = w.say(d)[0]
			}
			if said := w.FromBot(general); len(said) != 2 || ref != address.Ref(general, said[1].ID) {
				t.Errorf("%q names none of\n%s", ref, w.Dump())
			}
		})
	}
}

// The text of a post may change between its send and the search for it.
func TestFindAPostThatChangedSinceItsSend(t *testing.T) {
	for name, c := range map[string]struct{ first, then core.Delivery }{
		"a card that was decided": {
			core.Delivery{Post: core.Post{Kind: core.PostCard, Approval: "ap-1"}, Card: rigSamples.Card(nil)},
			core.Delivery{
				Post: core.Post{Kind: core.PostCard, Approval: "ap-1"},
				Card: rigSamples.Card(func(c *core.Card) { c.State = core.Approved }),
			},
		},
		"a reply that comes late": {
			core.Delivery{Post: core.Post{Kind: core.PostReply, Text: "words"}},
			core.Delivery{Post: core.Post{Kind: core.PostReply, Text: "words"}, Late: true},
		},
		"more steps": {
			core.Delivery{Post: core.Post{Kind: core.PostSteps, Text: "demo.calc"}},
			core.Delivery{Post: core.Post{Kind: core.PostSteps, Text: "demo.calc · note.add"}},
		},
		"a button that was pressed": {
			rigSamples.Error(core.RetryableTransient, false), rigSamples.Error(core.RetryableTransient, true),
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newRig(t, nil)
			w.Inject(
				discordtest.Fault{Endpoint: discordtest.CreateMessage, Trouble: discordtest.AnswerLost(), Times: 1})
			c.first.Key, c.first.To = "post/1", core.Address{Platform: address.Platform, Channel: general}
			c.then.Key, c.then.To, c.then.SentAt = c.first.Key, c.first.To, w.clock.Now()
			if _, _, err := w.d.Post(w.ctx(), c.first); core.CategoryOf(err) != core.DeliveryInDoubt {
				t.Fatalf("%v", err)
			}
			w.clock.Advance(time.Hour)
			found, err := w.d.Find(w.ctx(), c.then)
			ref := found.Ref
			if said := w.FromBot(general); err != nil || len(said) != 1 || ref != address.Ref(general, said[0].ID) {
				t.Errorf("%q, %v", ref, err)
			}
		})
	}
}
