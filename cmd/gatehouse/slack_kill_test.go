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

// slackProcess is a real gatehouse process connected to a fake Slack. It can be killed and started again at the same
// address.
type slackProcess struct {
	*serveProcess
	*testGateway
}

// newSlackProcess is newSlackProcessOn with SQLite.
func newSlackProcess(t *testing.T, env ...string) *slackProcess {
	t.Helper()
	return newSlackProcessOn(t, sqliteFile, env...)
}

// newSlackProcessOn starts the fake, whose retries wait until the process listens.
func newSlackProcessOn(t *testing.T, e engine, env ...string) *slackProcess {
	t.Helper()
	return newSlackProcessWith(t, e, slacktest.Options{}, env...)
}

// newSlackProcessWith is newSlackProcessOn with options of the fake.
func newSlackProcessWith(t *testing.T, e engine, o slacktest.Options, env ...string) *slackProcess {
	t.Helper()
	p := &slackProcess{serveProcess: newServeProcess(t, e,
		append([]string{"GATEHOUSE_APPROVERS=slack:U2BOB"}, env...)...)}
	o.Wait = func(ctx context.Context, _ int) { p.waitUp(ctx) }
	fake := slacktest.Start(t, o)
	p.testGateway = &testGateway{t: t, slack: fake, base: p.at}
	p.idle = p.posted
	p.people()
	p.env = append(p.env,
		"SLACK_BOT_TOKEN="+fake.BotToken(), "SLACK_API_URL="+fake.APIURL(), "SLACK_CHANNEL_RPS=0",
		"SLACK_SIGNING_SECRET="+fake.SigningSecret())
	fake.SendTo(
		slacktest.Addresses{
			Events: p.base + "/slack/events", Interactions: p.base + "/slack/interactions",
			Commands: p.base + "/slack/commands",
		})
	return p
}

// acked reports whether a message was acknowledged.
func acked(deliveries []*slacktest.Delivery) bool {
	return slices.ContainsFunc(deliveries, func(d *slacktest.Delivery) bool { return d.Acked() })
}

// TestLaw2_SlackKilledUnderLoad kills the process several times, at random, while messages arrive and turns run. Every
// acknowledged message is answered once, in the order of its thread.
func TestLaw2_SlackKilledUnderLoad(t *testing.T) {
	t.Parallel()
	p := newSlackProcess(t, "GATEHOUSE_AGENT=echo", "GATEHOUSE_ECHO_DELAY=300ms")
	p.open()
	channels := p.addChannels(8)
	const threads, messages, kills = 40, 4, 4 // one kill more could make a dead letter of a message that runs at each
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
			posted := p.ann.Posts(at.channel, p.slack.MentionOfBot()+" "+word, hows...)
			if i == 0 {
				at.ts = posted.TS
			}
			at.said, at.sent = append(at.said, word), append(at.sent, posted.Deliveries)
			if n++; slices.Contains(killAt, n-1) {
				answered := chance.IntN(n/2 + 1) // a random share of the answers so far
				if err := p.slack.WaitFor(p.ctx(), func(s *slacktest.Server) bool {
					return s.CountFromBot() >= answered
				}); err != nil {
					t.Fatal(err)
				}
				p.app.kill()
				p.open()
			}
		}
	}
	over := p.ctx()
	if err := p.slack.WaitDelivered(over); over.Err() != nil { // Slack may have given some up; they are not stored
		t.Fatal(err)
	}
	lost := 0
	for _, at := range said {
		stored := p.stored(at)
		for i, word := range at.said {
			switch kept := slices.Contains(stored, word); {
			case acked(at.sent[i]) && !kept:
				t.Errorf("%q was acknowledged and is not stored", word)
			case !kept:
				lost++
			}
		}
		at.said = stored
	}
	t.Logf("%d of %d messages were never acknowledged", lost, threads*messages)
	p.answered(said, patience)
	p.app.kill()
}

var aWord = regexp.MustCompile(`word-\d+-\d+\.`)

// stored returns the stored words of a thread in the order of their commits. A message whose first delivery failed is
// stored later than it was posted.
func (p *slackProcess) stored(at *thread) []string {
	var words []string
	conversation := core.ConversationID("slack:" + p.slack.TeamID() + ":" + at.channel + ":" + at.ts)
	for _, e := range slices.Backward(p.events(core.EventFilter{Conversation: conversation})) {
		words = append(words, aWord.FindString(string(e.Payload)))
	}
	return words
}

// slackScenario runs an approval in Slack. The process is killed at the n-th pass of a point, and started again.
func slackScenario(t *testing.T, point string, nth int, record string) {
	p := newSlackProcess(t)
	p.open(armed(point, nth, record)...)
	survive := func(holds func() bool) { t.Helper(); p.untilRestarting("the next step", holds) }
	var ask slacktest.Posted
	for {
		ask = p.ann.Posts("C1", p.slack.MentionOfBot()+" note add milk")
		survive(func() bool {
			return slices.IndexFunc(ask.Deliveries, func(d *slacktest.Delivery) bool { return !d.Over() }) < 0
		})
		if acked(ask.Deliveries) {
			break
		}
	}
	var card slacktest.Message
	survive(func() bool {
		for _, m := range p.slack.Thread("C1", ask.TS) {
			if len(m.Buttons()) > 0 {
				card = m
				return true
			}
		}
		return false
	})
	for acked := false; !acked; {
		button, there := p.slack.FindButton("C1", card.TS, "approve")
		if !there {
			break // the previous press was counted, though its response was lost
		}
		press := p.bob.Presses(button)
		survive(press.Over)
		acked = press.Acked()
	}
	survive(func() bool { return p.settled() })
	p.app.kill()
	p.conversation = core.ConversationID("slack:" + p.slack.TeamID() + ":C1:" + ask.TS)
	p.wantOneNote(point)
	var cards, replies int
	for _, m := range p.slack.Thread("C1", ask.TS) {
		switch text := m.Shown(); {
		case m.BotID == "" || steps(m):
		case !strings.Contains(text, "Asked by") &&
			(strings.Contains(text, "Done:") || strings.Contains(text, "unknown")):
			replies++
		default:
			cards++
		}
	}
	if cards != 1 || replies != 1 {
		t.Errorf("%s: %d cards, %d replies:\n%s", point, cards, replies, p.slack.Dump())
	}
}

// steps reports whether a message is the progress line that lists the tools of a slow turn.
func steps(m slacktest.Message) bool { return strings.Contains(m.Shown(), "🔧") }

// TestLaw2_SlackKilledAtEveryPoint kills the process before and after every store call of an approval in Slack.
func TestLaw2_SlackKilledAtEveryPoint(t *testing.T) {
	t.Parallel()
	record := filepath.Join(t.TempDir(), "points")
	slackScenario(t, "", 0, record)
	for point, nths := range passes(t, record, adapterActs...) {
		for _, nth := range nths {
			t.Run(fmt.Sprintf("%s %d", point, nth), func(t *testing.T) {
				t.Parallel()
				slackScenario(t, point, nth, "")
			})
		}
	}
}
