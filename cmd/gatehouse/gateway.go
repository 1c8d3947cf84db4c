package main

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"gatehouse/adapters/callback"
	"gatehouse/adapters/openharness"
	"gatehouse/adapters/otel"
	"gatehouse/adapters/tools"
	"gatehouse/cmd/gatehouse/internal/metrics"
	"gatehouse/cmd/gatehouse/internal/rerun"
	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/dispatch"
	"gatehouse/core/graph"
	"gatehouse/core/outbox"
	"gatehouse/core/schedule"
)

// gateway runs the parts: platforms accept events, the dispatcher runs turns, the deliverer sends posts, the clock runs
// what falls due, MCP servers bring tools. They share nothing but the store.
type gateway struct {
	shared
	platforms  []core.Platform
	models     *modelHealth
	traces     *otel.Export  // nil: none
	pushed     *otel.Metrics // nil: none
	tracer     graph.Tracer
	harness    *chat.Harness
	deliverer  *outbox.Deliverer
	dispatcher *dispatch.Dispatcher
	clock      *schedule.Clock
	server     *server // nil: no HTTP
}

// lookups are the outbox's; nil: its defaults. Tests shorten them.
var lookups []time.Duration

// taskRetry is the schedule's RetryAfter; 0: its default. Tests shorten it.
var taskRetry time.Duration

// newGateway puts the parts together. owner is from Store.Register. It serves only the conversations of only; nil: all.
func newGateway(p shared, owner string, only []core.ConversationID, platforms ...core.Platform) (*gateway, error) {
	cfg := p.cfg
	if cfg.Rate > 0 && only == nil { // a person alone at a terminal disturbs nobody
		p.store = p.store.WithLimits(core.Limits{
			PerMinute: cfg.Rate,
			Exempt:    []string{openharness.Name},
			Waiting:   maxWaiting,
			Refusal:   cfg.Sentences.TooMany,
		})
	}
	p.service.TellThrough(platforms...)
	g := &gateway{shared: p, platforms: platforms, models: newModelHealth()}
	version, _ := build()
	if g.metrics == nil {
		g.metrics = metrics.New(version)
		g.store = g.store.WithEngine(g.metrics.Engine)
		p.store = g.store
	}
	g.models.metrics = g.metrics
	var err error
	// it does not connect, so it needs no deadline
	if g.traces, err = otel.Open(context.Background(), cfg.Traces, version, p.log); err != nil {
		return nil, err
	}
	g.tracer = g.metrics.Tracer(g.traces.Tracer())
	agent, err := newAgent(cfg, p.store, g.tracer, g.models, p.log, p.servers)
	if err != nil {
		return nil, err
	}
	g.harness, err = chat.New(chat.Options{Graph: agent, Replies: cfg.Replies, Sentences: cfg.Errors, Log: p.log})
	if err != nil {
		return nil, err
	}
	g.deliverer = outbox.New(outbox.Options{
		Owner:         owner,
		Store:         p.store,
		Platforms:     platforms,
		Conversations: only,
		Cards:         p.service,
		Lookups:       lookups,
		Freshness:     cfg.Freshness,
		Sentences:     cfg.Errors,
		Jitter:        rand.Float64,
		Log:           p.log,
	})
	g.dispatcher = dispatch.New(dispatch.Options{
		Owner:         owner,
		Store:         p.store,
		Platforms:     platforms,
		Conversations: only,
		Harness:       g.harness,
		Approvals:     p.service,
		Policy:        cfg.Policy,
		Watcher:       g.metrics,
		Outbox:        g.deliverer,
		Workers:       cfg.Workers,
		Memory:        p.memory,
		Live:          p.live,
		Drain:         cfg.DrainTimeout,
		RetryTime:     cfg.Model.RetryTime,
		MaxMessage:    int(cfg.MaxMessage),
		Sentences:     cfg.Sentences,
		Jitter:        rand.Float64,
		Log:           p.log,
	})
	g.clock = schedule.New(schedule.Options{
		Store:      p.store,
		Approvals:  p.service,
		Turns:      g.dispatcher,
		Posts:      g.deliverer,
		RetryAfter: taskRetry,
		Retention:  cfg.Retention,
		Sessions:   cfg.RetentionSessions,
		Log:        p.log,
	})
	return g, nil
}

// accept commits a platform's event, and has its turn begin.
func (g *gateway) accept(ctx context.Context, e core.Event) (core.Receipt, error) {
	return core.FromPlatform(g.metrics.Accepting(g.dispatcher.Accept))(ctx, e)
}

// maxWaiting is how many messages of one person may wait, if people are limited at all.
const maxWaiting = 100

func namesOf(platforms []core.Platform) (names []string) {
	for _, p := range platforms {
		names = append(names, p.Name())
	}
	return names
}

// Run runs until ctx ends or every platform has ended, then drains: no new turn starts, running turns finish or are
// released, and posts that are ready are sent. If the database is gone by then, it ends at once. Its errors are those
// of the platforms and the HTTP server, and that the database is gone.
func (g *gateway) Run(ctx context.Context) error {
	receiving, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := func() { end(g.store.Gone()) }
	defer stop()
	defer context.AfterFunc(ctx, stop)()
	sending, stopSending := context.WithCancel(context.WithoutCancel(ctx))
	defer stopSending()
	running, stopTools := context.WithCancel(context.WithoutCancel(ctx)) // running turns may need them until they end
	defer stopTools()
	var platforms, serving, working, delivering, tooling sync.WaitGroup
	errs := make([]error, len(g.platforms)+1)
	tokens := 0 // platforms that need one
	for _, p := range g.platforms {
		if p.Name() != callback.Name && p.Name() != openharness.Name {
			tokens++
		}
	}
	all := rerun.New(max(tokens, 1), g.log)
	for i, p := range g.platforms {
		if p.Name() == callback.Name || p.Name() == openharness.Name && tokens > 0 {
			// it ends with the last platform that needs a token: whoever runs gatehouse must notice that the token is
			// refused
			serving.Go(func() { errs[i] = p.Run(receiving, g.accept) })
			continue
		}
		platforms.Go(func() { errs[i] = all.Run(receiving, p, g.accept) })
	}
	if g.server != nil {
		serving.Go(func() {
			if errs[len(g.platforms)] = g.server.run(receiving); errs[len(g.platforms)] != nil {
				stop() // without HTTP the gateway stops
			}
		})
	}
	tooling.Go(func() { _ = g.servers.Run(running) }) // never fails
	tooling.Go(func() { g.servers.follow(running) })
	tooling.Go(func() { g.policy.run(running) })
	tooling.Go(func() { tools.Reap(running) })
	working.Go(func() { _ = g.dispatcher.Run(receiving) }) // never fails
	working.Go(func() { _ = g.clock.Run(receiving) })      // never fails
	delivering.Go(func() { _ = g.deliverer.Run(sending) }) // never fails
	platforms.Wait()
	stop()
	serving.Wait()
	working.Wait()
	stopTools()
	flushed := g.closeTraces(ctx)
	stopSending()
	delivering.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	if err := g.deliverer.Flush(last); err != nil {
		g.log.Warn("some posts were not sent; they stay in the outbox", "category", core.CategoryOf(err), "err", err)
	}
	<-flushed
	tooling.Wait()
	if gone := context.Cause(receiving); core.CategoryOf(gone) == core.StoreGone {
		errs = append(errs, gone)
	}
	return errors.Join(errs...)
}

// closeTraces sends the remaining traces and metrics while the last posts are delivered, within the time limits of the
// drain and of the delivery. Lost ones are not an error.
func (g *gateway) closeTraces(ctx context.Context) (done <-chan struct{}) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(g.cfg.DrainTimeout, flushTime))
		defer cancel()
		var both sync.WaitGroup // so that a collector that hangs does not take the time of the other's
		both.Go(func() {
			if err := g.traces.Close(last); err != nil {
				g.log.Warn("the last traces were not sent", "category", core.DeliveryFailed, "err", err)
			}
		})
		both.Go(func() {
			if err := g.pushed.Close(last); err != nil {
				g.log.Warn("the last metrics were not sent", "category", core.DeliveryFailed, "err", err)
			}
		})
		both.Wait()
	}()
	return ended
}

// flushTime is how long the last deliveries of a stopping process may take.
const flushTime = 5 * time.Second
