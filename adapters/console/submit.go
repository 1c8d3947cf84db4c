package console

import (
	"context"
	"time"

	"gatehouse/core"
)

// Storing an event is tried for about half a minute.
const (
	maxTries  = 12
	firstWait = 100 * time.Millisecond
	maxWait   = 5 * time.Second
)

// submit passes an event to accept until it is stored. It refuses an event whose payload is too large, and tells the person where an
// event is not stored. The error is accept's last one.
func (c *Console) submit(ctx context.Context, accept core.Accept, e core.Event) (stored bool, err error) {
	if len(e.Payload) > c.opt.MaxMessage {
		c.say(messageTooLarge(c.opt.MaxMessage).Message)
		return false, nil
	}
	wait := firstWait
	for try := 1; ; try++ {
		_, err := accept(ctx, e)
		if err == nil {
			return true, nil
		}
		bucket := core.BucketOf(core.CategoryOf(err))
		if ctx.Err() != nil || bucket == core.RetryableTransient && try == maxTries {
			c.say("Your message could not be stored. Please send it again later.")
			return false, core.Wrap(core.CategoryOf(err), err, "Can't store a line of the input.")
		}
		if bucket != core.RetryableTransient {
			c.say("Your message was not accepted: " + messageFor(err))
			if bucket == core.UserCorrectable {
				return false, nil
			}
			return false, err
		}
		if try == 1 {
			c.say("Your message could not be stored yet. Trying again.")
		}
		c.opt.Log.Warn("storing an event", "platform", Name, "event", e.ID, "category", core.CategoryOf(err), "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
		wait = min(2*wait, maxWait)
	}
}

func messageFor(err error) string {
	if s := core.MessageOf(err); s != "" {
		return s
	}
	return "internal error, see the log."
}
