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

const (
	frameTime  = 120 * time.Millisecond
	frames     = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
	idleEvery  = 16 // frames between two checks whether the conversation is idle
	idleChecks = 2  // idle reports in a row that end the spinner
)

// prompt runs the console with a prompt. The terminal is restored in every case.
func (c *Console) prompt(ctx context.Context) error {
	restore, err := rawMode(c.opt.In)
	var e *editor
	if err == nil {
		e, err = newEditor(c, newKeys(ctx, c.opt.In, c.opt.MaxMessage), c.style.prompt("", "", ""))
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

// redraw draws the prompt again, with a frame of the spinner or without.
func (c *Console) redraw(frame string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spinnerFrame = frame
	c.repaint()
}

// repaint draws the prompt in its current state. The caller holds mu.
func (c *Console) repaint() {
	if c.editor != nil {
		a := c.current()
		_, asks := a.asks()
		c.editor.setPrompt(c.style.prompt(c.spinnerFrame, asks, c.shortID(a)))
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

// spinner is drawn before the prompt while the bot works. It always ends: every post ends it, and so do two reports of
// Options.Work in a row that the conversation is idle.
type spinner struct {
	c     *Console
	clock *time.Ticker // stopped while nothing is drawn
	count int
	idle  int
}

// update starts or stops the clock according to the console's working state.
func (s *spinner) update() {
	s.c.mu.Lock()
	on := s.c.working
	s.c.mu.Unlock()
	if on {
		s.count, s.idle = 0, 0
		s.clock.Reset(frameTime)
		return
	}
	s.clock.Stop()
	s.c.redraw("")
}

// advance draws the next frame.
func (s *spinner) advance(ctx context.Context) {
	s.count++
	if s.count%idleEvery == 0 {
		s.idle++
		if idle, err := s.c.opt.Work.Idle(ctx); err != nil || !idle {
			s.idle = 0
		}
		if s.idle >= idleChecks {
			s.c.setWorking(false)
			return
		}
	}
	all := []rune(frames)
	s.c.redraw(string(all[s.count%len(all)]))
}
