package discord

import (
	"context"
	"strconv"
	"sync"
	"time"

	"gatehouse/core"
)

// shardLease is the longest that a process holds a shard without a word: after that another takes it, and Discord still has the session.
const shardLease = 30 * time.Second

// listen hears all shards that this process can hold, until ctx ends. Its error: going on is useless.
func (d *Discord) listen(ctx context.Context, accept core.Accept) error {
	of := d.Config.Shards
	if of == 0 {
		gate, err := d.askGateway(ctx, nil)
		if err != nil || ctx.Err() != nil {
			return err
		}
		of = max(gate.Shards, 1)
	}
	d.ears.expect(of)
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var all sync.WaitGroup
	for n := range of {
		s := &shard{discord: d, accept: accept, n: n, of: of, keep: newKeeper(d, n)}
		all.Go(func() {
			if err := s.serve(ctx); err != nil {
				stop(err)
			}
		})
	}
	all.Wait()
	if err := context.Cause(ctx); isFatal(err) {
		return err
	}
	return nil
}

// shard is one of the parts that the bot's servers are spread over. Direct messages are the first one's.
type shard struct {
	discord *Discord
	accept  core.Accept
	n, of   int
	keep    *keeper
	dials   int  // connections in a row that could not be made to where the session is resumed
	paid    bool // an identification is counted that was not made
}

// mine reports whether a server's events are this shard's.
func (s *shard) mine(guild string) bool {
	if guild == direct {
		return s.n == 0
	}
	return int(number(guild)>>snowflakeShift%uint64(s.of)) == s.n
}

func (s *shard) leaseName() string { return "discord/shard/" + strconv.Itoa(s.n) }

// serve holds the shard whenever nobody else does, and hears it meanwhile. Its error: going on is useless.
func (s *shard) serve(ctx context.Context) error {
	d := s.discord
	trouble := core.NewErrorLog(d.Log, "taking a shard")
	for ctx.Err() == nil {
		held, err := d.Settings.AcquireLease(ctx, s.leaseName(), d.Owner, d.Lease)
		if ctx.Err() != nil {
			break
		}
		trouble.Report(err)
		switch {
		case err != nil:
			d.ears.set(s.n, hearing{why: core.Wrap(core.StoreBusy, err, "The store can't say who hears Discord's shard %d.", s.n)})
			d.sleep(ctx, d.jitter(firstRedial))
		case held:
			if err := s.held(ctx); err != nil {
				return err
			}
		default:
			d.ears.set(s.n, hearing{elsewhere: time.Now().Add(d.Lease)})
			d.sleep(ctx, d.Lease/3)
		}
	}
	return nil
}

// held hears the shard as long as it is this process's, and lets go of it at the end, so that another need not wait.
func (s *shard) held(ctx context.Context) error {
	d := s.discord
	under, end := context.WithCancel(ctx)
	var renewing sync.WaitGroup
	renewing.Go(func() {
		defer end()
		s.renew(under)
	})
	err := s.hear(under)
	end()
	renewing.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	if _, err := d.Settings.AcquireLease(last, s.leaseName(), d.Owner, 0); err != nil {
		d.Log.Info("a shard could not be let go of; another process takes it when the lease has run out", "shard", s.n, "err", err)
	}
	return err
}

// renew keeps the lease until ctx ends or another process has it. A store that can't be asked changes nothing: two that hear one
// shard for a while are harmless, since what both store is known.
func (s *shard) renew(ctx context.Context) {
	trouble := core.NewErrorLog(s.discord.Log, "holding a shard")
	for {
		s.discord.sleep(ctx, s.discord.Lease/3)
		if ctx.Err() != nil {
			return
		}
		held, err := s.discord.Settings.AcquireLease(ctx, s.leaseName(), s.discord.Owner, s.discord.Lease)
		if ctx.Err() != nil {
			return
		}
		trouble.Report(err)
		if err == nil && !held {
			s.discord.Log.Info("another process holds the shard now", "shard", s.n)
			return
		}
	}
}
