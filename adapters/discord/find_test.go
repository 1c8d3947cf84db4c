package discord

import (
	"fmt"
	"testing"
	"time"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// A send whose answer was lost is not made twice: soon after Discord's nonce sees to it, later the mark is found.
func TestALostAnswerDoublesNothing(t *testing.T) {
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
			w := newTown(t, nil)
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
			if len(said) != 2 || ref != refOf(to.Thread, said[1].ID) {
				t.Errorf("%q names none of\n%s", ref, w.Dump())
			}
		})
	}
}

func TestWhatStandsInPlaceIsFoundThere(t *testing.T) {
	w := newTown(t, nil)
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

// Without the permission to read the history Discord shows an empty one, which proves nothing.
func TestAnUnreadableHistoryProvesNothing(t *testing.T) {
	w := newTown(t, nil)
	w.DenyBot(general, discordtest.ReadMessageHistory)
	d := answerTo("reply/1", "words", core.Address{Platform: Name, Channel: general})
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

// Looking changes nothing: where Discord breaks down over it, it is looked again, for as long as that takes.
func TestALookThatFailsIsMadeAgain(t *testing.T) {
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
			w := newTown(t, nil)
			d := answerTo("reply/1", "words", core.Address{Platform: Name, Channel: general})
			d.SentAt = w.clock.Now()
			w.Inject(discordtest.Fault{Endpoint: discordtest.ListMessages, Trouble: c.trouble, Times: 1})
			if _, err := w.d.Find(w.ctx(), d); core.CategoryOf(err) != c.want {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestSnowflakesHoldTheirTime(t *testing.T) {
	at := time.Date(2016, 4, 30, 11, 18, 25, 796*1e6, time.UTC)
	if got := snowflakeAt(at) >> shift; got != 175928847299117063>>shift {
		t.Errorf("%d", got)
	}
	if snowflakeAt(time.Time{}) != 0 {
		t.Error("before there was Discord")
	}
}
