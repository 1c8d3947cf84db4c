package gateway

import (
	"context"
	"strconv"
	"sync"
	"time"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/core"
)

// MaxLease is the longest that a shard stays with a process that has died: Discord still has the session then.
const MaxLease = 30 * time.Second

// Direct stands for the guild of direct messages in a Conversation.
const Direct = "@me"

// shard is one of the parts that the bot's servers are spread over. Direct messages come over the first.
type shard struct {
	*Gateway
	n, of   int
	bot     string
	session *sessionStore
	dials   int  // attempts in a row that did not reach the address where the session is resumed
	paid    bool // an identify was counted and not made
}

// owns reports whether a server's events come over this shard.
func (s *shard) owns(guild string) bool {
	if guild == Direct {
		return s.n == 0
	}
	return snowflake.Shard(guild, s.of) == s.n
}

func (s *shard) leaseName() string { return "discord/shard/" + strconv.Itoa(s.n) }

func (s *shard) setHealth(state shardState) { s.health.set(s.n, state) }

// run takes the shard whenever no other process holds it, and receives its events meanwhile. Error: going on is useless.
func (s *shard) run(ctx context.Context) error {
	log := core.NewErrorLog(s.Log, "taking a shard")
	for ctx.Err() == nil {
		held, err := s.KV.AcquireLease(ctx, s.leaseName(), s.Owner, s.Lease)
		if ctx.Err() != nil {
			break
		}
		log.Report(err)
		switch {
		case err != nil:
			s.setHealth(shardState{why: core.Wrap(core.StoreBusy, err, "The store can't say which process holds Discord's shard %d.", s.n)})
			s.Sleep(ctx, s.jitter(firstRetry))
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

// hold receives the shard's events as long as its lease is this process's, and releases it at the end, so that another process need not
// wait.
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
		s.Log.Info("a shard could not be released; another process takes it when the lease expires", "shard", s.n, "err", err)
	}
	return err
}

// renew renews the lease until ctx ends or another process has it. A store that fails changes nothing: two processes that receive
// one shard's events for a while do no harm, since an event that was stored is known.
func (s *shard) renew(ctx context.Context) {
	log := core.NewErrorLog(s.Log, "holding a shard")
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
