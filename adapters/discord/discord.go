package discord

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/adapters/discord/internal/guilds"
	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

var (
	_ core.Platform  = (*Discord)(nil)
	_ core.Directory = (*Discord)(nil)
	_ core.Health    = (*Discord)(nil)
)

// Options are a Discord platform's parts. Config, Signer, Card, KV and Owner are needed.
type Options struct {
	Config Config
	Signer *core.Signer
	Card   func(ctx context.Context, id core.ApprovalID, context bool) (core.Card, error) // an approval's card, from its stored state
	KV     core.KV                                                                        // what the processes of one bot share: sessions, shards, the budget of identifies, tokens of interactions
	// Recent gives the latest events of the platform, latest first: they tell which conversations are known, whose missed messages are
	// fetched. Nil: none are.
	Recent func(ctx context.Context) ([]core.EventRecord, error)
	// Open gives the platform's events that are not ended: where a channel has none any more, the bot is not shown as typing, whichever
	// process answered. Nil: the indicator expires after a while where another process did.
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
	rest       *rest.Client
	gateway    *gateway.Gateway
	guilds     *guilds.Cache
	outbound   chat.Outbound // whether Discord answers calls
	painter    chat.Painter[drawn]
	long       chat.PartCache[drawn]
	threads    *threads
	typing     *typing
	sent       *sentMessages
	warnings   chat.WarnOnce
	background sync.WaitGroup // answers to interactions
	sleep      func(context.Context, time.Duration)

	mu     sync.Mutex
	self   identity
	accept core.Accept // of Run
}

// New makes the platform; nothing is connected before Run.
func New(o Options) *Discord {
	if o.Signer == nil || o.Card == nil || o.KV == nil || o.Owner == "" {
		panic("discord: Signer, Card, KV and Owner are needed")
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
	d := &Discord{
		Options: o, sleep: chat.Sleep, outbound: chat.Outbound{Title: "Discord"}, painter: newPainter(o.Signer.Seal), threads: newThreads(), sent: newSentMessages(),
	}
	d.rest = rest.New(rest.Options{Token: o.Config.BotToken, URL: o.Config.apiURL(), Now: o.Now, Report: d.outbound.Record})
	d.guilds = guilds.New(d.rest, o.Now)
	wait := func(ctx context.Context, t time.Duration) { d.sleep(ctx, t) }
	d.typing = newTyping(o.Now, wait, o.Open)
	d.gateway = gateway.New(gateway.Options{
		REST: d.rest, KV: o.KV, Token: o.Config.BotToken, Shards: o.Config.Shards, Owner: o.Owner, Lease: o.Lease, Intents: d.intents,
		IntentsRefused: d.refuseContent, Ready: d.setApplication, Take: d.takeEvent, Known: d.knows, Sleep: wait, Jitter: o.Jitter, Log: o.Log,
	})
	if o.Recent != nil {
		d.gateway.Conversations = d.conversations
	}
	return d
}

// Name is "discord".
func (d *Discord) Name() string { return Name }

// Run finds out who the bot is, then receives events over the gateway, until ctx ends. Interactions that come over HTTP are received by
// Routes. It fails where going on is useless: a token that Discord refuses, a gateway that takes no session of this configuration.
func (d *Discord) Run(ctx context.Context, accept core.Accept) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	d.mu.Lock()
	d.accept = accept
	d.mu.Unlock()
	d.typing.begin(ctx)
	known := make(chan struct{})
	var parts sync.WaitGroup
	parts.Go(func() { d.keepCommands(ctx) })
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
		if err := d.gateway.Run(ctx, d.whoami().User); err != nil {
			stop(err)
		}
	})
	<-ctx.Done()
	parts.Wait()
	d.typing.end()
	d.background.Wait()
	d.rest.Close()
	if err := context.Cause(ctx); gateway.IsFatal(err) {
		return err
	}
	return nil
}

// Health tells whether Discord's events are received (every shard is connected, here or at another process) and whether it answered the
// last call.
func (d *Discord) Health() (inbound, outbound error) {
	return d.gateway.Health(), d.outbound.Err()
}
