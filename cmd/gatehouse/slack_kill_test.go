package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// office is a fake Slack with a real gatehouse process before it, which can be killed and started again on the same address.
type office struct {
	*listening
	*served
}

// newOffice opens the fake; its retries wait until somebody listens.
func newOffice(t *testing.T, env ...string) *office {
	t.Helper()
	o := &office{listening: newListening(t, sqliteFile, append([]string{"GATEHOUSE_APPROVERS=slack:U2BOB"}, env...)...)}
	fake := slacktest.Start(t, slacktest.Options{Wait: func(ctx context.Context, _ int) { o.waitUp(ctx) }})
	o.served = &served{t: t, slack: fake, base: o.at}
	o.idle = o.posted
	o.people()
	o.env = append(o.env,
		"SLACK_BOT_TOKEN="+fake.BotToken(), "SLACK_API_URL="+fake.APIURL(), "SLACK_CHANNEL_RPS=0", "SLACK_SIGNING_SECRET="+fake.SigningSecret())
	fake.SendTo(slacktest.Addresses{Events: o.base + "/slack/events", Interactions: o.base + "/slack/interactions", Commands: o.base + "/slack/commands"})
	return o
}

// acked reports whether a message was acknowledged.
func acked(deliveries []*slacktest.Delivery) bool {
	return slices.ContainsFunc(deliveries, func(d *slacktest.Delivery) bool { return d.Acked() })
}

// TestLaw2_SlackKilledUnderLoad kills the process again and again, at random, while people talk and the agent thinks. What was acknowledged is
// answered, once, in the order of its thread.
func TestLaw2_SlackKilledUnderLoad(t *testing.T) {
	t.Parallel() // it waits most of the time
	o := newOffice(t, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=300ms")
	o.open()
	channels := o.crowdOf(8)
	const threads, messages, kills = 40, 4, 5
	said := make([]*thread, threads)
	seed := rand.Uint64()
	t.Logf("the seed of the kills is %d", seed)
	chance := rand.New(rand.NewPCG(seed, 0))
	killAt := chance.Perm(threads * messages)[:kills]
	n := 0
	for i := range messages {
		for j := range threads {
			if i == 0 {
				said[j] = &thread{channel: channels[j%len(channels)]}
			}
			at, word := said[j], fmt.Sprintf("word-%d-%d.", j, i)
			hows := []slacktest.ActionOption{slacktest.Twice()}
			if i > 0 {
				hows = append(hows, slacktest.InThread(at.ts))
			}
			posted := o.ann.Posts(at.channel, o.slack.MentionOfBot()+" "+word, hows...)
			if i == 0 {
				at.ts = posted.TS
			}
			at.said, at.sent = append(at.said, word), append(at.sent, posted.Deliveries)
			if n++; slices.Contains(killAt, n-1) {
				answered := chance.IntN(n/2 + 1) // somewhere between the first turns of them and the last
				if err := o.slack.WaitFor(o.ctx(), func(s *slacktest.Server) bool { return s.CountFromBot() >= answered }); err != nil {
					t.Fatal(err)
				}
				o.app.kill()
				o.open()
			}
		}
	}
	over := o.ctx()
	if err := o.slack.WaitDelivered(over); over.Err() != nil { // else Slack has given some up, which are not stored
		t.Fatal(err)
	}
	lost := 0
	for _, at := range said {
		stored := o.stored(at)
		for i, word := range at.said {
			switch kept := slices.Contains(stored, word); {
			case acked(at.sent[i]) && !kept:
				t.Errorf("%q was acknowledged and is not there", word)
			case !kept:
				lost++
			}
		}
		at.said = stored
	}
	t.Logf("%d of %d messages were never acknowledged", lost, threads*messages)
	o.answered(said, patience)
	o.app.kill()
}

var aWord = regexp.MustCompile(`word-\d+-\d+\.`)

// stored gives the words of a thread that were stored, in the order of their commits: one whose first try met a dead process comes
// later than it was said.
func (o *office) stored(at *thread) []string {
	var words []string
	conversation := core.ConversationID("slack:" + o.slack.TeamID() + ":" + at.channel + ":" + at.ts)
	for _, e := range slices.Backward(o.events(core.EventFilter{Conversation: conversation})) {
		words = append(words, aWord.FindString(string(e.Payload)))
	}
	return words
}

// slackStory plays an approval in Slack, with the process killed at the n-th pass of a point, and started again.
func slackStory(t *testing.T, point string, nth int, record string) {
	o := newOffice(t)
	o.open(armed(point, nth, record)...)
	survive := func(holds func() bool) { t.Helper(); o.survive("the next step", holds) }
	var ask slacktest.Posted
	for {
		ask = o.ann.Posts("C1", o.slack.MentionOfBot()+" note add milk")
		survive(func() bool {
			return slices.IndexFunc(ask.Deliveries, func(d *slacktest.Delivery) bool { return !d.Over() }) < 0
		})
		if acked(ask.Deliveries) {
			break
		}
	}
	var card slacktest.Message
	survive(func() bool {
		for _, m := range o.slack.Thread("C1", ask.TS) {
			if len(m.Buttons()) > 0 {
				card = m
				return true
			}
		}
		return false
	})
	for acked := false; !acked; {
		button, there := o.slack.FindButton("C1", card.TS, "approve")
		if !there {
			break // the press before was counted, though its answer was lost
		}
		press := o.bob.Presses(button)
		survive(press.Over)
		acked = press.Acked()
	}
	survive(func() bool { return o.settled() })
	o.app.kill()
	o.conversation = core.ConversationID("slack:" + o.slack.TeamID() + ":C1:" + ask.TS)
	o.wantOneNote(point)
	var cards, pending, replies int
	for _, m := range o.slack.Thread("C1", ask.TS) {
		switch text := m.Shown(); {
		case m.BotID == "" || steps(m):
		case strings.Contains(text, "I need an approval first"):
			pending++
		case strings.Contains(text, "Done:") || strings.Contains(text, "unknown"):
			replies++
		default:
			cards++
		}
	}
	if cards != 1 || pending != 1 || replies != 1 {
		t.Errorf("%s: %d cards, %d questions, %d replies:\n%s", point, cards, pending, replies, o.slack.Dump())
	}
}

// steps reports whether a message is the line of tools of a turn that took a while.
func steps(m slacktest.Message) bool { return strings.Contains(m.Shown(), "🔧") }

// TestLaw2_SlackKilledAtEveryPoint kills the process at every store call of an approval in Slack, before and after.
func TestLaw2_SlackKilledAtEveryPoint(t *testing.T) {
	t.Parallel() // it waits most of the time
	record := filepath.Join(t.TempDir(), "points")
	slackStory(t, "", 0, record)
	for point, nths := range passes(t, record) {
		for _, nth := range nths {
			t.Run(fmt.Sprintf("%s %d", point, nth), func(t *testing.T) {
				t.Parallel()
				slackStory(t, point, nth, "")
			})
		}
	}
}
