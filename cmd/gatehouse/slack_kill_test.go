package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// office is a fake Slack with a real gatehouse process before it, which can be killed and started again on the same address.
type office struct {
	*world
	*served
	address string
	app     *child
}

// newOffice opens the fake; its retries wait until somebody listens.
func newOffice(t *testing.T, env ...string) *office {
	t.Helper()
	o := &office{address: freeAddress(t)}
	fake := slacktest.Start(t, slacktest.Options{Wait: func(ctx context.Context, _ int) { o.waitUp(ctx) }})
	o.served = &served{t: t, slack: fake, base: "http://" + o.address}
	o.idle = o.posted
	o.people()
	o.world = newWorld(t, append([]string{
		"GATEHOUSE_LISTEN=" + o.address, "GATEHOUSE_LOG_FORMAT=json", "GATEHOUSE_APPROVERS=slack:U2BOB", "GATEHOUSE_LEASE=1s",
		"SLACK_BOT_TOKEN=" + fake.BotToken(), "SLACK_API_URL=" + fake.APIURL(), "SLACK_CHANNEL_RPS=0", "SLACK_SIGNING_SECRET=" + fake.SigningSecret(),
	}, env...)...)
	fake.SendTo(slacktest.Addresses{Events: o.base + "/slack/events", Interactions: o.base + "/slack/interactions", Commands: o.base + "/slack/commands"})
	return o
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// waitUp waits until somebody listens.
func (o *office) waitUp(ctx context.Context) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if answer, err := http.Get(o.base + "/healthz"); err == nil {
			answer.Body.Close()
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// open starts the process and waits until it listens, or has killed itself.
func (o *office) open(env ...string) {
	o.served.t.Helper()
	app := o.world.start(env, "serve")
	o.app = app
	up, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	go func() {
		select {
		case <-app.done:
			cancel()
		case <-up.Done():
		}
	}()
	o.waitUp(up)
}

// acked reports whether a message was acknowledged.
func acked(deliveries []*slacktest.Delivery) bool {
	return slices.ContainsFunc(deliveries, func(d *slacktest.Delivery) bool { return d.Acked() })
}

// TestLaw2_SlackKilledUnderLoad kills the process again and again, at random, while people talk and the agent thinks. What was acknowledged is
// answered, once, in the order of its thread.
func TestLaw2_SlackKilledUnderLoad(t *testing.T) {
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
			hows := []slacktest.How{slacktest.Twice()}
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
	if err := o.slack.WaitDelivered(o.ctx()); err != nil {
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
	lane := core.Lane("slack:" + o.slack.TeamID() + ":" + at.channel + ":" + at.ts)
	for _, e := range slices.Backward(o.events(core.EventFilter{Lane: lane})) {
		words = append(words, aWord.FindString(string(e.Payload)))
	}
	return words
}

// slackStory plays an approval in Slack, with the process killed at the n-th pass of a point, and started again.
func slackStory(t *testing.T, point string, nth int, record string) {
	o := newOffice(t)
	var env []string
	if point != "" {
		env = append(env, killKey+"="+point, fmt.Sprintf("%s=%d", nthKey, nth))
	}
	if record != "" {
		env = append(env, recordKey+"="+record)
	}
	o.open(env...)
	survive := func(holds func() bool) {
		t.Helper()
		restarted := false
		o.until("the next step", o.app, func() bool {
			if o.app.gone() && !restarted {
				restarted = true
				o.open()
			}
			return holds()
		})
	}
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
	survive(func() bool { return o.settled() && o.posted() })
	o.app.kill()
	o.lane = core.Lane("slack:" + o.slack.TeamID() + ":C1:" + ask.TS)
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

// posted reports whether everything was delivered.
func (o *office) posted() bool {
	rows, err := o.store.ListPosts(o.world.t.Context(), []core.RowState{core.RowWaiting}, "", 1)
	return err == nil && len(rows) == 0
}

// TestLaw2_SlackKilledAtEveryPoint kills the process at every store call of an approval in Slack, before and after.
func TestLaw2_SlackKilledAtEveryPoint(t *testing.T) {
	record := filepath.Join(t.TempDir(), "points")
	slackStory(t, "", 0, record)
	text, err := os.ReadFile(record)
	if err != nil {
		t.Fatal(err)
	}
	passes := map[string]int{}
	for _, point := range strings.Fields(string(text)) {
		passes[point]++
	}
	for point, n := range passes {
		if polled(point) {
			n = min(n, 2)
		}
		for _, nth := range slices.Compact([]int{1, (n + 1) / 2, n}) {
			t.Run(fmt.Sprintf("%s %d", point, nth), func(t *testing.T) {
				t.Parallel()
				slackStory(t, point, nth, "")
			})
		}
	}
}

// polled are calls that are made all the time, whatever happens.
func polled(point string) bool {
	name, _, _ := strings.Cut(point, ".")
	return slices.Contains([]string{"Claim", "ClaimPosts", "ClaimTasks", "LoadIntent", "StopAsked", "Renew"}, name)
}
