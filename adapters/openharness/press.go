package openharness

import (
	"context"

	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// press stores the press of a button, which is one event however often it is pressed, and answers what it led to: for a
// message that is tried again, or asked again, what became of that; see outcome for alone. The answer to a press that
// goes on has the continuation status.
func (c *call) press(
	ctx context.Context, ev core.Event, status map[string]any, alone bool,
) (r wire.Response, err error) {
	pressed, err := c.stored(ctx, ev)
	if err != nil {
		return r, err
	}
	done, err := c.await(func() (bool, error) { return c.delivered(ctx, &pressed) })
	if err != nil {
		return r, err
	}
	if !done {
		return c.pending(status), nil
	}
	again, err := c.after(ctx, pressed)
	switch {
	case err != nil:
		return r, err
	case again != nil && pressed.End.Kind == core.EndDecided:
		return c.outcome(ctx, *again, alone)
	}
	return c.outcome(ctx, pressed, true)
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
