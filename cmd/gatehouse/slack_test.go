package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gatehouse/adapters/slack/slacktest"
	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/core/agent"
)

// testGateway is a gatehouse that serves in this process; its platform is a fake.
type testGateway struct {
	t        *testing.T
	slack    *slacktest.Server
	base     string
	db       string
	stop     context.CancelFunc
	code     chan int
	ann      *slacktest.Person // asks
	bob      *slacktest.Person // approves
	eve      *slacktest.Person // does neither
	dm       string
	settings overrides   // for serve and for the commands
	log      *logLines   // of the current run
	idle     func() bool // reports whether no post is waiting; nil: gatehouse queue is run

	platforms func() []core.Driver // nil: those of the program
}

// logLines collects a log, and finds the line with the address of the HTTP server.
type logLines struct {
	t      *testing.T
	mu     sync.Mutex
	text   strings.Builder
	listen chan string
}

func (l *logLines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range strings.Split(strings.TrimSpace(string(p)), "\n") {
		l.text.WriteString(line + "\n")
		var said struct{ Msg, Listen string }
		if json.Unmarshal([]byte(line), &said) == nil && said.Msg == "serving" {
			l.listen <- said.Listen
		}
	}
	return len(p), nil
}

func (l *logLines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// transports are the ways in which Slack reaches gatehouse.
var transports = map[string]map[string]string{
	"HTTP":        {"SLACK_SIGNING_SECRET": "8f742231b10e8888abcd99yyyzzz85a5"},
	"Socket Mode": {"SLACK_APP_TOKEN": "xapp-slacktest"},
}

// serveSlack starts a fake Slack and a gateway.
func serveSlack(t *testing.T, o slacktest.Options, env map[string]string) *testGateway {
	t.Helper()
	return serveSlackWith(t, o, env, nil)
}

// serveSlackWith is serveSlack with another model; nil: the demo's.
func serveSlackWith(t *testing.T, o slacktest.Options, env map[string]string, model agent.Model) *testGateway {
	t.Helper()
	o.AckWithin, o.TriggerLifetime = cmp.Or(o.AckWithin, slowMachine), cmp.Or(o.TriggerLifetime, slowMachine)
	s := &testGateway{
		t: t, slack: slacktest.Start(t, o), db: "sqlite:" + filepath.Join(t.TempDir(), "g.db"), code: make(chan int, 8),
	}
	s.people()
	s.settings.set(map[string]string{
		"GATEHOUSE_DATABASE_URL": s.db, "GATEHOUSE_LISTEN": "127.0.0.1:0", "GATEHOUSE_LOG_FORMAT": "json",
		"GATEHOUSE_APPROVERS": "slack:U2BOB",
		"SLACK_BOT_TOKEN":     s.slack.BotToken(), "SLACK_API_URL": s.slack.APIURL(), "SLACK_CHANNEL_RPS": "0",
		"SLACK_APP_TOKEN": "", "SLACK_SIGNING_SECRET": "",
	})
	s.settings.set(env)
	if model != nil {
		s.settings.model = func() agent.Model { return model }
	}
	s.start()
	return s
}

// people adds the users and a channel to the fake.
func (s *testGateway) people() {
	s.ann = s.slack.AddUser(slacktest.User{ID: "U1ANN", Name: "ann", RealName: "Ann"})
	s.bob = s.slack.AddUser(slacktest.User{ID: "U2BOB", Name: "bob", RealName: "Bob"})
	s.eve = s.slack.AddUser(slacktest.User{ID: "U3EVE", Name: "eve", RealName: "Eve"})
	s.slack.AddChannel(
		slacktest.Channel{ID: "C1", Name: "general", Members: []string{"U1ANN", "U2BOB", "U3EVE", s.slack.BotUserID()}})
	s.dm = s.slack.DMWith("U1ANN")
}

// start runs the gateway until the test ends, or stop is called.
func (s *testGateway) start() {
	s.t.Helper()
	s.settings.during(s.begin)
}

func (s *testGateway) begin() {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	log := &logLines{t: s.t, listen: make(chan string, 1)}
	s.log = log
	ended := make(chan int, 1)
	go func() {
		ended <- run(ctx, []string{"serve"}, cli.Stdio{In: strings.NewReader(""), Out: log, Err: log}, s.drivers())
	}()
	select {
	case address := <-log.listen:
		s.base = "http://" + address
	case code := <-ended:
		s.t.Fatalf("serve ended with %d:\n%s", code, log)
	case <-time.After(patience):
		s.t.Fatalf("serve does not listen:\n%s", log)
	}
	if s.slack != nil {
		s.slack.SendTo(slacktest.Addresses{})
	}
	if s.slack != nil && os.Getenv("SLACK_SIGNING_SECRET") != "" {
		s.slack.SendTo(
			slacktest.Addresses{
				Events: s.base + "/slack/events", Interactions: s.base + "/slack/interactions",
				Commands: s.base + "/slack/commands",
			})
	}
	var once sync.Once
	s.stop = func() {
		once.Do(func() {
			cancel()
			select {
			case code := <-ended:
				s.code <- code
			case <-time.After(patience):
				s.t.Error("serve does not end")
			}
			if s.t.Failed() {
				s.t.Logf("the log:\n%s", log)
			}
		})
	}
	s.t.Cleanup(s.stop)
}

func (s *testGateway) drivers() func() []core.Driver {
	if s.platforms == nil {
		return platforms
	}
	return s.platforms
}

func (s *testGateway) ctx() context.Context {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	s.t.Cleanup(cancel)
	return ctx
}

// reads waits until the bot has posted a text in a thread or, with no thread given, in the channel.
func (s *testGateway) reads(channel, thread, text string) slacktest.Message {
	s.t.Helper()
	m, err := s.slack.WaitForText(s.ctx(), channel, thread, text)
	if err != nil {
		s.t.Fatalf("%q was not posted in %s %s: %v\n%s", text, channel, thread, err, s.slack.Dump())
	}
	return m
}

// card waits for a message with a text and buttons.
func (s *testGateway) card(channel, thread, text string) slacktest.Message {
	s.t.Helper()
	var card slacktest.Message
	err := s.slack.WaitFor(s.ctx(), func(f *slacktest.Server) bool {
		messages := f.Messages(channel)
		if thread != "" {
			messages = f.Thread(channel, thread)
		}
		for _, m := range messages {
			if strings.Contains(m.Shown(), text) && len(m.Buttons()) > 0 {
				card = m
				return true
			}
		}
		return false
	})
	if err != nil {
		s.t.Fatalf("no card in %s %s contains %q: %v\n%s", channel, thread, text, err, s.slack.Dump())
	}
	return card
}

// ready waits until /readyz answers a status.
func (s *testGateway) ready(status int) {
	s.t.Helper()
	waitUntil(s.t, func() bool {
		answer, err := http.Get(s.base + "/readyz")
		if err != nil {
			return false
		}
		answer.Body.Close()
		return answer.StatusCode == status
	}, fmt.Sprintf("/readyz with %d", status))
}

func waitUntil(t *testing.T, so func() bool, what string) {
	t.Helper()
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	for end := time.After(patience); !so(); {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("this did not happen: %s", what)
		}
	}
}

func TestSlackFromMentionToApprovedAction(t *testing.T) {
	t.Parallel()
	for name, env := range transports {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serveSlack(t, slacktest.Options{}, env)
			s.ready(http.StatusOK)

			mention := s.ann.Posts("C1", s.slack.MentionOfBot()+" calc 2+3*4")
			s.reads("C1", mention.TS, "2+3*4 = 14")
			s.ann.Posts("C1", "thanks", slacktest.InThread(mention.TS)) // no mention needed here
			s.reads("C1", mention.TS, "You are welcome.")

			s.ann.Says("hello")
			s.reads(s.dm, "", "Hello!")

			ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" note add milk")
			card := s.card("C1", ask.TS, "Add “milk” to the note book.")
			s.eve.Clicks("C1", card.TS, "approve")
			if _, err := s.slack.WaitForEphemeral(s.ctx(), "C1", "U3EVE", "not an approver"); err != nil {
				t.Fatalf("%v\n%s", err, s.slack.Dump())
			}
			s.bob.Clicks("C1", card.TS, "approve")
			s.reads("C1", ask.TS, "Done: “milk” is in the note book.")
			s.shows("C1", card.TS, "pproved", 0)

			s.stop()
			if code := <-s.code; code != cli.ExitDone {
				t.Errorf("serve ended with %d", code)
			}
		})
	}
}
