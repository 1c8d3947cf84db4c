package discord

import (
	"context"
	"sync"
	"time"

	"gatehouse/adapters/discord/internal/draw"

	"gatehouse/adapters/discord/internal/address"

	"golang.org/x/sync/errgroup"

	"gatehouse/adapters/discord/internal/gateway"
	"gatehouse/adapters/discord/internal/guilds"
	"gatehouse/adapters/discord/internal/memo"
	"gatehouse/adapters/discord/internal/rest"
	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

var (
	_ core.Platform  = (*Discord)(nil)
	_ core.Directory = (*Discord)(nil)
	_ core.Health    = (*Discord)(nil)
	_ core.OldClicks = (*Discord)(nil)
)

// maxRemembered is how many threads and how many sent messages are remembered.
const maxRemembered = 10_000

// Discord is the platform; see the package comment.
type Discord struct {
	core.Deps
	Config     Config
	rest       *rest.Client
	gateway    *gateway.Gateway
	guilds     *guilds.Cache
	outbound   outbound.Health // records whether Discord answers calls
	painter    draw.Painter
	long       outbound.PartCache[draw.Message]
	threads    *memo.Memo[bool]       // whether a thread is open, by id; false: it could not be opened
	roots      *memo.Memo[bool]       // whether a thread began with a message of the bot's own, by id
	rootless   *memo.Memo[time.Time]  // since when Discord can't say what a thread began with, by id
	hidden     *memo.Memo[time.Time]  // when Discord last refused to show what a thread began with, by channel
	overheard  *memo.Memo[string]     // the last message in a thread that was not for the bot, by thread
	heard      outbound.Cache[string] // a message up to which the agent has heard a thread, by thread
	known      outbound.Cache[string] // a stored message of a thread, by thread
	typing     *typing
	sent       *memo.Memo[string]    // the partName of each message that this process has sent
	fileless   *memo.Memo[time.Time] // when Discord last refused a file, by channel
	warnings   outbound.WarnOnce
	desk       desk.Desk
	background sync.WaitGroup // answers to interactions
	sleep      func(context.Context, time.Duration)

	mu   sync.Mutex
	self identity
	run  context.Context // of Run
}

// New makes the platform. It connects nothing; Run does. A dead process keeps its shards for three heartbeats.
func New(deps core.Deps, c Config) *Discord {
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if deps.Inbox == nil {
		deps.Inbox = inbound.NoEvents{}
	}
	deps.Log = deps.Log.With("platform", address.Platform)
	texts := wording.New(deps.Words)
	d := &Discord{
		Deps: deps, Config: c, run: context.Background(), sleep: outbound.Sleep,
		outbound: outbound.Health{Title: "Discord"},
		painter:  draw.Painter{Sealer: deps.Signer, Texts: texts},
		threads:  memo.New[bool](maxRemembered), sent: memo.New[string](maxRemembered),
		fileless: memo.New[time.Time](maxRemembered), hidden: memo.New[time.Time](maxRemembered),
		roots: memo.New[bool](maxRemembered), rootless: memo.New[time.Time](maxRemembered),
		overheard: memo.New[string](maxRemembered),
		heard:     outbound.Cache[string]{Now: deps.Now}, known: outbound.Cache[string]{Now: deps.Now},
	}
	d.desk = desk.Desk{
		Platform: address.Platform, Signer: d.Signer, Cards: d.Cards, Edits: d.Cards, Groups: d, Cautious: d.painter,
		Reason: draw.MaxReason, Input: draw.MaxInput, Texts: texts, Log: d.Log,
	}
	d.rest = rest.New(rest.Options{
		Token: c.BotToken, URL: c.apiURL(), Now: d.Now, Log: d.Log, Health: &d.outbound,
	})
	d.guilds = guilds.New(d.rest, d.Now)
	d.typing = &typing{platform: d, channels: map[string]*indicator{}}
	d.gateway = gateway.New(gateway.Options{
		REST: d.rest, KV: d.KV, Token: c.BotToken, Shards: c.Shards, Owner: d.Owner, Lease: 3 * d.Heartbeat,
		Now: d.Now, Jitter: d.Jitter, Log: d.Log,
	})
	return d
}

// Name is "discord".
func (d *Discord) Name() string { return address.Platform }

// Run asks who the bot is, then receives events over the gateway until ctx ends. Routes receives interactions over
// HTTP. Run returns an error only for permanent failures: Discord refuses the token, or its gateway accepts no session
// with this configuration.
func (d *Discord) Run(ctx context.Context, accept core.Accept) error {
	d.mu.Lock()
	d.run = ctx
	d.mu.Unlock()
	parts, ctx := errgroup.WithContext(ctx)
	d.typing.begin(ctx)
	known := make(chan struct{})
	parts.Go(func() error { return d.keepIdentity(ctx, known) })
	for _, once := range []func(context.Context){d.keepCommands, d.redrawPressed} {
		parts.Go(func() error {
			once(ctx)
			return nil
		})
	}
	parts.Go(func() error {
		select {
		case <-known:
			return d.gateway.Run(ctx, d.whoami().User, receiver{d, accept})
		case <-ctx.Done():
			return nil
		}
	})
	err := parts.Wait()
	d.typing.going.Wait()
	d.background.Wait()
	d.rest.Close()
	return err
}

// waiting lists the events that wait.
func (d *Discord) waiting(ctx context.Context) ([]core.EventRecord, error) {
	f := latest
	f.Waiting = true
	return d.Inbox.Events(ctx, f)
}

// Sleep returns after t, or when ctx ends.
func (d receiver) Sleep(ctx context.Context, t time.Duration) { d.sleep(ctx, t) }

// running returns a context that ends with Run.
func (d *Discord) running() context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.run
}

// Clock returns Discord's time, by its answers.
func (d *Discord) Clock() (now time.Time, ahead time.Duration, off error) {
	return d.rest.Clock().Read()
}

// Calls counts the calls of Discord's API.
func (d *Discord) Calls() map[core.CallResult]int64 { return d.outbound.Calls() }

// Connections counts those to Discord's gateway, and tells how many identifies are left.
func (d *Discord) Connections() (opened int64, sessionsLeft int) { return d.gateway.Connections() }

// Health returns nil for inbound if Discord's events are received (every shard is connected, in this or another
// process), and nil for outbound if Discord answered the last call.
func (d *Discord) Health() (inbound, outbound error) {
	return d.gateway.Health(), d.outbound.Err()
}
