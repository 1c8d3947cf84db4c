package discord

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"gatehouse/core"
)

// Name is the platform's name.
const Name = "discord"

var (
	_ core.Platform  = (*Discord)(nil)
	_ core.Directory = (*Discord)(nil)
	_ core.Health    = (*Discord)(nil)
)

// Cards draws an approval from its stored state.
type Cards interface {
	Card(ctx context.Context, id core.ApprovalID, context bool) (core.Card, error)
}

// Settings is what the processes of one bot agree on: resume state, who holds a shard, the budget of identifications.
type Settings interface {
	Put(ctx context.Context, name, value string) error
	Get(ctx context.Context, name string) (string, error)
	AcquireLease(ctx context.Context, name, owner string, lease time.Duration) (held bool, err error)
	TakeToken(ctx context.Context, name string, limit int, window time.Duration) (wait time.Duration, err error)
}

// Options are a Discord platform's parts. Config, Signer, Cards, Settings and Owner are needed.
type Options struct {
	Config   Config
	Signer   *core.Signer
	Cards    Cards
	Settings Settings
	// Recent gives the latest events of the platform, latest first: from them the known conversations are told, whose missed messages
	// are fetched. Nil: none are.
	Recent func(ctx context.Context) ([]core.EventRecord, error)
	// Open gives the platform's events that are not ended: where there is none any more, nobody is shown as typing, whichever process
	// answered. Nil: the indicator lapses after a while where another process did.
	Open   func(ctx context.Context) ([]core.EventRecord, error)
	Owner  string           // of shards; the process's own name
	Lease  time.Duration    // of a shard: how long it stays with a process that has died; 0, or more than that: 30 s
	Now    func() time.Time // nil: time.Now
	Jitter func() float64   // of waits, from 0 (half) to 1 (full); nil: full
	Log    *slog.Logger     // nil: discard
}

// Discord is the platform; see the package comment.
type Discord struct {
	Options
	out    outbound // what speaks: REST, pace, drawing
	atlas  *atlas
	ranks  *ranks // who has which role
	sights sights // who sees which channel
	voice  voice  // whether Discord can be spoken to
	ears   ears   // whether Discord can be heard
	asides sync.WaitGroup
	sleep  func(context.Context, time.Duration)

	mu      sync.Mutex
	self    identity
	unnamed map[string]bool // what was logged once
}

// New makes the platform; nothing is connected before Run.
func New(o Options) *Discord {
	if o.Signer == nil || o.Cards == nil || o.Settings == nil || o.Owner == "" {
		panic("discord: Signer, Cards, Settings and Owner are needed")
	}
	if o.Lease <= 0 || o.Lease > shardLease {
		o.Lease = shardLease
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
	d := &Discord{Options: o, sleep: wait, unnamed: map[string]bool{}}
	d.out = newOutbound(d)
	d.out.typing.wait = func(ctx context.Context, t time.Duration) { d.sleep(ctx, t) }
	d.atlas, d.ranks = newAtlas(d), newRanks(d)
	return d
}

// Name is "discord".
func (d *Discord) Name() string { return Name }

// Run finds out who the bot is, then hears over the gateway, until ctx ends. Interactions that come over HTTP are heard by Routes. It
// fails where going on is useless: a token that Discord refuses, a gateway that takes no session of this configuration.
func (d *Discord) Run(ctx context.Context, accept core.Accept) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var parts sync.WaitGroup
	parts.Go(func() { d.speak(ctx) })
	known := make(chan struct{})
	parts.Go(func() {
		if err := d.keepIdentity(ctx, known); err != nil {
			stop(err)
		}
	})
	parts.Go(func() {
		select {
		case <-known:
		case <-ctx.Done():
			return
		}
		if err := d.listen(ctx, accept); err != nil {
			stop(err)
		}
	})
	<-ctx.Done()
	parts.Wait()
	d.asides.Wait()
	d.out.rest.close()
	if err := context.Cause(ctx); isFatal(err) {
		return err
	}
	return nil
}

// isFatal reports an error that no retry can mend: only somebody who changes the token, the app or the configuration.
func isFatal(err error) bool {
	switch core.CategoryOf(err) {
	case core.ProviderAuthentication, core.Unsupported, core.Invalid:
		return true
	}
	return false
}

// once logs a lack that would else be logged with every call.
func (d *Discord) once(what string, args ...any) {
	d.mu.Lock()
	known := d.unnamed[what]
	d.unnamed[what] = true
	d.mu.Unlock()
	if !known {
		d.Log.Warn(what, args...)
	}
}

func (d *Discord) jitter(t time.Duration) time.Duration {
	return time.Duration(float64(t) * (0.5 + d.Jitter()/2))
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
