package console

import (
	"context"
	"errors"
	"io"
	"os"
	"strings"
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
func (c *Console) prompt(ctx context.Context, accept core.Accept) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	restore, err := rawMode(c.opt.In)
	if err != nil {
		return err
	}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{c.opt.In, c.opt.Out}, c.style.prompt("", false, ""))
	c.mu.Lock()
	c.term = t
	c.resize()
	c.mu.Unlock()
	t.SetBracketedPasteMode(true)
	defer func() {
		c.mu.Lock()
		c.term = nil
		t.SetBracketedPasteMode(false)
		_, _ = io.WriteString(c.opt.Out, "\r\n") // a terminal that has gone away needs no new line
		c.mu.Unlock()
		if err := restore(); err != nil {
			c.opt.Log.Warn("restoring the terminal", "platform", Name, "err", err)
		}
		c.remindOpen()
	}()
	if err := c.showOpen(ctx); err != nil {
		return err
	}
	return c.promptLoop(ctx, accept, c.readPrompt(ctx, t))
}

// promptLoop processes lines and draws the spinner.
func (c *Console) promptLoop(ctx context.Context, accept core.Accept, lines <-chan input) error {
	spin := spinner{c: c}
	defer spin.stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.workingChanged:
			spin.update()
		case <-spin.tick():
			spin.advance(ctx)
		case l := <-lines:
			if l.err != nil || leaves(l) {
				return readError(l.err)
			}
			_, err := c.handle(ctx, accept, l)
			if err != nil && core.BucketOf(core.CategoryOf(err)) != core.RetryableTransient {
				return err
			}
		}
	}
}

// readError is nil for Ctrl-C, Ctrl-D and a terminal that has gone away.
func readError(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.As(err, new(*os.PathError)) {
		return nil
	}
	return core.Wrap(core.Invalid, err, "Can't read the terminal.")
}

// readPrompt reads the prompt in a goroutine. Pasted lines are joined to the line that ends them.
func (c *Console) readPrompt(ctx context.Context, t *term.Terminal) <-chan input {
	lines := make(chan input)
	var target *core.ApprovalID
	t.AutoCompleteCallback = func(line string, _ int, _ rune) (string, int, bool) {
		if line == "" {
			c.mu.Lock()
			id := c.cards.current()
			c.mu.Unlock()
			target = &id
		}
		return "", 0, false
	}
	go func() {
		var pasted []string
		size := 0
		for {
			text, err := t.ReadLine()
			if size += len(text); size > c.opt.MaxMessage {
				pasted, text = nil, ""
			}
			if errors.Is(err, term.ErrPasteIndicator) {
				pasted = append(pasted, text)
				continue
			}
			l := input{
				text: wellFormed(strings.TrimRight(strings.Join(append(pasted, text), "\n"), "\n")), pasted: len(pasted) > 0,
				oversized: size > c.opt.MaxMessage, target: target, err: err,
			}
			pasted, size, target = nil, 0, nil
			if (l.text != "" || l.oversized || err != nil) && !send(ctx, lines, l) || err != nil {
				return
			}
		}
	}()
	return lines
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
	if c.term != nil {
		c.term.SetPrompt(c.style.prompt(c.spinnerFrame, len(c.cards.open) > 0, c.cards.shortID(c.cards.current())))
		_ = c.print("")
	}
}

// resize sets the line editor's width to the terminal's. The caller holds mu.
func (c *Console) resize() {
	if f, ok := c.opt.Out.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
			_ = c.term.SetSize(w, h) // the next print fails too
		}
	}
}

// rawMode passes single keys to the line editor, if in is a terminal.
func rawMode(in io.Reader) (restore func() error, err error) {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func() error { return nil }, nil
	}
	state, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return nil, core.Wrap(core.Invalid, err, "Can't set up the terminal for a prompt. Pipe the lines in instead.")
	}
	return func() error { return term.Restore(int(f.Fd()), state) }, nil
}

// spinner is drawn before the prompt while the bot works. It always ends: every post ends it, and so do two reports of
// Options.Idle in a row that the conversation is idle.
type spinner struct {
	c     *Console
	clock *time.Ticker
	count int
	idle  int
}

// tick returns the clock's channel; nil, which never fires, while the spinner is off.
func (s *spinner) tick() <-chan time.Time {
	if s.clock == nil {
		return nil
	}
	return s.clock.C
}

// update starts or stops the clock according to the console's working state.
func (s *spinner) update() {
	s.c.mu.Lock()
	on := s.c.working
	s.c.mu.Unlock()
	switch {
	case on && s.clock == nil:
		s.clock, s.count, s.idle = time.NewTicker(frameTime), 0, 0
	case !on && s.clock != nil:
		s.stop()
		s.c.redraw("")
	}
}

func (s *spinner) stop() {
	if s.clock != nil {
		s.clock.Stop()
		s.clock = nil
	}
}

// advance draws the next frame.
func (s *spinner) advance(ctx context.Context) {
	s.count++
	if s.count%idleEvery == 0 {
		if idle, err := s.c.opt.Idle(ctx); err == nil && idle {
			s.idle++
		} else {
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
