// Package product runs the turns of a case through the gateway's own parts. Each turn is an event that is accepted into
// SQLite, claimed and finished by the dispatcher, decided by the approvals, and delivered by the outbox to a platform.
// What it reports of a turn is read from the database and from what the platform received.
package product

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"gatehouse/approvals"
	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/dispatch"
	"gatehouse/core/graph"
	"gatehouse/core/outbox"
	"gatehouse/storage/sqlite"
)

// Gateway is a running gateway over one graph.
type Gateway struct {
	store     *faulty
	platform  *platform
	dispatch  *dispatch.Dispatcher
	deliver   *outbox.Deliverer
	stop      func()
	events    int
	requester core.Actor
	approver  core.Actor
}

// Start opens a new database and starts the dispatcher. The recorder starts again with each attempt of a turn; faults
// are what the database refuses.
func Start(
	ctx context.Context, over *graph.Graph, recorder *evidence.Recorder, faults evidence.Faults,
) (*Gateway, error) {
	folder, err := os.MkdirTemp("", "conformance")
	if err != nil {
		return nil, err
	}
	store, err := sqlite.Open(ctx, filepath.Join(folder, "conformance.db"), sqlite.Options{})
	if err != nil {
		return nil, err
	}
	owner, err := store.Register(ctx, "conformance", 0)
	if err != nil {
		return nil, fmt.Errorf("registering: %w", err)
	}
	g := &Gateway{
		store: &faulty{Store: store, faults: faults}, platform: &platform{},
		requester: core.Actor{ID: name + ":requester"}, approver: core.Actor{ID: name + ":approver"},
	}
	harness, err := chat.New(chat.Options{Graph: over, Wrap: func(s graph.Stores) graph.Stores {
		recorder.Take()
		recorded := &evidence.Store{Sessions: s.Sessions, Pauses: s.Pauses, Recorder: recorder}
		return graph.Stores{Sessions: recorded, Pauses: recorded}
	}})
	if err != nil {
		return nil, err
	}
	service := &askingService{approvals.NewService(store, store), g.approver}
	g.deliver = outbox.New(
		outbox.Options{Store: store, Cards: service, Platforms: []core.Platform{g.platform}, Owner: owner})
	g.dispatch = dispatch.New(dispatch.Options{
		Store: g.store, Approvals: service, Outbox: g.deliver,
		Platforms: []core.Platform{g.platform}, Owner: owner,
		Jitter:  func() float64 { return -1 }, // a turn that is retried is due again at once
		Poll:    20 * time.Millisecond,
		Harness: harness,
	})
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { _ = g.dispatch.Run(ctx) }) // never fails
	g.stop = func() {
		cancel()
		running.Wait()
		_ = store.Close()
		_ = os.RemoveAll(folder)
	}
	return g, nil
}

// Close stops the dispatcher and removes the database.
func (g *Gateway) Close() { g.stop() }

// Ended is how a turn ended.
type Ended struct {
	Event     core.EventRecord
	Messages  []core.Message     // that the turn stored
	Delivered []core.Delivery    // that the platform was sent for it
	Approvals []core.Approval    // that wait for a decision of its invocation
	Paused    *core.PausedRecord // that waits
}

// Session returns the session of a conversation.
func (g *Gateway) Session(conversation core.SessionID) core.SessionID {
	return conversationID(conversation).Session(1)
}

func conversationID(id core.SessionID) core.ConversationID {
	return core.ConversationID(name + ":" + string(id))
}

// Send sends a message to a conversation and waits for the end of its turn.
func (g *Gateway) Send(ctx context.Context, conversation core.SessionID, m core.Message) (Ended, error) {
	e, err := g.run(ctx, conversationID(conversation), core.MessageEvent{}, g.requester, m)
	return g.ended(ctx, e, err)
}

// Signal resumes a paused turn: an approver approves it by a click, and the resulting signal carries the payload. A
// signal for which nothing waits is an event of its own.
func (g *Gateway) Signal(ctx context.Context, s chat.Signal, waiting *core.PausedRecord) (Ended, error) {
	if waiting == nil {
		body := core.SignalEvent{Approval: core.ApprovalID(s.SignalID)}
		e, err := g.run(ctx, conversationID("unknown"), body, g.approver,
			core.SignalPayload{SignalID: s.SignalID, Invocation: s.Invocation})
		return g.ended(ctx, e, err)
	}
	id := core.ApprovalID(waiting.Descriptor.SignalID)
	a, err := g.store.LoadApproval(ctx, id)
	if err != nil {
		return Ended{}, err
	}
	g.store.carry(waiting.Invocation, s.Payload)
	click, err := g.run(ctx, a.Conversation, core.ClickEvent{Approval: id}, g.approver,
		core.Click{Approval: id, Choice: core.Approve})
	if err != nil || click.End.Kind != core.EndDecided {
		return Ended{}, fmt.Errorf("the click ended as %+v: %w", click.End, err)
	}
	e, err := g.await(ctx, core.EventFilter{Invocation: waiting.Invocation})
	return g.ended(ctx, e, err)
}

// run accepts an event and waits until it has ended.
func (g *Gateway) run(
	ctx context.Context, to core.ConversationID, body core.EventBody, who core.Actor, payload any,
) (core.EventRecord, error) {
	data, err := json.Marshal(payload)
	if err != nil {
		return core.EventRecord{}, err
	}
	g.events++
	r, err := g.store.Accept(ctx, core.Event{
		Platform: name, ID: fmt.Sprint(g.events), Conversation: to, Body: body, Actor: who, Payload: data,
		Address: core.Address{Platform: name, Channel: string(to)},
	})
	if err != nil {
		return core.EventRecord{}, err
	}
	g.dispatch.Nudge()
	return g.await(ctx, core.EventFilter{Seq: r.Seq})
}

// await waits until the latest event that the filter matches has ended.
func (g *Gateway) await(ctx context.Context, f core.EventFilter) (core.EventRecord, error) {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	f.Limit = 1
	for {
		events, err := g.store.Events(ctx, f)
		if err != nil {
			return core.EventRecord{}, err
		}
		if len(events) == 1 && !events[0].EndedAt.IsZero() {
			return events[0], nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return core.EventRecord{}, fmt.Errorf("the turn did not end: %w", context.Cause(ctx))
		}
	}
}

// ended delivers the posts of an event and reads how it ended; err is the one of waiting for it.
func (g *Gateway) ended(ctx context.Context, e core.EventRecord, err error) (out Ended, _ error) {
	if err != nil {
		return out, err
	}
	out.Event = e
	if err = g.deliver.Flush(ctx); err != nil {
		return out, err
	}
	out.Delivered = g.platform.take()
	if out.Paused, err = g.store.LoadPaused(ctx, e.Invocation, ""); err != nil {
		return out, err
	}
	if out.Messages, err = g.store.InvocationMessages(ctx, e.Session, e.Invocation); err != nil {
		return out, err
	}
	out.Approvals, err = g.store.ListApprovals(ctx,
		core.ApprovalFilter{Invocation: e.Invocation, States: []core.ApprovalState{core.Open}})
	return out, err
}
