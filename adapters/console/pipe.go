package console

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/question"
)

const (
	idlePoll        = 25 * time.Millisecond
	maxIdleFailures = 400 // failures in a row, about ten seconds of them, before the console gives up
)

// pipe processes one line after the other.
func (c *Console) pipe(ctx context.Context, accept core.Accept) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p := &pipeReader{Console: c, accept: accept, lines: readLines(ctx, c.opt.In, c.opt.MaxMessage)}
	if err := c.showOpen(ctx); err != nil {
		return err
	}
	for wait := true; ; {
		if wait {
			if err := p.waitIdle(ctx); err != nil {
				return err
			}
		}
		l, err := p.next(ctx)
		if err != nil {
			return err
		}
		if leaves(l) {
			l.err = io.EOF
		}
		if l.err != nil {
			return p.end(ctx, l.err)
		}
		if _, err := c.handle(ctx, accept, l); err != nil {
			return err
		}
		wait = !overtakes(l)
	}
}

// pipeReader is a console that reads a pipe.
type pipeReader struct {
	*Console
	accept   core.Accept
	lines    <-chan input
	deferred *input // arrived while a turn ran; processed afterwards
}

func (p *pipeReader) next(ctx context.Context) (input, error) {
	if l := p.deferred; l != nil {
		p.deferred = nil
		return *l, nil
	}
	select {
	case l := <-p.lines:
		return l, nil
	case <-ctx.Done():
		return input{}, ctx.Err()
	}
}

// waitIdle waits until the conversation has nothing left to do. Control words that arrive meanwhile are processed at once.
func (p *pipeReader) waitIdle(ctx context.Context) error {
	tick := time.NewTicker(idlePoll)
	defer tick.Stop()
	for failures := 0; ; {
		idle, err := p.opt.Idle(ctx)
		switch {
		case err == nil && idle:
			return nil
		case err == nil:
			failures = 0
		default:
			if failures++; failures == maxIdleFailures {
				return core.Wrap(core.CategoryOf(err), err, "Can't read the state of the conversation.")
			}
		}
		lines := p.lines
		if p.deferred != nil {
			lines = nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		case l := <-lines:
			if !overtakes(l) {
				p.deferred = &l
			} else if _, err := p.handle(ctx, p.accept, l); err != nil {
				return err
			}
		}
	}
}

// end waits for the last answer.
func (p *pipeReader) end(ctx context.Context, cause error) error {
	if err := p.waitIdle(ctx); err != nil {
		return err
	}
	p.remindOpen()
	if !errors.Is(cause, io.EOF) {
		return core.Wrap(core.Invalid, cause, "Can't read the input to its end.")
	}
	return nil
}

// handle stores one line as an answer to a card or a question, a control word or a message.
func (c *Console) handle(ctx context.Context, accept core.Accept, l input) (bool, error) {
	if l.oversized {
		c.say(messageTooLarge(c.opt.MaxMessage).Message)
		return false, nil
	}
	if stored, ended, err := c.pressEnded(ctx, accept, l); ended {
		return stored, err
	}
	a := c.target(l)
	switch q := a.card.Question; {
	case q != nil && control(l) == nil && !a.answered && (!l.pasted || a.field().Kind == question.Text):
		return c.answer(ctx, accept, a, l.text)
	case q == nil && a.lines != nil && !l.pasted:
		if action, p := a.decision(l.text); action != "" {
			return c.press(ctx, accept, a.card, action, p)
		}
	}
	return c.submit(ctx, accept, c.event(l))
}

// input is one line of the input.
type input struct {
	text      string
	oversized bool             // above the limit; text is empty
	pasted    bool             // never an answer nor a control word
	target    *core.ApprovalID // the card that was last when typing began, "" for none; nil: unknown
	interrupt bool             // Ctrl-C at a prompt; nothing else is set but typed
	typed     bool             // Ctrl-C discarded something that was typed
	err       error            // the end of the input: io.EOF, or why reading failed
}

// readLines reads lines in a goroutine, which ends with the input, or with ctx as soon as a read returns. The last input has an err.
func readLines(ctx context.Context, in io.Reader, limit int) <-chan input {
	lines := make(chan input)
	go func() {
		r := bufio.NewReader(in)
		for first := true; ; first = false {
			l := readLine(r, limit)
			if first {
				l.text = strings.TrimPrefix(l.text, "\ufeff")
			}
			end := l.err
			if l.text != "" || l.oversized {
				l.err = nil
				if !send(ctx, lines, l) {
					return
				}
			}
			if end != nil {
				send(ctx, lines, input{err: end})
				return
			}
		}
	}()
	return lines
}

func send(ctx context.Context, lines chan<- input, l input) bool {
	select {
	case lines <- l:
		return true
	case <-ctx.Done():
		return false
	}
}

// readLine reads up to the next newline and keeps no more than limit bytes. A text may come together with an err.
func readLine(r *bufio.Reader, limit int) input {
	var l input
	var kept []byte
	for {
		part, err := r.ReadSlice('\n')
		full := errors.Is(err, bufio.ErrBufferFull)
		if !full {
			part = bytes.TrimRight(part, "\r\n")
		}
		if l.oversized = l.oversized || len(kept)+len(part) > limit; l.oversized {
			kept = nil
		} else {
			kept = append(kept, part...)
		}
		if full {
			continue
		}
		l.text, l.err = wellFormed(string(bytes.TrimRight(kept, "\r"))), err
		return l
	}
}

// wellFormed replaces what a store can't keep: bytes that are not UTF-8, and NUL. A text of blanks becomes "".
func wellFormed(s string) string {
	if strings.TrimSpace(s) == "" {
		return ""
	}
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}
