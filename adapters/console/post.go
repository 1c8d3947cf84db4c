package console

import (
	"context"

	"gatehouse/core"
)

// Post prints. A terminal takes any length, so there is one part; its ref is the post's key.
func (c *Console) Post(_ context.Context, d core.Delivery) (core.Ref, bool, error) {
	if d.Kind == core.PostWorking {
		c.setWorking(d.On)
		return "", false, nil
	}
	if err := c.draw(d); err != nil {
		return "", false, err
	}
	if d.Key == "" {
		return core.Ref("printed/" + c.opt.NewID()), false, nil
	}
	return core.Ref("printed/" + d.Key), false, nil
}

// Edit prints what has changed; what stands above stays.
func (c *Console) Edit(_ context.Context, _ core.Ref, d core.Delivery) error { return c.draw(d) }

// Find finds nothing: a terminal can't be read back, so what is in doubt is printed again.
func (c *Console) Find(context.Context, core.Delivery) (core.Found, error) { return core.Found{}, nil }

func (c *Console) draw(d core.Delivery) error {
	if d.Kind == core.PostSteps {
		return nil // the spinner says enough
	}
	c.setWorking(false) // whatever is said, the person may speak again
	if d.Kind == core.PostCard {
		if d.Card == nil {
			return core.Errorf(core.Internal, "The approval's card came without its data.")
		}
		return c.showCard(*d.Card, d.Late)
	}
	text := d.Text
	if d.Late {
		text = "(late) " + text
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.print(c.style.bot(text))
}

func (c *Console) setWorking(on bool) {
	c.mu.Lock()
	changed := c.working != on
	c.working = on
	c.mu.Unlock()
	if !changed {
		return
	}
	select {
	case c.worked <- struct{}{}:
	default: // it will be looked at anyway
	}
}
