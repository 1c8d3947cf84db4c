package console

import (
	"context"
	"time"

	"gatehouse/core"
)

// Post prints a post. A terminal accepts any length, so there is one part; its ref is the post's key.
func (c *Console) Post(_ context.Context, d core.Delivery) (core.Ref, bool, error) {
	if d.Kind == core.PostWorking {
		c.setWorking(d.On)
		return "", false, nil
	}
	if err := c.deliver(d); err != nil {
		return "", false, err
	}
	if d.Key == "" {
		d.Key = c.opt.NewID()
	}
	return core.Ref("printed/" + d.Key), false, nil
}

// Edit prints the new state; what was printed before stays.
func (c *Console) Edit(_ context.Context, _ core.Ref, d core.Delivery) error {
	d.Occasion = "" // a reminder is not repeated
	return c.deliver(d)
}

// Find finds nothing: a terminal can't be read back, so a post in doubt is printed again.
func (c *Console) Find(context.Context, core.Delivery) (core.Found, error) { return core.Found{}, nil }

func (c *Console) deliver(d core.Delivery) error {
	if d.Kind != core.PostSteps {
		c.setWorking(false) // any other post ends the work that the spinner shows
	} else if d.Until.IsZero() {
		c.setDoing(d.Text)
		return nil // the spinner says it
	}
	switch d.Kind {
	case core.PostCard:
		if d.Card == nil {
			return core.Errorf(core.Internal, "The card of an approval has no data.")
		}
		return c.showCard(d)
	case core.PostPrivate:
		c.reopenAnswered()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.print(c.look().post(d))
}

func (c *Console) setWorking(on bool) {
	c.mu.Lock()
	changed := c.working != on
	if c.working = on; changed {
		c.doing = doing{since: time.Now()}
	}
	c.mu.Unlock()
	if !changed {
		return
	}
	select {
	case c.workingChanged <- struct{}{}:
	default: // a signal is pending already
	}
}

// setDoing notes the tools that a turn has used so far.
func (c *Console) setDoing(tools string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if tools != c.doing.what {
		c.doing = doing{tools, time.Now()}
	}
}
