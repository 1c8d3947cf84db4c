package slack

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	api "github.com/slack-go/slack"
	"golang.org/x/sync/errgroup"

	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/slack/internal/draw"
	"gatehouse/adapters/slack/internal/socketmode"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// Name is the platform's name.
const Name = webapi.Platform

var (
	_ core.Platform  = (*Slack)(nil)
	_ core.Directory = (*Slack)(nil)
	_ core.Health    = (*Slack)(nil)
	_ core.OldClicks = (*Slack)(nil)
	_ core.Listener  = (*Slack)(nil)
	_ core.Twins     = (*Slack)(nil)
)

// Slack is the platform; see the package comment.
type Slack struct {
	core.Deps
	Config   Config
	api      *api.Client
	http     *http.Client
	sockets  *socketmode.Client // nil without an app token
	outbound outbound.Health    // whether Slack answers
	clock    *outbound.Clock    // Slack's
	identity identity
	limits   *rateLimit
	painter  draw.Painter
	desk     desk.Desk
	parts    outbound.PartCache[draw.Message]
	missing  outbound.WarnOnce
	sleep    func(context.Context, time.Duration)

	names    outbound.Cache[string]   // by user, bot or channel
	dms      outbound.Cache[string]   // by user: the channel of direct messages
	members  outbound.Cache[[]string] // by user group
	handles  outbound.Cache[string]   // by user group: how people call it
	reached  outbound.Cache[bool]     // by place: people can be told there
	channels outbound.Cache[string]   // by channel: its type
	views    outbound.Cache[bool]     // by thread of direct messages: it began in the assistant view
	upTo     outbound.Cache[string]   // by thread: the message with which the agent is told all above it; "": it is not
	heard    outbound.Cache[string]   // by thread: the message that the agent heard last, as far as this process knows
	homes    outbound.Cache[string]   // by user: their workspace or organisation
	told     outbound.Cache[bool]     // by text and user: a stranger who was told so a moment ago

	announced atomic.Bool // whether the log says that the bot is connected

	background sync.WaitGroup // guarded by mu; nothing is added once ended is true
	mu         sync.Mutex
	ended      bool
}

// New makes the platform; nothing is connected before Run. It uses Signer, Cards, Blobs, KV, Owner, Inbox,
// Jitter, Now, ReadBefore, Words and Log of d.
func New(d core.Deps, c Config) *Slack {
	if d.Now == nil {
		d.Now = time.Now
	}
	if d.Log == nil {
		d.Log = slog.New(slog.DiscardHandler)
	}
	if d.Inbox == nil {
		d.Inbox = inbound.NoEvents{}
	}
	d.Log = d.Log.With("platform", Name)
	s := &Slack{
		Deps: d, Config: c, outbound: outbound.Health{Title: webapi.Title},
		clock:  &outbound.Clock{Title: webapi.Title, Now: d.Now, Log: d.Log},
		limits: newRateLimit(c.ChannelRPS), painter: draw.Painter{Sealer: d.Signer, Texts: wording.New(d.Words)},
		sleep: outbound.Sleep,
		names: outbound.Cache[string]{Now: d.Now}, homes: outbound.Cache[string]{Now: d.Now},
		handles: outbound.Cache[string]{Now: d.Now},
		dms:     outbound.Cache[string]{Now: d.Now}, channels: outbound.Cache[string]{Now: d.Now},
		members: outbound.Cache[[]string]{Now: d.Now}, told: outbound.Cache[bool]{Now: d.Now},
		reached: outbound.Cache[bool]{Now: d.Now},
		views:   outbound.Cache[bool]{Now: d.Now}, upTo: outbound.Cache[string]{Now: d.Now},
		heard: outbound.Cache[string]{Now: d.Now},
	}
	s.desk = desk.Desk{
		Platform: Name, Signer: d.Signer, Cards: d.Cards, Edits: d.Cards, Groups: recently{s},
		Reason: draw.MaxReason, Input: draw.MaxInput, Within: triggerTime, Texts: s.painter.Texts, Log: d.Log,
	}
	s.api, s.http = webapi.New(c.api(), s.clock, s.identity.setScopes)
	if c.AppToken != "" {
		s.sockets = &socketmode.Client{Log: d.Log}
	}
	return s
}

// Name is "slack".
func (s *Slack) Name() string { return Name }

// Run finds out who the bot is and, with an app token, receives events over Socket Mode, until ctx ends. Events over
// HTTP arrive through Routes. Error: a permanent failure, such as a token that Slack refuses, or Socket Mode switched
// off.
func (s *Slack) Run(ctx context.Context, accept core.Accept) error {
	defer s.http.CloseIdleConnections()
	s.mu.Lock()
	s.ended = false
	s.mu.Unlock()
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return s.keepIdentity(ctx) })
	if s.sockets != nil {
		parts.Go(func() error {
			slots := &slots{kv: s.KV, owner: s.Owner}
			defer slots.leave(ctx)
			err := s.sockets.Run(ctx, socket{s, slots, accept})
			if err != nil && s.Config.SigningSecret != "" { // events still come over HTTP
				s.Log.Error("Socket Mode has ended", "category", core.CategoryOf(err), "err", err)
				return nil
			}
			return err
		})
	}
	err := parts.Wait()
	s.mu.Lock()
	s.ended = true
	s.mu.Unlock()
	s.background.Wait()
	return err
}

// inBackground runs do in a goroutine that the end of Run waits for. After the end of Run it does nothing.
func (s *Slack) inBackground(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.ended {
		s.background.Go(do)
	}
}

func (s *Slack) jitter(d time.Duration) time.Duration { return outbound.Jitter(d, s.Jitter()) }

// Calls counts the calls of Slack's Web API.
func (s *Slack) Calls() map[core.CallResult]int64 { return s.outbound.Calls() }

// Connections counts those of Socket Mode; Slack has no limit of sessions.
func (s *Slack) Connections() (opened int64, sessionsLeft int) {
	if s.sockets == nil {
		return 0, -1
	}
	return s.sockets.Opened(), -1
}

// warnOnce logs a text the first time only, so that something missing is not logged with every call.
func (s *Slack) warnOnce(text string, args ...any) { s.missing.Warn(s.Log, text, args...) }

// called converts the error of a call to one of core's categories, as adapters/internal/outbound lists them, and
// records whether Slack answers.
func (s *Slack) called(err error) error {
	fault := webapi.Error(err)
	// a call that we ended is not a failure of Slack
	if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
		s.outbound.Record(fault)
	}
	return fault
}
