package gate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// events is a stream of server-sent events.
type events struct {
	in   *bufio.Reader
	body io.Closer
	gate *Gate
	rest []byte // of the event that is being read
	err  error  // after rest
}

// Events gives a stream of server-sent events with only those that the gate admits. Events without data pass: they
// carry ids.
func Events(body io.ReadCloser, g *Gate) io.ReadCloser {
	return &events{in: bufio.NewReader(body), body: body, gate: g}
}

// Read gives the admitted events.
func (e *events) Read(p []byte) (int, error) {
	for len(e.rest) == 0 {
		if e.err != nil {
			return 0, e.err
		}
		e.rest, e.err = e.next()
	}
	n := copy(p, e.rest)
	e.rest = e.rest[n:]
	return n, nil
}

// Close closes the stream.
func (e *events) Close() error { return e.body.Close() }

// next reads an event; it is empty if the gate does not admit it.
func (e *events) next() ([]byte, error) {
	var event, data []byte
	for {
		line, err := readLine(e.in, MaxMessage-len(event)-len(data))
		if errors.Is(err, ErrTooLarge) {
			return nil, e.gate.Fail(err)
		}
		text := bytes.TrimRight(line, "\r\n")
		if value, ok := bytes.CutPrefix(text, []byte("data:")); ok {
			data = append(append(data, bytes.TrimSpace(value)...), '\n')
		} else if bytes.IndexByte(text, ':') > 0 { // a line of another form would end the connection
			event = append(append(event, text...), '\n')
		}
		if err == nil && len(text) > 0 {
			continue
		}
		if len(bytes.TrimSpace(data)) > 0 {
			admitted := e.gate.admit(data)
			if admitted == nil {
				return nil, err
			}
			for part := range bytes.SplitSeq(admitted, []byte("\n")) {
				event = fmt.Appendf(event, "data: %s\n", part)
			}
		}
		if len(event) == 0 {
			return nil, err
		}
		return append(event, '\n'), err
	}
}
