package adaptertest

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"gatehouse/core"
)

// Inbox takes the place of the store for a platform under test: it accepts events and keeps them in memory.
type Inbox struct {
	sync.Mutex                       // guards the fields below
	Stored     map[string]core.Event // by their id
	Order      []string              // the ids of the stored events, in order
	Tried      []core.Event          // all events that were passed to Accept, including those that failed

	t       testing.TB
	ctx     func() context.Context
	state   func() string
	gate    func(context.Context, core.Event) error
	changed chan struct{}
}

// NewInbox returns an empty inbox. Each of its waits calls ctx and ends with that context. state describes the current
// state when a wait fails.
func NewInbox(t testing.TB, ctx func() context.Context, state func() string) *Inbox {
	return &Inbox{Stored: map[string]core.Event{}, t: t, ctx: ctx, state: state, changed: make(chan struct{})}
}

// Accept stores an event, unless the gate refuses it.
func (b *Inbox) Accept(ctx context.Context, e core.Event) (core.Receipt, error) {
	b.Lock()
	gate := b.gate
	b.Tried = append(b.Tried, e)
	b.wake()
	b.Unlock()
	if gate != nil {
		if err := gate(ctx, e); err != nil {
			return core.Receipt{}, err
		}
	}
	b.Lock()
	defer b.Unlock()
	_, known := b.Stored[e.ID]
	if !known {
		b.Stored[e.ID] = e
		b.Order = append(b.Order, e.ID)
	}
	b.wake()
	return core.Receipt{Seq: int64(len(b.Stored)), Fresh: !known}, nil
}

// wake wakes the waiting goroutines because an event arrived. The caller holds the lock.
func (b *Inbox) wake() {
	close(b.changed)
	b.changed = make(chan struct{})
}

// Gate sets a function that decides about each event: nil stores it, an error refuses it.
func (b *Inbox) Gate(gate func(context.Context, core.Event) error) {
	b.Lock()
	defer b.Unlock()
	b.gate = gate
}

// Hold keeps events waiting in Accept until open is closed: all of them, or those for which which returns true.
func (b *Inbox) Hold(open <-chan struct{}, which func(core.Event) bool) {
	b.Gate(func(ctx context.Context, e core.Event) error {
		if which != nil && !which(e) {
			return nil
		}
		select {
		case <-open:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// WaitFor waits until holds returns true. It is called under the lock, again after each event.
func (b *Inbox) WaitFor(what string, holds func() bool) {
	b.t.Helper()
	ctx := b.ctx()
	for {
		b.Lock()
		changed, ok := b.changed, holds()
		b.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			b.t.Fatalf("%s did not come; %s", what, b.state())
		}
	}
}

// Event waits for the event with an id.
func (b *Inbox) Event(id string) core.Event {
	b.t.Helper()
	var e core.Event
	b.WaitFor("the event "+id, func() (ok bool) {
		e, ok = b.Stored[id]
		return ok
	})
	return e
}

// IDs returns the ids of the stored events, in order.
func (b *Inbox) IDs() []string {
	b.Lock()
	defer b.Unlock()
	return slices.Clone(b.Order)
}

// Take empties the inbox and returns the stored events.
func (b *Inbox) Take() map[string]core.Event {
	b.Lock()
	defer b.Unlock()
	stored := b.Stored
	b.Stored, b.Order, b.Tried = map[string]core.Event{}, nil, nil
	return stored
}

// Tries counts the events that were passed to Accept.
func (b *Inbox) Tries() int {
	b.Lock()
	defer b.Unlock()
	return len(b.Tried)
}

// Eventually polls until holds returns true, for conditions that no event signals.
func (b *Inbox) Eventually(what string, holds func() bool) {
	b.t.Helper()
	if err := Poll(b.ctx(), holds); err != nil {
		b.t.Fatalf("%s did not come; %s", what, b.state())
	}
}

// Healthy waits until the platform receives events and can send.
func (b *Inbox) Healthy(p core.Health) {
	b.t.Helper()
	b.Eventually("a healthy platform", func() bool {
		inbound, outbound := p.Health()
		return inbound == nil && outbound == nil
	})
}

// Poll calls holds until it returns true or the context ends.
func Poll(ctx context.Context, holds func() bool) error {
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// Message returns the message that a platform's Parse makes of an event.
func Message(t testing.TB, p core.Platform, e core.Event) core.Message {
	t.Helper()
	in, err := p.Parse(t.Context(), e)
	if err != nil || in.Message == nil {
		t.Fatalf("Parse of %s gave %+v, %v; want a message", e.Payload, in, err)
	}
	return *in.Message
}

// Click returns the click that is the payload of a decision's event.
func Click(t testing.TB, e core.Event) core.Click {
	t.Helper()
	c, err := core.ClickOf(e)
	if err != nil {
		t.Fatalf("the payload %s is no click: %v", e.Payload, err)
	}
	return c
}
