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
	askQuiet   = 16 // frames between two looks whether the bot still works
	quietLooks = 2  // looks in a row that find nothing before the spinner goes
)

// interactive talks with a prompt. The terminal is restored whatever happens.
func (c *Console) interactive(ctx context.Context, accept core.Accept) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	restore, err := rawMode(c.opt.In)
	if err != nil {
		return err
	}
	t := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{c.opt.In, c.opt.Out}, c.style.prompt("", false))
	c.mu.Lock()
	c.term = t
	c.resize()
	c.mu.Unlock()
	t.SetBracketedPasteMode(true)
	defer func() {
		c.mu.Lock()
		c.term = nil
		t.SetBracketedPasteMode(false)
		_, _ = io.WriteString(c.opt.Out, "\r\n") // a terminal that is gone needs no new line
		c.mu.Unlock()
		if err := restore(); err != nil {
			c.opt.Log.Warn("restoring the terminal", "platform", Name, "err", err)
		}
		c.hint()
	}()
	if err := c.showOpen(ctx); err != nil {
		return err
	}
	return c.converse(ctx, accept, c.typeLines(ctx, t))
}

// converse is the loop of a prompt: lines, and the spinner.
func (c *Console) converse(ctx context.Context, accept core.Accept, lines <-chan input) error {
	spin := spinner{c: c}
	defer spin.stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.worked:
			spin.turn()
		case <-spin.tick():
			spin.next(ctx)
		case l := <-lines:
			if word, _ := controlWord(l.text); l.err != nil || word == wordQuit && !l.pasted {
				return endOf(l.err)
			}
			_, err := c.take(ctx, accept, l)
			if err != nil && core.BucketOf(core.CategoryOf(err)) != core.RetryableTransient {
				return err
			}
		}
	}
}

// endOf is no error for Ctrl-C, Ctrl-D and a terminal that has gone away.
func endOf(err error) error {
	if err == nil || errors.Is(err, io.EOF) || errors.As(err, new(*os.PathError)) {
		return nil
	}
	return core.Wrap(core.Invalid, err, "The terminal could not be read.")
}

// typeLines reads the prompt in a goroutine of its own. Pasted lines join to the line that ends them.
func (c *Console) typeLines(ctx context.Context, t *term.Terminal) <-chan input {
	lines := make(chan input)
	var aim *core.ApprovalID
	t.AutoCompleteCallback = func(line string, _ int, _ rune) (string, int, bool) {
		if line == "" {
			c.mu.Lock()
			id := c.cards.current()
			c.mu.Unlock()
			aim = &id
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
				long: size > c.opt.MaxMessage, aim: aim, err: err,
			}
			pasted, size, aim = nil, 0, nil
			if (l.text != "" || l.long || err != nil) && !send(ctx, lines, l) || err != nil {
				return
			}
		}
	}()
	return lines
}

// redraw shows the prompt anew, with a frame of the spinner or without.
func (c *Console) redraw(frame string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frame = frame
	c.repaint()
}

// repaint shows the prompt as it should be now. The caller holds mu.
func (c *Console) repaint() {
	if c.term != nil {
		c.term.SetPrompt(c.style.prompt(c.frame, len(c.cards.open) > 0))
		_ = c.print("")
	}
}

// resize tells the line editor how wide the terminal is. The caller holds mu.
func (c *Console) resize() {
	if f, ok := c.opt.Out.(*os.File); ok {
		if w, h, err := term.GetSize(int(f.Fd())); err == nil && w > 0 && h > 0 {
			_ = c.term.SetSize(w, h) // fails as the next print does
		}
	}
}

// rawMode hands the keys to the line editor, where in is a terminal.
func rawMode(in io.Reader) (restore func() error, err error) {
	f, ok := in.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return func() error { return nil }, nil
	}
	state, err := term.MakeRaw(int(f.Fd()))
	if err != nil {
		return nil, core.Wrap(core.Invalid, err, "The terminal can't be set up for a prompt; pipe the lines in instead.")
	}
	return func() error { return term.Restore(int(f.Fd()), state) }, nil
}
