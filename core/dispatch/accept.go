package dispatch

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"gatehouse/core"
	"gatehouse/core/inflight"
)

// accepting is what Accept needs to begin turns by itself.
type accepting struct {
	behind atomic.Bool // the last look for work found as much as there was room for, so that more may wait

	mu      sync.Mutex
	turns   context.Context // of turns; nil while none may begin
	running *sync.WaitGroup
}

func (a *accepting) begin(turns context.Context, running *sync.WaitGroup) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns, a.running = turns, running
}

func (a *accepting) end() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turns = nil
}

// enter keeps Run from returning until leave is called; ctx is nil if no turn may begin any more.
func (a *accepting) enter() (ctx context.Context, leave func()) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turns == nil {
		return nil, nil
	}
	a.running.Add(1)
	return a.turns, a.running.Done
}

// Accept stores an event, as Store.Accept does. If it can, it claims it in the same transaction and begins its turn: if
// a worker is free, and neither its own conversation nor others wait. Errors: those of Store.Accept.
func (d *Dispatcher) Accept(ctx context.Context, e core.Event) (core.Receipt, error) {
	r, begun, err := d.acceptNow(ctx, e)
	if err == nil && r.Fresh && !begun {
		if e.QueueKey() == e.Conversation.Queue() {
			d.turns.nudge()
		} else {
			d.controls.nudge()
		}
	}
	return r, err
}

func (d *Dispatcher) acceptNow(ctx context.Context, e core.Event) (r core.Receipt, begun bool, err error) {
	turns, hold, leave := d.admit(e)
	if turns == nil {
		r, err = d.Store.Accept(ctx, e)
		return r, false, err
	}
	r, claim, err := d.Store.AcceptClaim(ctx, e, d.Owner)
	if err != nil || claim == nil {
		hold.Release()
		leave()
		return r, false, err
	}
	go func() {
		t := newTurn(d, *claim, hold)
		t.take(turns)
		leave()
		t.ended(false)
	}()
	return r, true, nil
}

// admit takes a slot and the memory for the turn of an event, if one could begin now; leave gives the slot back. turns
// is the context of the turn, nil if none may begin.
func (d *Dispatcher) admit(e core.Event) (turns context.Context, hold *inflight.Hold, leave func()) {
	if e.QueueKey() != e.Conversation.Queue() || d.accepting.behind.Load() || !d.serves(e) {
		return nil, nil, nil
	}
	turns, end := d.accepting.enter()
	if turns == nil {
		return nil, nil, nil
	}
	if !d.slots.tryTake() {
		end()
		return nil, nil, nil
	}
	hold, ok := d.holdFor(core.EventRecord{Event: e}, int64(len(e.Payload)))
	if !ok {
		d.slots.free(1)
		end()
		return nil, nil, nil
	}
	return turns, hold, func() {
		d.slots.free(1)
		end()
	}
}

// serves reports whether the dispatcher runs the turns of an event.
func (d *Dispatcher) serves(e core.Event) bool {
	return slices.ContainsFunc(d.scopes, func(s core.Scope) bool {
		return s.Platform == e.Platform && (s.Conversations == nil || slices.Contains(s.Conversations, e.Conversation))
	})
}
