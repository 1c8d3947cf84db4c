package openharness

import (
	"context"

	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// press stores the press of a button, which is one event however often it is pressed, and answers what it led to: for a message that is tried
// again, or asked again, what became of that.
func (c *call) press(ctx context.Context, ev core.Event) (wire.Response, error) {
	pressed, done, err := c.pressed(ctx, ev)
	if err != nil {
		return wire.Response{}, err
	}
	if !done { // the same button is one press, however often
		return c.pending(map[string]any{"run_id": c.request.Continuation.Run, "continuation_token": c.request.Continuation.Token}), nil
	}
	again, err := c.after(ctx, pressed)
	switch {
	case err != nil:
		return wire.Response{}, err
	case again != nil && pressed.End.Kind == core.EndDecided:
		pressed = *again
	}
	return c.outcome(ctx, pressed, true)
}

// pressed stores the press of a button and waits until it has been processed.
func (c *call) pressed(ctx context.Context, ev core.Event) (pressed core.EventRecord, done bool, err error) {
	if _, err := c.accept(ctx, ev); err != nil {
		return core.EventRecord{}, false, err
	}
	known, err := c.find(ctx, ev.ID)
	if err != nil || known == nil {
		return core.EventRecord{}, false, core.Wrap(core.StoreBusy, err, "The press of a button was stored, but can't be read now.")
	}
	done, err = c.await(func() (bool, error) { return c.delivered(ctx, known) })
	return *known, done, err
}

// after returns the message that was sent once more because of a press; nil if there is none.
func (c *call) after(ctx context.Context, pressed core.EventRecord) (*core.EventRecord, error) {
	switch b := pressed.Body.(type) {
	case core.RetryEvent:
		return c.again(ctx, b.Failed)
	case core.AskAgainEvent:
		return c.find(ctx, "asked_again/"+string(b.Approval))
	}
	return nil, nil
}
