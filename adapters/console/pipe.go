package console

import (
	"context"
	"errors"
	"io"
	"time"

	"gatehouse/core"
)

const (
	quietPoll  = 25 * time.Millisecond
	quietTries = 400 // failures in a row, about ten seconds of them, before the console gives up
)

// pipe takes one line after the other.
func (c *Console) pipe(ctx context.Context, accept core.Accept) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &piped{Console: c, accept: accept, lines: readLines(ctx, c.opt.In, c.opt.MaxMessage)}
	if err := c.showOpen(ctx); err != nil {
		return err
	}
	for wait := true; ; {
		if wait {
			if err := p.quiet(ctx); err != nil {
				return err
			}
		}
		l, err := p.next(ctx)
		if err != nil {
			return err
		}
		if word, _ := controlWord(l.text); word == wordQuit {
			l.err = io.EOF
		}
		if l.err != nil {
			return p.end(ctx, l.err)
		}
		if _, err := c.take(ctx, accept, l); err != nil {
			return err
		}
		wait = !overtakes(l.text)
	}
}

// piped is a console reading a pipe.
type piped struct {
	*Console
	accept core.Accept
	lines  <-chan input
	held   *input // came while a turn ran; its time is later
}

func (p *piped) next(ctx context.Context) (input, error) {
	if l := p.held; l != nil {
		p.held = nil
		return *l, nil
	}
	select {
	case l := <-p.lines:
		return l, nil
	case <-ctx.Done():
		return input{}, ctx.Err()
	}
}

// quiet waits until the conversation has nothing left to do. Controls that come meanwhile are taken at once.
func (p *piped) quiet(ctx context.Context) error {
	tick := time.NewTicker(quietPoll)
	defer tick.Stop()
	for failures := 0; ; {
		quiet, err := p.opt.Quiet(ctx)
		switch {
		case err == nil && quiet:
			return nil
		case err == nil:
			failures = 0
		default:
			if failures++; failures == quietTries {
				return core.Wrap(core.CategoryOf(err), err, "The state of the conversation could not be read.")
			}
		}
		lines := p.lines
		if p.held != nil {
			lines = nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		case l := <-lines:
			if !overtakes(l.text) {
				p.held = &l
			} else if _, err := p.take(ctx, p.accept, l); err != nil {
				return err
			}
		}
	}
}

// end waits for the last answer.
func (p *piped) end(ctx context.Context, cause error) error {
	if err := p.quiet(ctx); err != nil {
		return err
	}
	p.hint()
	if !errors.Is(cause, io.EOF) {
		return core.Wrap(core.Invalid, cause, "The input could not be read to its end.")
	}
	return nil
}

// take stores one line as what it is: an answer to a card, a control, or a message.
func (c *Console) take(ctx context.Context, accept core.Accept, l input) (bool, error) {
	if l.long {
		c.say(tooLong(c.opt.MaxMessage).Message)
		return false, nil
	}
	if l.pasted {
		return c.hand(ctx, accept, c.event(c.opt.NewID(), core.MessageEvent{}, textPayload{l.text}))
	}
	choice, reason, ok := answer(l.text)
	if !ok {
		return c.hand(ctx, accept, c.typed(l.text))
	}
	id, stands := c.answered(l.aim)
	switch {
	case id == "":
		return c.hand(ctx, accept, c.typed(l.text))
	case !stands:
		c.say("That approval was decided meanwhile; your answer was not used.")
		return false, nil
	}
	taken, err := c.hand(ctx, accept, c.click(id, choice, reason))
	if taken {
		c.markAnswered(id)
	}
	return taken, err
}
