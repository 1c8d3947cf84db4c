package console

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"

	"gatehouse/core"
)

// input is one line of the input.
type input struct {
	text      string
	oversized bool             // above the limit; text is empty
	pasted    bool             // never an answer nor a control word
	target    *core.ApprovalID // the card that was last when typing began, "" for none; nil: unknown
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
