package console

import (
	"context"
	"time"

	"gatehouse/core"
)

// maxTries and the waits between them are how long a console insists on storing an event: about half a minute.
const (
	maxTries  = 12
	firstWait = 100 * time.Millisecond
	maxWait   = 5 * time.Second
)

// submit refuses an event whose payload is too large, and gives any other to accept until it is stored, and says so where it is
// not. taken says whether it was. The error, if any, is accept's last one.
func (c *Console) submit(ctx context.Context, accept core.Accept, e core.Event) (taken bool, err error) {
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
			c.say("That could not be stored and was not taken; send it again later.")
			return false, core.Wrap(core.CategoryOf(err), err, "A line could not be stored.")
		}
		if bucket != core.RetryableTransient {
			c.say("That was not taken: " + messageFor(err))
			if bucket == core.UserCorrectable {
				return false, nil
			}
			return false, err
		}
		if try == 1 {
			c.say("That could not be stored yet; it is tried again.")
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
	return "an internal fault; the log says more."
}
