package openharness

import (
	"context"
	"encoding/json"
	"time"

	"gatehouse/core"
)

// turn is what a stream's event turn says: since when a turn of the conversation runs, whichever process runs it. It is
// zero while none does. Such an event has no id: it is about now, and is not kept.
type turn struct {
	Since   time.Time `json:"since,omitzero"`
	RetryAt time.Time `json:"retry_at,omitzero"` // it failed, and is tried again then
}

// running reads since when a turn runs: the time at which what it answers arrived. A turn that waits to be tried again
// runs; a message that waits for its turn does not.
func (c *call) running(ctx context.Context) (t turn, err error) {
	f := core.EventFilter{
		Conversation: c.mailbox, Waiting: true, Kinds: []core.Kind{core.KindMessage, core.KindSignal}, Bare: true,
	}
	waiting, err := c.Store.Events(ctx, f)
	for _, ev := range waiting { // the latest first
		if ev.Attempt > 0 || ev.Retries > 0 {
			t = turn{Since: ev.AcceptedAt.UTC()}
			if ev.Retries > 0 && ev.NotBefore.After(c.Now()) {
				t.RetryAt = ev.NotBefore.UTC()
			}
		}
	}
	return t, err
}

// tellTurn sends the event turn of a session to a client that wants more than what is kept, unless it knows.
func (f *following) tellTurn(ctx context.Context, of *feed) error {
	if !f.beats {
		return nil
	}
	now, err := of.running(ctx)
	if err != nil || of.told != nil && *of.told == now {
		return err
	}
	of.told = &now
	data, _ := json.Marshal(now) // of a time: can't fail
	return f.write("%sevent: turn\ndata: %s\n\n", of.head, data)
}

// Between two events delta of a stream: at least betweenDeltas, and a second for so many bytes.
const (
	betweenDeltas = 100 * time.Millisecond
	deltaBytes    = 80 << 10
)

// deltas wakes a stream that shows what turns say while they run. What changes between two events is in the later one,
// so a client that is slow, and a turn that is fast, cost nothing but what lies between.
type deltas struct {
	changed <-chan struct{}  // of the hub; nil while an event is due already
	hub     <-chan struct{}  // the same, always
	due     <-chan time.Time // nil: no event is due
	next    time.Time        // when the next event may be sent
}

// newDeltas follows the turns of some sessions; nobody follows them for a client that does not ask for it.
func (f *following) newDeltas(of []core.ConversationID) (d *deltas, end func()) {
	if !f.deltas {
		return &deltas{}, func() {}
	}
	changed, end := f.Live.Watch(of...)
	return &deltas{changed: changed, hub: changed}, end
}

// delay has the change be told as soon as the pace allows.
func (d *deltas) delay() { d.changed, d.due = nil, time.After(time.Until(d.next)) }

// tell sends the event delta of each session whose turn shows something new.
func (f *following) tell(d *deltas) error {
	d.changed, d.due = d.hub, nil
	if !f.deltas {
		return nil
	}
	sent := 0
	for _, one := range f.feeds {
		state, runs := f.Live.State(one.mailbox)
		data := one.shown.Draw(state, runs)
		if data == nil {
			continue
		}
		if err := f.write("%sevent: delta\ndata: %s\n\n", one.head, data); err != nil {
			return err
		}
		sent += len(data)
	}
	d.next = time.Now().Add(max(betweenDeltas, time.Duration(sent)*time.Second/deltaBytes))
	return nil
}
