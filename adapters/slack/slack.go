package slack

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// Name is the platform's name.
const Name = "slack"

var (
	_ core.Platform  = (*Slack)(nil)
	_ core.Directory = (*Slack)(nil)
	_ core.Health    = (*Slack)(nil)
)

// Cards draws an approval from its stored state.
type Cards interface {
	Card(ctx context.Context, id core.ApprovalID, context bool) (core.Card, error)
}

// Options are a Slack platform's parts. Config, Signer and Cards are needed.
type Options struct {
	Config Config
	Signer *core.Signer
	Cards  Cards
	Now    func() time.Time // nil: time.Now
	Jitter func() float64   // of waits before a new connection, from 0 (half) to 1 (full); nil: full
	Log    *slog.Logger     // nil: discard
}

// Slack is the platform; see the package comment.
type Slack struct {
	Options
	paint   painter
	api     *api.Client
	http    *http.Client
	people  *people
	kinds   *kinds
	pace    *pace
	voice   voice          // whether Slack can be spoken to
	ears    ears           // whether Slack can be heard
	asides  sync.WaitGroup // behind ended
	ended   bool
	long    long
	mu      sync.Mutex
	self    identity
	unnamed map[string]bool // what was logged once
	sleep   func(context.Context, time.Duration)
}

// New makes the platform; nothing is connected before Run.
func New(o Options) *Slack {
	if o.Signer == nil || o.Cards == nil {
		panic("slack: Signer and Cards are needed")
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Jitter == nil {
		o.Jitter = func() float64 { return 1 }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	o.Log = o.Log.With("platform", Name)
	s := &Slack{
		Options: o, paint: painter{seal: o.Signer.Seal}, http: client(), pace: newPace(o.Config.ChannelRPS, o.Now), unnamed: map[string]bool{},
	}
	s.api = api.New(o.Config.BotToken, api.OptionAPIURL(o.Config.apiURL()), api.OptionHTTPClient(s.http),
		api.OptionAppLevelToken(o.Config.AppToken), api.OptionOnResponseHeaders(s.sawScopes))
	s.people, s.kinds, s.sleep = newPeople(s), newKinds(s), wait
	return s
}

// Numbers of the connections to Slack's Web API.
const (
	callTimeout = 15 * time.Second // of one call, where its context has no earlier end
	dialTimeout = 5 * time.Second
	idleConns   = 16 // as many as the outbox has posts in flight
)

// client keeps connections of its own, so that they end with the platform.
func client() *http.Client {
	return &http.Client{Timeout: callTimeout, Transport: &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: (&net.Dialer{Timeout: dialTimeout}).DialContext, ForceAttemptHTTP2: true,
		MaxIdleConnsPerHost: idleConns, IdleConnTimeout: time.Minute, TLSHandshakeTimeout: dialTimeout,
	}}
}

// Name is "slack".
func (s *Slack) Name() string { return Name }

// Run finds out who the bot is, and with an app token hears over Socket Mode, until ctx ends. What comes over HTTP is heard by
// Routes. It fails where going on is useless: a token that Slack refuses, Socket Mode switched off.
func (s *Slack) Run(ctx context.Context, accept core.Accept) error {
	defer s.http.CloseIdleConnections()
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var parts sync.WaitGroup
	parts.Go(func() {
		if err := s.keepIdentity(ctx); err != nil {
			stop(err)
		}
	})
	if s.Config.AppToken != "" {
		parts.Go(func() {
			err := s.listen(ctx, accept)
			switch {
			case err == nil:
			case s.Config.SigningSecret != "": // it is still heard over HTTP
				s.Log.Error("Socket Mode has ended", "category", core.CategoryOf(err), "err", err)
			default:
				stop(err)
			}
		})
	}
	<-ctx.Done()
	parts.Wait()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.asides.Wait()
	if err := context.Cause(ctx); core.CategoryOf(err) == core.Unsupported || core.CategoryOf(err) == core.ProviderAuthentication {
		return err
	}
	return nil
}

// aside does something that nobody waits for but the end of Run. After that nothing more is begun.
func (s *Slack) aside(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.asides.Go(do)
	}
}

// once logs a lack that would else be logged with every call.
func (s *Slack) once(what string, args ...any) {
	s.mu.Lock()
	known := s.unnamed[what]
	s.unnamed[what] = true
	s.mu.Unlock()
	if !known {
		s.Log.Warn(what, args...)
	}
}

// wait ends after the time or with ctx.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
