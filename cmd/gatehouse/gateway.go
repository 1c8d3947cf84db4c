package main

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"gatehouse/adapters/otel"
	"gatehouse/approvals"
	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/chat"
	"gatehouse/core/dispatch"
	"gatehouse/core/graph"
	"gatehouse/core/outbox"
	"gatehouse/core/schedule"
	"gatehouse/core/tool"
)

// gateway is the running whole: platforms hear, dispatch takes turns, the outbox speaks, the clock runs what falls due. They meet
// in the store alone.
type gateway struct {
	store      core.Store
	platforms  []core.Platform
	dispatcher *dispatch.Dispatcher
	deliverer  *outbox.Deliverer
	clock      *schedule.Clock
	server     *server      // nil: nobody is heard over HTTP
	traces     *otel.Export // nil: none
	drain      time.Duration
	log        *slog.Logger
}

// newGateway puts the parts together. owner is from Store.Register; only, where not nil, are the conversations that it serves.
func newGateway(cfg Config, store core.Store, owner string, log *slog.Logger, only []core.ConversationID, platforms ...core.Platform) (*gateway, error) {
	policy, err := approvals.ParsePolicy(cfg.Approvers, cfg.ApprovalTimeout)
	if err != nil {
		return nil, err
	}
	version, _ := build()
	traces, err := otel.Open(context.Background(), cfg.Traces, version, log) // it connects to nobody, so there is nothing to cut short
	if err != nil {
		return nil, err
	}
	brain, err := newAgent(cfg, store, policy, traces.Tracer(), log)
	if err != nil {
		return nil, err
	}
	replies, sentences, err := loadReplies(cfg.Replies)
	if err != nil {
		return nil, err
	}
	desk := approvals.NewService(store)
	g := &gateway{store: store, platforms: platforms, traces: traces, drain: cfg.DrainTimeout, log: log}
	g.deliverer = outbox.New(outbox.Options{
		Store: store, Cards: desk, Platforms: platforms, Conversations: only, Owner: owner, Lease: cfg.Lease, Freshness: cfg.Freshness, Now: time.Now,
		Jitter: rand.Float64, Log: log,
	})
	g.dispatcher = dispatch.New(dispatch.Options{
		Store: store, Approvals: desk, Platforms: platforms, Conversations: only, Owner: owner,
		Harness: func(sessions core.SessionStore, pauses core.PauseStore) (*chat.Harness, error) {
			return chat.New(chat.Options{Graph: brain, Mode: chat.Sessioned, Sessions: sessions, Pauses: pauses, Replies: replies, NewID: newID, Log: log})
		},
		Workers: cfg.Workers, Lease: cfg.Lease, Drain: cfg.DrainTimeout, MaxMessage: cfg.MaxMessage, Sentences: sentences, Log: log,
		Jitter: rand.Float64, Delivered: g.deliverer.Nudge,
	})
	g.clock = schedule.New(schedule.Options{Store: store, Approvals: desk, Retention: cfg.Retention, Expired: g.dispatcher.Nudge, Log: log})
	return g, nil
}

// newAgent compiles the agent that the configuration names.
func newAgent(cfg Config, store core.Store, policy approvals.Policy, tracer graph.Tracer, log *slog.Logger) (*graph.Graph, error) {
	if cfg.Agent == "echo" {
		return agent.Echo(cfg.EchoDelay, tracer)
	}
	tools := tool.NewRegistry(tool.Calc(), tool.Clock(time.Now), tool.NoteAdd(store), tool.NoteList(store))
	return agent.Loop{
		Name: "demo", Model: newModel(), Executor: &tool.Executor{Tools: tools, Log: log}, Policy: policy, NewID: newID,
		ModelRef: "gatehouse/demo", Mask: core.MaskText, Tracer: tracer,
	}.Graph()
}

// newModel makes the agent's model. A variable, so that tests can put one in that asks for several things at once.
var newModel = func() agent.Model { return agent.Demo{} }

// accept commits an event and rings the bell.
func (g *gateway) accept(ctx context.Context, e core.Event) (core.Receipt, error) {
	r, err := g.store.Accept(ctx, e)
	if err == nil && r.Fresh {
		g.dispatcher.Nudge()
	}
	return r, err
}

// Run runs until ctx ends or every platform has ended, then drains: no new turns, those that run are finished or handed back,
// what is ready to be said is said. Its error is the platforms'.
func (g *gateway) Run(ctx context.Context) error {
	hear, stop := context.WithCancel(ctx)
	defer stop()
	speak, hush := context.WithCancel(context.WithoutCancel(ctx))
	defer hush()
	var hearing, serving, working, speaking sync.WaitGroup
	errs := make([]error, len(g.platforms)+1)
	for i, p := range g.platforms {
		hearing.Go(func() {
			if errs[i] = p.Run(hear, g.accept); errs[i] != nil {
				g.log.Error("a platform ended", "platform", p.Name(), "category", core.CategoryOf(errs[i]), "err", errs[i])
			}
		})
	}
	if g.server != nil {
		serving.Go(func() {
			if errs[len(g.platforms)] = g.server.run(hear); errs[len(g.platforms)] != nil {
				stop() // nothing is heard over HTTP any more
			}
		})
	}
	working.Go(func() { _ = g.dispatcher.Run(hear) })  // never fails
	working.Go(func() { _ = g.clock.Run(hear) })       // never fails
	speaking.Go(func() { _ = g.deliverer.Run(speak) }) // never fails
	hearing.Wait()
	stop()
	serving.Wait()
	working.Wait()
	flushed := g.flush(ctx)
	hush()
	speaking.Wait()
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer cancel()
	if err := g.deliverer.Flush(last); err != nil {
		g.log.Warn("not all that was ready could be said; it waits in the outbox", "category", core.CategoryOf(err), "err", err)
	}
	<-flushed
	return errors.Join(errs...)
}

// flush sends the traces that are left, beside the last deliveries. It takes no longer than they may, nor than the drain. Traces that
// are lost are nobody's failure.
func (g *gateway) flush(ctx context.Context) (done <-chan struct{}) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), min(g.drain, flushTime))
		defer cancel()
		if err := g.traces.Close(last); err != nil {
			g.log.Warn("the last traces are lost", "category", core.DeliveryFailed, "err", err)
		}
	}()
	return ended
}

// flushTime is how long the last deliveries of a stopping process may take.
const flushTime = 5 * time.Second
