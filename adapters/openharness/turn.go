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
	Since time.Time `json:"since,omitzero"`
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
			t.Since = ev.AcceptedAt.UTC()
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
