package slack_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// patience is the limit for anything that should happen at once.
const patience = 2 * time.Minute

// running is a platform on a fake workspace. The test takes the place of the store.
type running struct {
	*slacktest.Server
	t        *testing.T
	ctx      context.Context
	p        *slack.Slack
	web      *httptest.Server // over HTTP
	ann, bob *slacktest.Person
	log      *adaptertest.Log
	inbox    *adaptertest.Inbox
	blobs    adaptertest.Blobs
	stop     context.CancelFunc
	ended    chan struct{}
	err      error // of Run, once ended
}

// setup is what a test may change before the platform runs.
type setup struct {
	fake   slacktest.Options
	slack  core.Deps
	config func(*slack.Config)
	before func(*running)
}

// overHTTP, overSocket and overBoth choose the transport.
func overHTTP(c *slack.Config)   { c.AppToken = "" }
func overSocket(c *slack.Config) { c.SigningSecret = "" }
func overBoth(*slack.Config)     {}

// start starts a platform for the length of a test; without a config it receives over HTTP.
func start(t *testing.T, s setup) *running {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	if s.fake.Wait == nil {
		s.fake.Wait = func(context.Context, int) {}
	}
	s.fake.Fatalf = t.Errorf
	r := &running{Server: slacktest.New(s.fake), t: t, log: &adaptertest.Log{}, ended: make(chan struct{})}
	var giveUp context.CancelFunc
	r.ctx, giveUp = context.WithTimeout(t.Context(), patience)
	r.inbox = adaptertest.NewInbox(t, func() context.Context { return r.ctx }, func() string {
		return "the log:\n" + r.log.String() + "\n" + r.Dump()
	})
	r.ann = r.AddUser(slacktest.User{ID: "U1ANN", Name: "ann", RealName: "Ann Ash"})
	r.bob = r.AddUser(slacktest.User{ID: "U2BOB", Name: "bob"})
	r.AddChannel(slacktest.Channel{ID: "C1", Name: "general", Members: []string{"U1ANN", "U2BOB", r.BotUserID()}})
	r.AddChannel(
		slacktest.Channel{ID: "G1", Kind: slacktest.GroupDM, Members: []string{"U1ANN", "U2BOB", r.BotUserID()}})
	if s.config == nil {
		s.config = overHTTP
	}
	if s.slack.Signer == nil {
		s.slack.Signer = adaptertest.Signer(t, "a key for the tests")
	}
	if s.slack.Blobs == nil {
		s.slack.Blobs = &r.blobs
	}
	if s.slack.Cards == nil {
		s.slack.Cards = adaptertest.Cards("slack:U2BOB")
	}
	if s.slack.Jitter == nil {
		s.slack.Jitter = func() float64 { return -1 }
	}
	s.slack.Log = r.log.Logger()
	config := slack.Config{
		BotToken: r.BotToken(), AppToken: r.AppToken(), SigningSecret: r.SigningSecret(), APIURL: r.APIURL(),
		FollowUp: "thread",
	}
	s.config(&config)
	r.p = slack.New(s.slack, config)
	if s.before != nil {
		s.before(r)
	}
	if config.SigningSecret != "" {
		mux := http.NewServeMux()
		for pattern, h := range r.p.Routes(r.inbox.Accept) {
			mux.Handle(pattern, h)
		}
		r.web = httptest.NewServer(mux)
		if config.AppToken == "" {
			r.SendTo(
				slacktest.Addresses{
					Events: r.web.URL + "/slack/events", Interactions: r.web.URL + "/slack/interactions",
					Commands: r.web.URL + "/slack/commands",
				})
		}
	}
	var run context.Context
	run, r.stop = context.WithCancel(context.Background())
	go func() {
		defer close(r.ended)
		r.err = r.p.Run(run, r.inbox.Accept)
	}()
	t.Cleanup(func() {
		defer giveUp()
		r.stop()
		select {
		case <-r.ended:
		case <-time.After(patience):
			t.Error("Run did not end with its context")
		}
		if r.web != nil {
			r.web.CloseClientConnections()
			r.web.Close()
		}
		r.Close()
		r.clean()
		goleak.VerifyNone(t, leaks)
	})
	return r
}

// known waits until the bot's identity is known and events can be received.
func (r *running) known() *running {
	r.t.Helper()
	r.inbox.Healthy(r.p)
	return r
}

// eventually polls until holds returns true.
func (r *running) eventually(what string, holds func() bool) {
	r.t.Helper()
	r.inbox.Eventually(what, holds)
}

// one waits for the deliveries to be acknowledged and returns the one event that they are.
func (r *running) one(ds ...*slacktest.Delivery) core.Event {
	r.t.Helper()
	before := r.taken(ds...)
	if len(before) != 1 {
		r.t.Fatalf("it was passed to accept as %d events, want one: %+v; the log:\n%s", len(before), before, r.log)
	}
	for _, e := range before {
		return e
	}
	return core.Event{}
}

// none waits for the deliveries to be acknowledged, and fails if one of them was passed to accept.
func (r *running) none(ds ...*slacktest.Delivery) {
	r.t.Helper()
	if got := r.taken(ds...); len(got) != 0 {
		r.t.Fatalf("it was passed to accept: %+v", got)
	}
}

// taken waits for the deliveries, and removes and returns the stored events.
func (r *running) taken(ds ...*slacktest.Delivery) map[string]core.Event {
	r.t.Helper()
	for _, d := range ds {
		if d == nil {
			continue
		}
		if err := d.Wait(r.ctx); err != nil {
			r.t.Fatalf("%v; the log:\n%s", err, r.log)
		}
	}
	return r.inbox.Take()
}

// refused waits for a delivery that must not be acknowledged and returns the status of its first answer.
func (r *running) refused(d *slacktest.Delivery) int {
	r.t.Helper()
	if err := d.Wait(r.ctx); err == nil {
		r.t.Fatalf("it was acknowledged: %s", d.Body())
	}
	return d.Attempts()[0].Status
}

// send posts bytes to a path of the platform's, signed.
func (r *running) send(path string, body []byte, change func(*http.Request)) (status int, answer string) {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.ctx, http.MethodPost, r.web.URL+path, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	q.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if path == "/slack/events" {
		q.Header.Set("Content-Type", "application/json")
	}
	now := time.Now()
	q.Header.Set("X-Slack-Request-Timestamp", fmt.Sprint(now.Unix()))
	q.Header.Set("X-Slack-Signature", slacktest.Sign(r.SigningSecret(), now, body))
	if change != nil {
		change(q)
	}
	response, err := r.web.Client().Do(q)
	if err != nil {
		r.t.Fatal(err)
	}
	defer response.Body.Close()
	var text bytes.Buffer
	if _, err := text.ReadFrom(response.Body); err != nil {
		r.t.Fatal(err)
	}
	return response.StatusCode, text.String()
}

// message returns the message that the platform's Parse makes of an event.
func (r *running) message(e core.Event) core.Message {
	r.t.Helper()
	return adaptertest.Message(r.t, r.p, e)
}

// clean fails the test if the log shows a secret.
func (r *running) clean() {
	r.t.Helper()
	r.log.Hides(r.t, r.BotToken(), r.AppToken(), r.SigningSecret(), "ticket=", "/link/")
}

// onBoth runs a test on each transport.
func onBoth(t *testing.T, s setup, test func(*testing.T, *running)) {
	t.Helper()
	for name, config := range map[string]func(*slack.Config){"http": overHTTP, "socket": overSocket} {
		t.Run(name, func(t *testing.T) {
			s, change := s, s.config
			s.config = func(c *slack.Config) {
				config(c)
				if change != nil {
					change(c)
				}
			}
			test(t, start(t, s).known())
		})
	}
}

// formOf returns the form in which HTTP carries an interaction.
func formOf(payload string) []byte { return []byte(url.Values{"payload": {payload}}.Encode()) }

func contextOf(r *running) (context.Context, context.CancelFunc) { return context.WithCancel(r.ctx) }
