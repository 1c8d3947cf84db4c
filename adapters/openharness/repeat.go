package openharness

import (
	"context"
	"strconv"

	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// repeated answers a message whose request_id is known. A failure that was answered as retryable is tried again: a
// Shell repeats the request because it was told so. Anything else is answered as before.
func (c *call) repeated(ctx context.Context, record core.EventRecord) (r wire.Response, err error) {
	last, err := c.last(ctx, record)
	if err != nil {
		return r, err
	}
	if !errored(last) || !retryable(last) {
		return c.outcome(ctx, last, false)
	}
	if err := c.limits.message(c.who); err != nil {
		return r, err
	}
	b := outbound.Button{Action: outbound.ActionRetry, Failed: last.Seq, Conversation: c.mailbox}
	press, _ := c.desk.Press(ctx, b, c.pressOf(b, nil)).(desk.Event)
	return c.press(ctx, press.Event, c.continuation("", mend(actRetry, last.Seq)), false)
}

// again returns the event that tries a failed one again; nil if there is none.
func (c *call) again(ctx context.Context, failed int64) (*core.EventRecord, error) {
	return c.find(ctx, "again/"+strconv.FormatInt(failed, 10))
}

// last returns the event that tried an event again last, or the event itself.
func (c *call) last(ctx context.Context, ev core.EventRecord) (core.EventRecord, error) {
	for {
		again, err := c.again(ctx, ev.Seq)
		if err != nil || again == nil {
			return ev, err
		}
		ev = *again
	}
}

func errored(ev core.EventRecord) bool {
	return ev.End.Kind == core.EndErrored || ev.End.Kind == core.EndDead
}

// bucketOf is what the person was told of a failure. A turn that was given up, since it ended its process again and
// again, is not tried again by who sent it.
func bucketOf(ev core.EventRecord) core.Bucket {
	if ev.End.Kind == core.EndDead {
		return core.SessionTerminating
	}
	return core.BucketOf(ev.End.Category)
}

// retryable reports whether an event that failed may succeed later. A turn that was resumed has ended with its failure.
func retryable(ev core.EventRecord) bool {
	return bucketOf(ev) == core.RetryableTransient && ev.Kind() != core.KindSignal
}
