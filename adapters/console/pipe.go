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
func (c *Console) pipe(ctx context.Context) error {
	in, mark := bufio.NewReader(c.opt.In), "\ufeff" // which may stand before the first line
	lines := inputs(ctx, func() input {
		l := readLine(in, c.opt.MaxMessage)
		l.text, mark = strings.TrimPrefix(l.text, mark), ""
		return l
	})
	if err := c.showOpen(ctx); err != nil {
		return err
	}
	var next *input
	for wait := true; ; wait = !overtakes(*next) || c.earlier && strings.EqualFold(next.text, wordStatus) {
		var err error
		if next = nil; wait {
			if next, err = c.waitIdle(ctx, lines); err != nil {
				return err
			}
		}
		if next == nil {
			select {
			case l := <-lines:
				next = &l
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		if next.err != nil || leaves(*next) {
			return c.end(ctx, lines, next.err)
		}
		if err := c.handle(ctx, *next); err != nil {
			return err
		}
	}
}

// waitIdle waits until the conversation has nothing left to do. Control words that arrive meanwhile are processed at
// once; another line is returned, to be processed afterwards.
func (c *Console) waitIdle(ctx context.Context, lines <-chan input) (next *input, err error) {
	tick := time.NewTicker(idlePoll)
	defer tick.Stop()
	for failures := 0; ; {
		idle, err := c.opt.Work.Idle(ctx)
		switch {
		case err != nil:
			if failures++; failures == maxIdleFailures {
				return nil, core.Wrap(core.CategoryOf(err), err, "Can't read the state of the conversation.")
			}
		case idle:
			return next, nil
		default:
			failures = 0
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-tick.C:
		case l := <-lines:
			if !overtakes(l) {
				next, lines = &l, nil
			} else if err := c.handle(ctx, l); err != nil {
				return nil, err
			}
		}
	}
}

// end waits for the last answer.
func (c *Console) end(ctx context.Context, lines <-chan input, cause error) error {
	if _, err := c.waitIdle(ctx, lines); err != nil {
		return err
	}
	c.remindOpen()
	if cause == nil || errors.Is(cause, io.EOF) {
		return nil
	}
	return core.Wrap(core.Invalid, cause, "Can't read the input to its end.")
}

// handle stores one line as an answer to a card or a question, a control word or a message. What the person can mend
// has been said, and is no error.
func (c *Console) handle(ctx context.Context, l input) (err error) {
	l, chosen := c.chosen(l)
	if !chosen && c.ambiguous(l) {
		return nil
	}
	a := c.target(l)
	action, p := a.decision(l.text)
	word := strings.ToLower(strings.TrimSpace(l.text))
	switch {
	case l.oversized:
		err = c.tooLarge()
	case !l.pasted && endedWords[word] != "":
		err = c.pressEnded(ctx, endedWords[word])
	case a.card.Question != nil && control(l) == nil && !a.answered && (!l.pasted || a.field().Kind == question.Text):
		err = c.answer(ctx, a, l.text)
	case action != "" && !l.pasted:
		err = c.press(ctx, a.card, action, p)
	default:
		err = c.submit(ctx, c.event(l))
	}
	if core.BucketOf(core.CategoryOf(err)) == core.UserCorrectable {
		return nil
	}
	return err
}

// input is one line of the input.
type input struct {
	text      string
	oversized bool             // above the limit; text is empty
	pasted    bool             // never an answer nor a control word
	target    *core.ApprovalID // the card that was last when typing began, "" for none; nil: unknown
	several   bool             // of a prompt: several approvals were open when typing began
	interrupt bool             // Ctrl-C at a prompt; nothing else is set but typed
	typed     bool             // Ctrl-C discarded something that was typed
	err       error            // the end of the input: io.EOF, or why reading failed
}

// inputs are what read returns, but for empty lines. A goroutine reads: it ends with the input, or with ctx as soon as
// a read returns. The last input has an err, and nothing else.
func inputs(ctx context.Context, read func() input) <-chan input {
	all := make(chan input)
	go func() {
		for {
			l := read()
			end := l.err
			l.err = nil
			if (l.text != "" || l.oversized || l.interrupt) && !send(ctx, all, l) {
				return
			}
			if end != nil {
				send(ctx, all, input{err: end})
				return
			}
		}
	}()
	return all
}

func send[T any](ctx context.Context, to chan<- T, one T) bool {
	select {
	case to <- one:
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
