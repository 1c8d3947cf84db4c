package slack_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/core"
)

// patience is how long anything may take that should come at once.
const patience = 20 * time.Second

// inbound is a running platform that hears a fake workspace, with the store's place taken by the test.
type inbound struct {
	*slacktest.Server
	t        *testing.T
	ctx      context.Context
	p        *slack.Slack
	web      *httptest.Server // over HTTP
	ann, bob *slacktest.Person
	log      *journal
	stop     context.CancelFunc
	ended    chan struct{}
	err      error // of Run, once ended

	mu     sync.Mutex
	stored map[string]core.Event
	calls  []core.Event // all that came to accept, those that failed among them
	gate   func(context.Context, core.Event) error
	wake   chan struct{}
}

// setup is what a test may change before the platform runs.
type setup struct {
	fake   slacktest.Options
	slack  slack.Options
	config func(*slack.Config)
	before func(*inbound)
}

// overHTTP, overSocket and overNothingLess choose the transport, or both.
func overHTTP(c *slack.Config)      { c.AppToken = "" }
func overSocket(c *slack.Config)    { c.SigningSecret = "" }
func overNothingLess(*slack.Config) {}

// hear starts a platform for the length of a test; without a config it hears over HTTP.
func hear(t *testing.T, s setup) *inbound {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	if s.fake.Wait == nil {
		s.fake.Wait = func(context.Context, int) {}
	}
	s.fake.Fatalf = t.Errorf
	r := &inbound{
		Server: slacktest.New(s.fake), t: t, log: &journal{}, ended: make(chan struct{}), stored: map[string]core.Event{}, wake: make(chan struct{}),
	}
	var giveUp context.CancelFunc
	r.ctx, giveUp = context.WithTimeout(t.Context(), patience)
	r.ann = r.AddUser(slacktest.User{ID: "U1ANN", Name: "ann", RealName: "Ann Ash"})
	r.bob = r.AddUser(slacktest.User{ID: "U2BOB", Name: "bob"})
	r.AddChannel(slacktest.Channel{ID: "C1", Name: "general", Members: []string{"U1ANN", "U2BOB", r.BotUserID()}})
	r.AddChannel(slacktest.Channel{ID: "G1", Kind: slacktest.GroupDM, Members: []string{"U1ANN", "U2BOB", r.BotUserID()}})
	if s.config == nil {
		s.config = overHTTP
	}
	if s.slack.Signer == nil {
		s.slack.Signer = signer(t, "a key for the tests")
	}
	if s.slack.Cards == nil {
		s.slack.Cards = cards{}
	}
	if s.slack.Jitter == nil {
		s.slack.Jitter = func() float64 { return -1 }
	}
	s.slack.Log = slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.slack.Config = slack.Config{
		BotToken: r.BotToken(), AppToken: r.AppToken(), SigningSecret: r.SigningSecret(), APIURL: r.APIURL(), FollowUp: "thread",
	}
	s.config(&s.slack.Config)
	r.p = slack.New(s.slack)
	if s.before != nil {
		s.before(r)
	}
	if s.slack.Config.SigningSecret != "" {
		mux := http.NewServeMux()
		for pattern, h := range r.p.Routes(r.accept) {
			mux.Handle(pattern, h)
		}
		r.web = httptest.NewServer(mux)
		if s.slack.Config.AppToken == "" {
			r.SendTo(slacktest.Addresses{Events: r.web.URL + "/slack/events", Interactions: r.web.URL + "/slack/interactions", Commands: r.web.URL + "/slack/commands"})
		}
	}
	var run context.Context
	run, r.stop = context.WithCancel(context.Background())
	go func() {
		defer close(r.ended)
		r.err = r.p.Run(run, r.accept)
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

func signer(t testing.TB, keys ...string) *core.Signer {
	t.Helper()
	s, err := core.NewSigner(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// known makes sure that Slack has told who the bot is, and can be heard.
func (r *inbound) known() *inbound {
	r.t.Helper()
	r.eventually("the beginning", func() bool {
		hears, speaks := r.p.Health()
		return hears == nil && speaks == nil
	})
	return r
}

// eventually waits until something holds that nothing announces.
func (r *inbound) eventually(what string, holds func() bool) {
	r.t.Helper()
	if err := poll(r.ctx, holds); err != nil {
		r.t.Fatalf("%s did not come; the log:\n%s\n%s", what, r.log, r.Dump())
	}
}

func poll(ctx context.Context, holds func() bool) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (r *inbound) accept(ctx context.Context, e core.Event) (core.Receipt, error) {
	r.mu.Lock()
	gate := r.gate
	r.calls = append(r.calls, e)
	r.woken()
	r.mu.Unlock()
	if gate != nil {
		if err := gate(ctx, e); err != nil {
			return core.Receipt{}, err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	_, known := r.stored[e.ID]
	if !known {
		r.stored[e.ID] = e
	}
	r.woken()
	return core.Receipt{Seq: int64(len(r.stored)), Fresh: !known}, nil
}

// woken tells those who wait that something came. The caller holds mu.
func (r *inbound) woken() {
	close(r.wake)
	r.wake = make(chan struct{})
}

// gated has the test decide what becomes of an event; nil: it is stored.
func (r *inbound) gated(gate func(context.Context, core.Event) error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.gate = gate
}

// waitFor waits until what accept has seen is as it should be.
func (r *inbound) waitFor(what string, holds func() bool) {
	r.t.Helper()
	for {
		r.mu.Lock()
		wake, ok := r.wake, holds()
		r.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-wake:
		case <-r.ctx.Done():
			r.t.Fatalf("%s did not come; the log:\n%s", what, r.log)
		}
	}
}

// tries counts what came to accept.
func (r *inbound) tries() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.calls)
}

// one waits for the deliveries to be acknowledged and gives the one event that they are.
func (r *inbound) one(ds ...*slacktest.Delivery) core.Event {
	r.t.Helper()
	before := r.taken(ds...)
	if len(before) != 1 {
		r.t.Fatalf("it came to accept as %d events, want one: %+v; the log:\n%s", len(before), before, r.log)
	}
	for _, e := range before {
		return e
	}
	return core.Event{}
}

// none waits for the deliveries to be acknowledged; nothing of them may have come to accept.
func (r *inbound) none(ds ...*slacktest.Delivery) {
	r.t.Helper()
	if got := r.taken(ds...); len(got) != 0 {
		r.t.Fatalf("it came to accept: %+v", got)
	}
}

// taken waits for the deliveries and takes what has been stored out of the test's store.
func (r *inbound) taken(ds ...*slacktest.Delivery) map[string]core.Event {
	r.t.Helper()
	for _, d := range ds {
		if d == nil {
			continue
		}
		if err := d.Wait(r.ctx); err != nil {
			r.t.Fatalf("%v; the log:\n%s", err, r.log)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	got := r.stored
	r.stored, r.calls = map[string]core.Event{}, nil
	return got
}

// refused waits for a delivery that must not be acknowledged and gives the status of its first answer.
func (r *inbound) refused(d *slacktest.Delivery) int {
	r.t.Helper()
	if err := d.Wait(r.ctx); err == nil {
		r.t.Fatalf("it was acknowledged: %s", d.Body())
	}
	return d.Attempts()[0].Status
}

// send posts bytes to a path of the platform's, signed.
func (r *inbound) send(path string, body []byte, change func(*http.Request)) (status int, answer string) {
	r.t.Helper()
	q, err := http.NewRequestWithContext(r.ctx, http.MethodPost, r.web.URL+path, bytes.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
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

// says is what the platform's Parse makes of an event.
func (r *inbound) says(e core.Event) core.Message {
	r.t.Helper()
	in, err := r.p.Parse(r.ctx, e)
	if err != nil {
		r.t.Fatalf("Parse of %s: %v", e.Payload, err)
	}
	if in.Message == nil {
		r.t.Fatalf("Parse of %s gave no message", e.Payload)
	}
	return *in.Message
}

// clean fails where the log shows a secret.
func (r *inbound) clean() {
	r.t.Helper()
	text := r.log.String()
	for _, secret := range []string{r.BotToken(), r.AppToken(), r.SigningSecret(), "ticket=", "/link/"} {
		if strings.Contains(text, secret) {
			r.t.Errorf("the log shows %q:\n%s", secret, text)
		}
	}
}

// journal is a log that can be read while it is written.
type journal struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

// warnings are its lines that an admin should see.
func (j *journal) warnings() []string {
	var found []string
	for line := range strings.Lines(j.String()) {
		if strings.Contains(line, "level=WARN") || strings.Contains(line, "level=ERROR") {
			found = append(found, line)
		}
	}
	return found
}

// onBoth runs a test on each transport.
func onBoth(t *testing.T, s setup, test func(*testing.T, *inbound)) {
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
			test(t, hear(t, s).known())
		})
	}
}

// formOf is an interaction as HTTP carries it.
func formOf(payload string) []byte { return []byte(url.Values{"payload": {payload}}.Encode()) }

func contextOf(r *inbound) (context.Context, context.CancelFunc) { return context.WithCancel(r.ctx) }
