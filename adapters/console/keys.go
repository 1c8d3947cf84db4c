package console

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"unicode/utf8"
)

const (
	pasteStart  = "\x1b[200~"
	pasteEnd    = "\x1b[201~"
	shiftTab    = "\x1b[Z"    // the line editor does nothing on it
	whereQuery  = "\x1b[6n"   // asks a terminal where its cursor is
	firstColumn = "\x1b[1;1R" // the answer of a terminal whose cursor is in the first column
)

// keys is the keyboard as the line editor reads it: one character with each Read, so that nothing is read ahead of what
// the editor has processed. A paste is taken out of the stream and kept for the editor; a Shift-Tab stands for it.
type keys struct {
	ctx      context.Context
	limit    int // of a paste, in bytes; what is longer is emptied and marked as too large
	in       <-chan []byte
	failed   error  // why in was closed
	pending  []byte // read, and not delivered yet
	skipping bool   // within a paste that is too large

	answers chan struct{}
	pastes  chan paste
	ended   chan error // gets why the input ended, once
}

// paste is a pasted text.
type paste struct {
	text     string
	tooLarge bool
}

// newKeys reads in in a goroutine, which ends with in, or with ctx as soon as a read returns.
func newKeys(ctx context.Context, in io.Reader, limit int) *keys {
	read := make(chan []byte)
	k := &keys{
		ctx: ctx, limit: limit, in: read,
		answers: make(chan struct{}, 16), pastes: make(chan paste, 16), ended: make(chan error, 1),
	}
	go func() {
		defer close(read)
		for {
			b := make([]byte, 4096)
			n, err := in.Read(b)
			if n > 0 && !send(ctx, read, b[:n]) {
				return
			}
			if err != nil {
				k.failed = err
				return
			}
		}
	}()
	return k
}

// Read delivers the next character.
func (k *keys) Read(p []byte) (int, error) {
	for {
		if len(k.answers) == 0 {
			if key := k.next(); key != "" {
				return copy(p, key), nil
			}
		}
		select {
		case <-k.answers:
			return copy(p, firstColumn), nil
		case <-k.ctx.Done():
			return 0, k.end(io.EOF)
		case b, ok := <-k.in:
			if !ok {
				return 0, k.end(cmp.Or(k.failed, io.EOF))
			}
			k.pending = append(k.pending, b...)
		}
	}
}

// end notes why the input ended. The editor gets io.EOF in every case.
func (k *keys) end(err error) error {
	select {
	case k.ended <- err:
	default: // it is noted
	}
	return io.EOF
}

// next takes the next character from what was read; "" if more must be read first.
func (k *keys) next() string {
	switch {
	case len(k.pending) == 0:
		return ""
	case bytes.HasPrefix(k.pending, []byte(pasteStart)):
		return k.nextPaste()
	case bytes.HasPrefix([]byte(pasteStart), k.pending) || !utf8.FullRune(k.pending):
		return ""
	}
	_, n := utf8.DecodeRune(k.pending)
	key := string(k.pending[:n])
	k.pending = k.pending[n:]
	return key
}

// nextPaste keeps a paste once its end has been read.
func (k *keys) nextPaste() string {
	content := k.pending[len(pasteStart):]
	end := bytes.Index(content, []byte(pasteEnd))
	k.skipping = k.skipping || len(content) > k.limit+len(pasteEnd) || end > k.limit
	if end < 0 {
		if k.skipping && len(content) > len(pasteEnd) { // keep what may be the beginning of the end
			k.pending = append([]byte(pasteStart), content[len(content)-len(pasteEnd):]...)
		}
		return ""
	}
	p := paste{text: string(content[:end]), tooLarge: k.skipping}
	if p.tooLarge {
		p.text = ""
	}
	k.pending, k.skipping = content[end+len(pasteEnd):], false
	k.pastes <- p
	return shiftTab
}
