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

// tellTurn sends the event turn, unless the client knows.
func (f *feed) tellTurn(ctx context.Context, s *sender) error {
	now, err := f.running(ctx)
	if err != nil || f.told != nil && *f.told == now {
		return err
	}
	f.told = &now
	data, _ := json.Marshal(now) // of a time: can't fail
	return s.write("%sevent: turn\ndata: %s\n\n", f.head, data)
}
