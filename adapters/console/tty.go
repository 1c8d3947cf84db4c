package console

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"

	"gatehouse/core"
)

// prompt runs the console with a prompt. The terminal is restored in every case.
func (c *Console) prompt(ctx context.Context) error {
	restore, err := rawMode(c.opt.In)
	var e *editor
	if err == nil {
		e, err = newEditor(c, newKeys(ctx, c.opt.In, c.opt.MaxMessage), c.look().prompt("", ""))
	}
	if err != nil {
		return core.Wrap(core.Invalid, errors.Join(err, restore()),
			"Can't set up the terminal for a prompt. Pipe the lines in instead.")
	}
	c.mu.Lock()
	c.editor = e
	_, _ = io.WriteString(c.opt.Out, pasteMarks) // a terminal without them pastes as if it were typed
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.editor = nil
		e.close()
		_, _ = io.WriteString(c.opt.Out, noPasteMarks+"\r\n") // a terminal that has gone away needs no new line
		c.mu.Unlock()
		if err := restore(); err != nil {
			c.opt.Log.Warn("restoring the terminal", "platform", Name, "err", err)
		}
		c.remindOpen()
	}()
	c.greet(ctx)
	if err := c.showOpen(ctx); err != nil {
		return err
	}
	return c.promptLoop(ctx, e)
}

// What tells a terminal to mark pastes, and not to mark them any more.
const (
	pasteMarks   = "\x1b[?2004h"
	noPasteMarks = "\x1b[?2004l"
)

// promptLoop processes lines and draws the spinner.
func (c *Console) promptLoop(ctx context.Context, e *editor) error {
	resized, stop := c.resizes()
	defer stop()
	_, unwatch := c.opt.Live.Watch(c.conversation) // the spinner looks at each of its frames
	defer unwatch()
	lines := inputs(ctx, e.read)
	spin := spinner{c: c, clock: time.NewTicker(frameTime)}
	spin.clock.Stop()
	defer spin.clock.Stop()
	for again := false; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-resized:
			e.resize()
		case <-c.workingChanged:
			spin.update()
		case <-spin.clock.C:
			spin.advance(ctx)
		case l := <-lines:
			if l.err != nil || leaves(l) || l.interrupt && again {
				return readError(l.err)
			}
			if again = l.interrupt; again {
				if c.interrupt(ctx, l.typed) {
					return nil
				}
				continue
			}
			err := c.handle(ctx, l)
			if err != nil && core.BucketOf(core.CategoryOf(err)) != core.RetryableTransient {
				return err
			}
		}
	}
}

// resizes signals that the terminal's size has changed. What is not a terminal has no size.
func (c *Console) resizes() (resized chan os.Signal, stop func()) {
	if !IsTerminal(c.opt.Out) {
		return nil, func() {}
	}
	resized = make(chan os.Signal, 1)
	signal.Notify(resized, syscall.SIGWINCH)
	return resized, func() { signal.Stop(resized) }
}

// interrupt acts on the first Ctrl-C: it stops the running turn. Without one it only discards what was typed, and
// leaves if that is nothing.
func (c *Console) interrupt(ctx context.Context, typed bool) (leave bool) {
	if idle, err := c.opt.Work.Idle(ctx); err == nil && idle {
		return !typed
	}
	c.say("Stopping the running turn. Ctrl-C again leaves the chat.")
	_ = c.submit(ctx, c.event(input{text: "/stop"})) // it says what is wrong
	return false
}

// readError is nil for Ctrl-C, Ctrl-D and a terminal that has gone away.
func readError(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.As(err, new(*os.PathError)) {
		return nil
	}
	return core.Wrap(core.Invalid, err, "Can't read the terminal.")
}

// redraw draws the prompt again, with the spinner as it is now or without.
func (c *Console) redraw(spinner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spinner = spinner
	c.repaint()
}

// repaint draws the prompt in its current state. The caller holds mu.
func (c *Console) repaint() {
	if c.editor != nil {
		a := c.current()
		_, asks := a.asks()
		switch which := c.shortID(a); {
		case asks != "" && a.card.Question == nil && len(c.openApprovals()) > 1:
			asks += " ID" // an answer has to name one
		case asks != "" && which != "":
			asks += " to " + which
		}
		c.editor.setPrompt(c.look().prompt(c.spinner, asks))
	}
}

// rawMode passes single keys to the line editor, if in is a terminal.
func rawMode(in io.Reader) (restore func() error, err error) {
	restore = func() error { return nil }
	if !IsTerminal(in) {
		return restore, nil
	}
	fd := int(in.(*os.File).Fd())
	state, err := term.MakeRaw(fd)
	if err == nil {
		restore = func() error { return term.Restore(fd, state) }
	}
	return restore, err
}

// DiscardInput discards what was typed at a terminal and not read yet, so that the shell does not take it for commands.
// Call it as the last thing before the process ends. It does nothing where in is no terminal.
func DiscardInput(in any) {
	if IsTerminal(in) {
		_ = flushInput(int(in.(*os.File).Fd())) // the terminal has gone away
	}
}
