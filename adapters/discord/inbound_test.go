package discord_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord"
	"gatehouse/adapters/discord/discordtest"
	"gatehouse/core"
)

// patience is how long a test waits for something that should happen at once.
const patience = 2 * time.Minute

// The fake's one server, its channels and people.
const (
	guild   = "2001"
	general = "3001"
	annID   = "1001"
	bobID   = "1002"
	helpers = "5001" // a role that bob has
)

// inbound is a platform that receives events from a fake Discord; the test stands in for the store.
type inbound struct {
	*discordtest.Server
	t        *testing.T
	ctx      context.Context
	p        *discord.Discord
	web      *httptest.Server // over HTTP
	ann, bob *discordtest.Person
	log      *adaptertest.Log
	inbox    *adaptertest.Inbox
	blobs    adaptertest.Blobs
	kv       *fakeKV
	timers   *adaptertest.Timers
	config   discord.Config
	deps     core.Deps
	stop     context.CancelFunc
	ended    chan struct{}
	err      error // of Run, once ended
}

// setup is what a test may change before the platform runs.
type setup struct {
	fake    discordtest.Options
	discord core.Deps
	config  func(*discord.Config)
	before  func(*inbound)
	http    bool // interactions come over HTTP
}

// newInbound starts a platform for the length of a test.
func newInbound(t *testing.T, s setup) *inbound {
	t.Helper()
	leaks := goleak.IgnoreCurrent()
	s.fake.Fatalf = t.Errorf
	if s.fake.IdentifyEvery == 0 {
		s.fake.IdentifyEvery = -1
	}
	r := &inbound{Server: discordtest.New(s.fake), t: t, log: &adaptertest.Log{}, timers: adaptertest.NewTimers()}
	var giveUp context.CancelFunc
	r.ctx, giveUp = context.WithTimeout(t.Context(), patience)
	r.inbox = adaptertest.NewInbox(t, func() context.Context { return r.ctx }, func() string {
		return "the log:\n" + r.log.String() + "\n" + r.Dump()
	})
	r.ann = r.AddUser(discordtest.User{ID: annID, Name: "ann"})
	r.bob = r.AddUser(discordtest.User{ID: bobID, Name: "bob"})
	r.AddGuild(discordtest.Guild{ID: guild, Name: "guild", Members: []string{annID, bobID}})
	r.AddChannel(discordtest.Channel{ID: general, Guild: guild, Name: "general"})
	r.kv = newFakeKV(s.fake.Now)
	if s.discord.KV == nil {
		s.discord.KV = r.kv
	}
	if s.discord.Signer == nil {
		s.discord.Signer = adaptertest.Signer(t, testKey)
	}
	if s.discord.Blobs == nil {
		s.discord.Blobs = &r.blobs
	}
	if s.discord.Cards == nil {
		s.discord.Cards = adaptertest.Cards("discord:" + bobID)
	}
	s.discord.Owner = "one"
	if s.discord.Jitter == nil {
		s.discord.Jitter = func() float64 { return -1 }
	}
	s.discord.Log = r.log.Logger()
	if s.discord.Inbox == nil {
		s.discord.Inbox = adaptertest.Events(noEvents)
	}
	r.config = discord.Config{BotToken: r.BotToken(), APIURL: r.APIURL(), Shards: 1, Reply: "thread"}
	if s.http {
		r.config.PublicKey = r.PublicKey()
	}
	if s.config != nil {
		s.config(&r.config)
	}
	r.deps = s.discord
	if s.before != nil {
		s.before(r)
	}
	r.start()
	if s.http {
		mux := http.NewServeMux()
		for pattern, h := range r.p.Routes(r.inbox.Accept) {
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
		for _, penalty := range r.Penalties() {
			t.Errorf("a penalty for a real bot: %s", penalty)
		}
		for _, deviation := range r.Deviations() {
			t.Error(deviation)
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
	r.p = discord.New(r.deps, r.config)
	r.p.SetSleep(r.timers.Sleep)
	run, stop := context.WithCancel(context.Background())
	r.stop = stop
	r.ended = make(chan struct{})
	go func(p *discord.Discord, ended chan struct{}) {
		defer close(ended)
		r.err = p.Run(run, r.inbox.Accept)
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

// known waits until the platform knows who the bot is and receives events.
func (r *inbound) known() *inbound {
	r.t.Helper()
	r.inbox.Healthy(r.p)
	return r
}

// eventually polls until a condition holds.
func (r *inbound) eventually(what string, holds func() bool) {
	r.t.Helper()
	// a test may prolong the context, which the inbox does not know
	if err := adaptertest.Poll(r.ctx, holds); err != nil {
		r.t.Fatalf("%s did not come; the log:\n%s\n%s", what, r.log, r.Dump())
	}
}

// noEvents lists none, and does not tell which events wait.
func noEvents(_ context.Context, f core.EventFilter) ([]core.EventRecord, error) {
	if f.Waiting {
		return nil, errBusy
	}
	return nil, nil
}

func busy(context.Context, core.Event) error { return errBusy }

// of waits for the event of a message.
func (r *inbound) of(m discordtest.Message) core.Event {
	r.t.Helper()
	return r.inbox.Event("message/" + m.Channel + "/" + m.ID)
}

// settled waits until all earlier events are committed: it sends one more direct message, and waits until a heartbeat
// has passed that.
func (r *inbound) settled() {
	r.t.Helper()
	r.of(r.ann.Says("over"))
	c := r.connection()
	sent, asked := c.State(), 0
	r.eventually("the last commit", func() bool {
		now := c.State()
		if n := len(now.Beats); n >= asked { // the one that was asked for last has come
			c.AskHeartbeat()
			asked = n + 1
		}
		for _, payload := range now.Received[len(sent.Received):] {
			var p struct{ Op, D int64 }
			if json.Unmarshal([]byte(payload), &p) == nil && p.Op == 1 && p.D >= sent.Seq {
				return true
			}
		}
		return false
	})
}

// none fails if an event of a message was passed to accept.
func (r *inbound) none(m discordtest.Message) {
	r.t.Helper()
	r.settled()
	r.inbox.Lock()
	defer r.inbox.Unlock()
	for _, e := range r.inbox.Tried {
		if strings.Contains(e.ID, m.ID) {
			r.t.Errorf("it came to accept: %+v", e)
		}
	}
}

// says returns the message that Parse makes of an event.
func (r *inbound) says(e core.Event) core.Message {
	r.t.Helper()
	return adaptertest.Message(r.t, r.p, e)
}

// clean fails if the log or an event contains a secret.
func (r *inbound) clean() {
	r.t.Helper()
	secrets := []string{r.BotToken()}
	for _, i := range r.Interactions() {
		secrets = append(secrets, i.Token)
	}
	r.log.Hides(r.t, secrets...)
	r.inbox.Lock()
	defer r.inbox.Unlock()
	for _, e := range r.inbox.Tried {
		for _, secret := range secrets {
			if text := fmt.Sprintf("%+v %s", e, e.Payload); strings.Contains(text, secret) {
				r.t.Errorf("an event has %q: %s", secret, text)
			}
		}
	}
}

// sealed returns the value of one of gatehouse's buttons.
func (r *inbound) sealed(fields ...string) string {
	return adaptertest.Signer(r.t, testKey).Seal(fields...)
}

// button posts a message with a button, as the bot.
func (r *inbound) button(channel, value string) discordtest.Button {
	r.t.Helper()
	var m struct {
		ID string `json:"id"`
	}
	err := r.p.Call(r.ctx, http.MethodPost, "/channels/"+channel+"/messages", map[string]any{
		"content": "a card", "allowed_mentions": map[string]any{"parse": []string{}},
		"components": []any{map[string]any{
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

// registered waits until the commands are registered.
func (r *inbound) registered() {
	r.t.Helper()
	r.eventually("the commands", func() bool { return len(r.Commands()) == 4 })
}

func (r *inbound) click(e core.Event) core.Click { return adaptertest.Click(r.t, e) }

// onBoth runs a test with interactions over the gateway and over HTTP.
func onBoth(t *testing.T, s setup, test func(*testing.T, *inbound)) {
	t.Helper()
	for name, http := range map[string]bool{"http": true, "gateway": false} {
		t.Run(name, func(t *testing.T) {
			s := s
			s.http = http
			test(t, newInbound(t, s).known())
		})
	}
}
