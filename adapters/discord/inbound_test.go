package discord_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/adapters/discord"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// patience is how long anything may take that should come at once.
const patience = 20 * time.Second

// The fake's one server, its channels and people.
const (
	guild   = "2001"
	general = "3001"
	annID   = "1001"
	bobID   = "1002"
	helpers = "5001" // a role that bob has
)

// inbound is a platform that hears a fake Discord, with the store's place taken by the test.
type inbound struct {
	*discordtest.Server
	t        *testing.T
	ctx      context.Context
	p        *discord.Discord
	web      *httptest.Server // over HTTP
	ann, bob *discordtest.Person
	log      *journal
	kv       *fakeKV
	clock    *fakeClock
	options  discord.Options
	stop     context.CancelFunc
	ended    chan struct{}
	err      error // of Run, once ended

	mu     sync.Mutex
	stored map[string]core.Event
	order  []string     // the ids of what was stored
	calls  []core.Event // all that came to accept, those that failed among them
	gate   func(context.Context, core.Event) error
	wake   chan struct{}
}

// setup is what a test may change before the platform runs.
type setup struct {
	fake    discordtest.Options
	discord discord.Options
	config  func(*discord.Config)
	before  func(*inbound)
	http    bool // interactions come over HTTP
}

// hear starts a platform for the length of a test.
func hear(t *testing.T, s setup) *inbound {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	s.fake.Fatalf = t.Errorf
	if s.fake.IdentifyEvery == 0 {
		s.fake.IdentifyEvery = -1
	}
	r := &inbound{
		Server: discordtest.New(s.fake), t: t, log: &journal{}, stored: map[string]core.Event{}, wake: make(chan struct{}), clock: newFakeClock(),
	}
	var giveUp context.CancelFunc
	r.ctx, giveUp = context.WithTimeout(t.Context(), patience)
	r.ann = r.AddUser(discordtest.User{ID: annID, Name: "ann"})
	r.bob = r.AddUser(discordtest.User{ID: bobID, Name: "bob"})
	r.AddGuild(discordtest.Guild{ID: guild, Name: "guild", Members: []string{annID, bobID}})
	r.AddChannel(discordtest.Channel{ID: general, Guild: guild, Name: "general"})
	r.kv = newFakeKV(s.fake.Now)
	if s.discord.KV == nil {
		s.discord.KV = r.kv
	}
	if s.discord.Signer == nil {
		s.discord.Signer = signer(t, testKey)
	}
	if s.discord.Card == nil {
		s.discord.Card = openCard
	}
	s.discord.Owner = "one"
	if s.discord.Jitter == nil {
		s.discord.Jitter = func() float64 { return -1 }
	}
	s.discord.Log = slog.New(slog.NewTextHandler(r.log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	s.discord.Config = discord.Config{BotToken: r.BotToken(), APIURL: r.APIURL(), Shards: 1, Reply: "thread"}
	if s.http {
		s.discord.Config.PublicKey = r.PublicKey()
	}
	if s.config != nil {
		s.config(&s.discord.Config)
	}
	r.options = s.discord
	if s.before != nil {
		s.before(r)
	}
	r.start()
	if s.http {
		mux := http.NewServeMux()
		for pattern, h := range r.p.Routes(r.accept) {
			mux.Handle(pattern, h)
		}
		r.web = httptest.NewServer(mux)
		r.SetInteractionsURL(r.web.URL + "/discord/interactions")
	}
	t.Cleanup(func() {
		defer giveUp()
		r.halt()
		if r.web != nil {
			r.web.CloseClientConnections()
			r.web.Close()
		}
		r.Close()
		r.clean()
		for _, disaster := range r.Disasters() {
			t.Errorf("a disaster for a real bot: %s", disaster)
		}
		for _, route := range r.UnknownRoutes() {
			t.Errorf("the fake was asked for %s, which it does not know", route)
		}
		goleak.VerifyNone(t, leaks)
	})
	return r
}

// start runs a new platform, as a restarted process would.
func (r *inbound) start() {
	r.p = discord.New(r.options)
	r.p.SetSleep(r.clock.sleep)
	run, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.ended = make(chan struct{})
	go func(p *discord.Discord, ended chan struct{}) {
		defer close(ended)
		r.err = p.Run(run, r.accept)
	}(r.p, r.ended)
}

// halt ends it.
func (r *inbound) halt() {
	r.t.Helper()
	r.stop()
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.t.Error("Run did not end with its context")
	}
}

const testKey = "a key for the tests"

func signer(t testing.TB, keys ...string) *core.Signer {
	t.Helper()
	s, err := core.NewSigner(keys...)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// openCard is the card of an approval; all are open.
func openCard(_ context.Context, id core.ApprovalID, _ bool) (core.Card, error) {
	return core.Card{Approval: id, State: core.Open, Tool: "note_add", Summary: "Add the note " + string(id), Arguments: `{}`}, nil
}

// known makes sure that Discord has told who the bot is, and is heard.
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
		r.order = append(r.order, e.ID)
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

func busy(context.Context, core.Event) error { return errBusy }

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
			r.t.Fatalf("%s did not come; the log:\n%s\n%s", what, r.log, r.Dump())
		}
	}
}

// event waits for the event with an id.
func (r *inbound) event(id string) core.Event {
	r.t.Helper()
	var e core.Event
	r.waitFor("the event "+id, func() (ok bool) {
		e, ok = r.stored[id]
		return ok
	})
	return e
}

// of waits for the event of a message.
func (r *inbound) of(m discordtest.Message) core.Event {
	r.t.Helper()
	return r.event("message/" + m.Channel + "/" + m.ID)
}

// settled waits until everything that was said before is heard: a direct message from ann is said last.
func (r *inbound) settled() {
	r.t.Helper()
	r.of(r.ann.Says("over"))
}

// none fails where anything of a message came to accept.
func (r *inbound) none(m discordtest.Message) {
	r.t.Helper()
	r.settled()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range r.calls {
		if strings.Contains(e.ID, m.ID) {
			r.t.Errorf("it came to accept: %+v", e)
		}
	}
}

// ids are what has been stored, in order.
func (r *inbound) ids() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string{}, r.order...)
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

// clean fails where the log or an event shows a secret.
func (r *inbound) clean() {
	r.t.Helper()
	text := r.log.String()
	r.mu.Lock()
	for _, e := range r.calls {
		text += fmt.Sprintf("%+v %s\n", e, e.Payload)
	}
	r.mu.Unlock()
	secrets := []string{r.BotToken()}
	for _, i := range r.Interactions() {
		secrets = append(secrets, i.Token)
	}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			r.t.Errorf("the log or an event shows %q:\n%s", secret, text)
		}
	}
}

// sealed is the value of one of our buttons.
func (r *inbound) sealed(fields ...string) string { return signer(r.t, testKey).Seal(fields...) }

// button posts a message with a button, as the bot.
func (r *inbound) button(channel, value string) discordtest.Button {
	r.t.Helper()
	var m struct {
		ID string `json:"id"`
	}
	err := r.p.Call(r.ctx, http.MethodPost, "/channels/"+channel+"/messages", map[string]any{
		"content": "a card", "allowed_mentions": map[string]any{"parse": []string{}}, "components": []any{map[string]any{
			"type": 1, "components": []any{map[string]any{"type": 2, "style": 1, "label": "Press", "custom_id": value}},
		}},
	}, &m)
	if err != nil {
		r.t.Fatal(err)
	}
	b, ok := r.FindButton(channel, m.ID, "Press")
	if !ok {
		r.t.Fatal("there is no button")
	}
	return b
}

// registered waits until the commands are there.
func (r *inbound) registered() {
	r.t.Helper()
	r.eventually("the commands", func() bool { return len(r.Commands("")) == 4 })
}

func (r *inbound) click(e core.Event) core.Click {
	r.t.Helper()
	in, err := r.p.Parse(r.ctx, e)
	if err != nil || in.Click == nil || in.Message != nil {
		r.t.Fatalf("Parse gave %+v, %v", in, err)
	}
	return *in.Click
}

// onBoth runs a test with interactions over the gateway and over HTTP.
func onBoth(t *testing.T, s setup, test func(*testing.T, *inbound)) {
	t.Helper()
	for name, http := range map[string]bool{"http": true, "gateway": false} {
		t.Run(name, func(t *testing.T) {
			s := s
			s.http = http
			test(t, hear(t, s).known())
		})
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
