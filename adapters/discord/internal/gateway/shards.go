package gateway

import (
	"context"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"gatehouse/adapters/discord/internal/address"
	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
	"gatehouse/core/retry"
)

// Run receives the events of all shards that this process can hold, until ctx ends, and gives them to an adapter. bot
// is the bot's own user id. It returns only permanent errors; see isFatal.
func (g *Gateway) Run(ctx context.Context, bot string, to Receiver) error {
	g.Receiver = to
	of := g.Shards
	if of == 0 {
		info, err := g.ask(ctx, g.unknown)
		if err != nil || ctx.Err() != nil {
			return err
		}
		of = max(info.Shards, 1)
	}
	g.healthMu.Lock()
	g.health = make([]shardState, of)
	g.healthMu.Unlock()
	shards, ctx := errgroup.WithContext(ctx)
	for n := range of {
		s := &shard{Gateway: g, n: n, of: of, bot: bot, session: newSessionStore(g, n), backlog: newBacklog(g, n, bot)}
		shards.Go(func() error { return s.run(ctx) })
	}
	return shards.Wait()
}

// unknown records why it is not known how many shards there are.
func (g *Gateway) unknown(err error) {
	g.healthMu.Lock()
	defer g.healthMu.Unlock()
	g.why = err
}

// shard is one of the parts that the bot's servers are spread over. Direct messages come over the first.
type shard struct {
	*Gateway
	n, of   int
	bot     string
	session *sessionStore
	backlog *backlog
	// catching is the catch-up under way, or the last one; nil: none. Only the committer of the connection uses it.
	catching  *catchUp
	dials     int  // failed attempts in a row to reach the session's resume address
	unresumed int  // connections in a row that did not resume the session
	refusals  int  // of the token over the gateway, in a row
	paid      bool // an identify was counted but not made
}

// owns reports whether a server's events come over this shard.
func (s *shard) owns(guild string) bool {
	if guild == address.Direct {
		return s.n == 0
	}
	return snowflake.Shard(guild, s.of) == s.n
}

func (s *shard) setHealth(state shardState) {
	s.healthMu.Lock()
	defer s.healthMu.Unlock()
	s.health[s.n] = state
}

// unheard records why the shard's events are not received.
func (s *shard) unheard(err error) { s.setHealth(shardState{why: err}) }

func (s *shard) leaseName() string { return "discord/shard/" + strconv.Itoa(s.n) }

// run acquires the shard whenever no other process holds it, and receives its events. It returns only permanent errors.
func (s *shard) run(ctx context.Context) error {
	log := retry.NewLog(s.Log, "taking a shard")
	for ctx.Err() == nil {
		held, err := s.KV.AcquireLease(ctx, s.leaseName(), s.Owner, s.Lease)
		if ctx.Err() != nil {
			break
		}
		log.Report(err)
		switch {
		case err != nil:
			s.setHealth(shardState{why: core.Wrap(core.StoreBusy, err, "The lease of Discord's shard %d could not be "+
				"acquired from the store.", s.n)})
			s.Sleep(ctx, s.jitter(outbound.FirstRetry))
		case held:
			if err := s.hold(ctx); err != nil {
				return err
			}
		default:
			s.setHealth(shardState{elsewhere: time.Now().Add(s.Lease)})
			s.Sleep(ctx, s.Lease/3)
		}
	}
	return nil
}

// hold receives the shard's events while this process has its lease. At the end it releases the lease, so that another
// process need not wait.
func (s *shard) hold(ctx context.Context) error {
	holding, end := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		defer end()
		s.renew(holding)
	})
	err := s.connectAgain(holding)
	end()
	renewing.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if _, err := s.KV.AcquireLease(last, s.leaseName(), s.Owner, 0); err != nil {
		s.Log.Info("a shard could not be released; another process takes it when the lease expires", "shard", s.n,
			"err", err)
	}
	return err
}

// renew renews the lease until ctx ends or another process has it. Store errors don't end it: two processes may receive
// a shard's events for a while without harm, since an event is stored only once.
func (s *shard) renew(ctx context.Context) {
	log := retry.NewLog(s.Log, "holding a shard")
	for {
		s.Sleep(ctx, s.Lease/3)
		if ctx.Err() != nil {
			return
		}
		held, err := s.KV.AcquireLease(ctx, s.leaseName(), s.Owner, s.Lease)
		if ctx.Err() != nil {
			return
		}
		log.Report(err)
		if err == nil && !held {
			s.Log.Info("another process holds the shard now", "shard", s.n)
			return
		}
	}
}
