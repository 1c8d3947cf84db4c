package gate

import (
	"bytes"
	"errors"
	"io"
)

// errNoAnswer ends a connection whose server answers a request with something else.
var errNoAnswer = errors.New("it answered with something that is not one answer of the protocol")

// body is the JSON body of a response.
type body struct {
	io.Closer
	gate *Gate
	in   io.Reader
	text *bytes.Reader // all of it, once it was read
}

// Body gives a response's JSON body: one answer, or nothing. Any other ends the connection.
func Body(in io.ReadCloser, g *Gate) io.ReadCloser {
	return &body{Closer: in, gate: g, in: Limited(in, g)}
}

// Read gives the body once all of it was read and is an answer.
func (b *body) Read(p []byte) (int, error) {
	if b.text == nil {
		text, err := io.ReadAll(b.in)
		if err != nil {
			return 0, err
		}
		if text = bytes.TrimSpace(withoutBOM(text)); len(text) > 0 {
			h, ok := readHead(text)
			if !ok || !h.answer() {
				return 0, b.gate.Fail(errNoAnswer)
			}
			if text = b.gate.answer(h, text); text == nil {
				return 0, b.gate.Cause()
			}
		}
		b.text = bytes.NewReader(text)
	}
	return b.text.Read(p)
}

// limited is a body of at most so many bytes.
type limited struct {
	io.ReadCloser
	left int
	gate *Gate
}

// Limited gives a body that ends the connection once it has more than MaxMessage bytes.
func Limited(in io.ReadCloser, g *Gate) io.ReadCloser { return &limited{in, MaxMessage, g} }

// Read fails the connection when the limit is passed.
func (l *limited) Read(p []byte) (int, error) {
	n, err := l.ReadCloser.Read(p)
	if l.left -= n; l.left < 0 {
		return 0, l.gate.Fail(ErrTooLarge)
	}
	return n, err
}
