package discord

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/adapters/discord/internal/guilds"
	"gatehouse/adapters/discord/internal/memo"
	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/desk"
	"gatehouse/core"
)

var (
	_ core.Platform  = (*Discord)(nil)
	_ core.Directory = (*Discord)(nil)
	_ core.Health    = (*Discord)(nil)
	_ core.OldClicks = (*Discord)(nil)
)

// Options configure a Discord platform. Config, Signer, Card, Redraw, PutBlob, KV and Owner are required.
type Options struct {
	Config  Config
	Signer  *core.Signer
	Card    func(ctx context.Context, id core.ApprovalID, context bool) (core.Card, error) // an approval's card, from its stored state
	Redraw  func(ctx context.Context, id core.ApprovalID) error                            // makes an approval's cards show its present state
	PutBlob chat.PutBlob                                                                   // stores the images that people send
	KV      core.KV                                                                        // shared by the processes of one bot: sessions, shards, the identify budget, interaction tokens
	// Recent returns the platform's latest events, latest first. Missed messages are fetched for the conversations in them. Nil: none are
	// fetched.
	Recent func(ctx context.Context) ([]core.EventRecord, error)
	// Open returns the platform's unfinished events. The typing indicator of a channel ends when the channel has none left, whichever
	// process answered. Nil: if another process answered, the indicator only expires.
	Open   func(ctx context.Context) ([]core.EventRecord, error)
	Owner  string           // of shard leases: this process's name
	Lease  time.Duration    // of a shard: how long a dead process keeps it; at most 30 s, which 0 also means
	Now    func() time.Time // nil: time.Now
	Jitter func() float64   // scales waits, from 0 (half) to 1 (full); nil: full
	Log    *slog.Logger     // nil: discard
}

// maxRemembered is how many threads and how many sent messages are remembered.
const maxRemembered = 10_000

// Discord is the platform; see the package comment.
type Discord struct {
	Options
	rest       *rest.Client
	gateway    *gateway.Gateway
	guilds     *guilds.Cache
	outbound   chat.Outbound // records whether Discord answers calls
	seal       sealer
	painter    chat.Painter[drawn]
	long       chat.PartCache[drawn]
	threads    *memo.Memo[bool] // whether a thread is open, by id; false: it could not be opened, so the answers go to the channel
	typing     *typing
	sent       *memo.Memo[string]    // the partName of each message that this process has sent
	fileless   *memo.Memo[time.Time] // when Discord last refused a file, by channel
	warnings   chat.WarnOnce
	desk       desk.Desk
	background sync.WaitGroup // answers to interactions
	sleep      func(context.Context, time.Duration)

	mu     sync.Mutex
	self   identity
	accept core.Accept     // of Run
	run    context.Context // of Run; nil before
}

// New makes the platform. It connects nothing; Run does.
func New(o Options) *Discord {
	if o.Signer == nil || o.Card == nil || o.Redraw == nil || o.PutBlob == nil || o.KV == nil || o.Owner == "" {
		panic("discord: Signer, Card, Redraw, PutBlob, KV and Owner are needed")
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
		Options: o, sleep: chat.Sleep, outbound: chat.Outbound{Title: "Discord"}, seal: o.Signer.Seal, painter: newPainter(o.Signer.Seal), threads: memo.New[bool](maxRemembered), sent: memo.New[string](maxRemembered),
		fileless: memo.New[time.Time](maxRemembered),
	}
	d.desk = desk.Desk{Platform: Name, Signer: o.Signer, Card: o.Card, Groups: d.Groups, Confirm: confirmForm, Reason: maxReason, Input: maxInput, Log: o.Log}
	d.rest = rest.New(rest.Options{Token: o.Config.BotToken, URL: o.Config.apiURL(), Now: o.Now, Log: o.Log, Report: d.outbound.Record})
	d.guilds = guilds.New(d.rest, o.Now)
	wait := func(ctx context.Context, t time.Duration) { d.sleep(ctx, t) }
	d.typing = newTyping(o.Now, wait, o.Open)
	d.gateway = gateway.New(gateway.Options{
		REST: d.rest, KV: o.KV, Token: o.Config.BotToken, Shards: o.Config.Shards, Owner: o.Owner, Lease: o.Lease, Intents: d.intents,
		IntentsRefused: d.refuseContent, Ready: d.setApplication, Take: d.takeEvent, Known: d.knows, Parent: d.guilds.Parent, Now: o.Now, Sleep: wait, Jitter: o.Jitter, Log: o.Log,
	})
	if o.Recent != nil {
		d.gateway.Conversations = d.conversations
	}
	return d
}

// Name is "discord".
func (d *Discord) Name() string { return Name }

// Run asks who the bot is, then receives events over the gateway until ctx ends. Routes receives interactions over HTTP. Run returns an
// error only for permanent failures: Discord refuses the token, or its gateway accepts no session with this configuration.
func (d *Discord) Run(ctx context.Context, accept core.Accept) error {
	d.mu.Lock()
	d.accept, d.run = accept, ctx
	d.mu.Unlock()
	parts, ctx := errgroup.WithContext(ctx)
	d.typing.begin(ctx)
	known := make(chan struct{})
	parts.Go(func() error {
		d.keepCommands(ctx)
		return nil
	})
	parts.Go(func() error { return d.keepIdentity(ctx, known) })
	parts.Go(func() error {
		d.redrawPressed(ctx)
		return nil
	})
	parts.Go(func() error {
		select {
		case <-known:
			return d.gateway.Run(ctx, d.whoami().User)
		case <-ctx.Done():
			return nil
		}
	})
	err := parts.Wait()
	d.typing.end()
	d.background.Wait()
	d.rest.Close()
	return err
}

// running returns a context that ends with Run.
func (d *Discord) running() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.run == nil {
		return context.Background()
	}
	return d.run
}

// Clock returns Discord's time, by its answers.
func (d *Discord) Clock() (now time.Time, ahead time.Duration, off error) {
	return d.rest.Clock().Read()
}

// Health returns nil for inbound if Discord's events are received (every shard is connected, in this or another process), and nil for
// outbound if Discord answered the last call.
func (d *Discord) Health() (inbound, outbound error) {
	return d.gateway.Health(), d.outbound.Err()
}
