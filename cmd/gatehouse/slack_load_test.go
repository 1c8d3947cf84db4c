package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/cmd/gatehouse/internal/cli"
)

// addChannels adds channels with the bot as a member, and returns their ids.
func (s *testGateway) addChannels(n int) []string {
	var channels []string
	for i := range n {
		id := fmt.Sprintf("C9%03d", i)
		s.slack.AddChannel(
			slacktest.Channel{ID: id, Name: "room-" + id, Members: []string{"U1ANN", s.slack.BotUserID()}})
		channels = append(channels, id)
	}
	return channels
}

// thread is a conversation of a load test, with its messages in order.
type thread struct {
	channel, ts string
	said        []string
	sent        [][]*slacktest.Delivery // the deliveries of each message
}

// sendAll posts messages in new threads. Slack delivers each twice, and the first of a thread both as a mention and as
// a message.
func (s *testGateway) sendAll(channels []string, threads, messages int, pause func(n int)) []*thread {
	var all []*thread
	n := 0
	for i := range threads {
		t := &thread{channel: channels[i%len(channels)]}
		all = append(all, t)
		for j := range messages {
			word := fmt.Sprintf("word-%d-%d.", i, j)
			t.said = append(t.said, word)
			if j == 0 {
				t.ts = s.ann.Posts(t.channel, s.slack.MentionOfBot()+" "+word, slacktest.Twice()).TS
			} else {
				s.ann.Posts(t.channel, s.slack.MentionOfBot()+" "+word, slacktest.Twice(), slacktest.InThread(t.ts))
			}
			n++
			pause(n)
		}
	}
	return all
}

// replies returns the words of the replies in a thread, in order.
func (s *testGateway) replies(t *thread) []string {
	var words []string
	for _, m := range s.slack.Thread(t.channel, t.ts) {
		if word, ok := strings.CutPrefix(m.Shown(), "echo: "); ok && m.BotID != "" {
			words = append(words, strings.TrimSpace(word))
		}
	}
	return words
}

// answered waits until every message is answered, and fails if a reply is missing, repeated or out of order.
func (s *testGateway) answered(all []*thread, within time.Duration) {
	s.t.Helper()
	want := 0
	for _, t := range all {
		want += len(t.said)
	}
	end := time.After(within)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for s.slack.CountFromBot() < want || !s.delivered() {
		select {
		case <-tick.C:
		case <-end:
			s.t.Errorf("%d of %d replies came", s.slack.CountFromBot(), want)
			for _, d := range s.slack.Deliveries() {
				if d.Over() && !d.Acked() {
					s.t.Errorf("Slack gave up the event %s: %+v", d.EventID, d.Attempts())
				}
			}
			s.checkReplies(all)
			return
		}
	}
	s.checkReplies(all) // nothing is waiting that could be posted twice
}

// delivered reports whether no post is waiting.
func (s *testGateway) delivered() bool {
	if s.idle != nil {
		return s.idle()
	}
	code, out := s.command("queue", "--json")
	var queue struct{ Posts int }
	return code == cli.ExitDone && json.Unmarshal([]byte(out), &queue) == nil && queue.Posts == 0
}

func (s *testGateway) checkReplies(all []*thread) {
	s.t.Helper()
	wrong := 0
	for _, t := range all {
		if got := s.replies(t); !slices.Equal(got, t.said) && wrong < 10 {
			wrong++
			s.t.Errorf("in the thread %s %s: %q\nwant %q", t.channel, t.ts, got, t.said)
		}
	}
}

func TestSlackLoadEachReplyExactlyOnceAndInOrder(t *testing.T) {
	t.Parallel()
	for name, env := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := maps.Clone(env)
			env["GATEHOUSE_AGENT"] = "echo"
			s := serveSlack(t, slacktest.Options{AckWithin: time.Minute}, env)
			s.ready(200)
			s.slack.Inject(
				slacktest.Fault{Endpoint: "chat.postMessage", Trouble: slacktest.RateLimited(time.Second), Every: 10})
			s.slack.Inject(
				slacktest.Fault{Endpoint: "chat.postMessage", Trouble: slacktest.AnswerLost(), Every: 10, Skip: 5})
			all := s.sendAll(s.addChannels(50), wide(250, 80), 4, func(int) {})
			s.answered(all, 8*time.Minute)
		})
	}
}
