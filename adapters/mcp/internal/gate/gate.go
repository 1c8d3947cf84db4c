// Package gate decides which messages of an MCP server come in, before anything parses them. Answers do, one whose
// result is none yet in a wrapping (Unfinished); a change of the list of tools does, as a sign; and a request now and
// then, so that the SDK can answer it, a long one without its parameters. So nothing that a server sends unasked can
// fill a queue. A message is one object of at most MaxMessage bytes; a batch is garbage. Answers are read tolerantly
// (see mend). Lines, Events and Body give what a server sends by each transport, with only the messages that come in.
package gate

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"golang.org/x/time/rate"
)

// MaxMessage is how many bytes one message of a server may have. A larger one ends the connection.
const MaxMessage = 4 << 20

const (
	maxRequest = 4 << 10 // bytes of a request that a server makes and that comes in whole; a ping has less than 100
	dropRate   = 20_000  // short messages that may be dropped in a second, or blocks of 256 bytes
)

// ErrTooLarge is the cause where a server sent a message of more than MaxMessage.
var ErrTooLarge = errors.New("it sent a message of more than 4 MiB")

// Gate is that of one connection.
type Gate struct {
	ctx      context.Context // ends with the connection; its cause is why
	end      context.CancelCauseFunc
	changed  chan struct{} // capacity 1
	server   Server
	requests *rate.Limiter
	dropped  *rate.Limiter // what is dropped takes time, which slows a flood down
}

// Server is told what its process or endpoint sends that is no message.
type Server interface {
	Garbage(message []byte)
}

// New makes the gate of a connection that lasts until ctx ends, or until Fail. It tells the server what is no message.
func New(ctx context.Context, server Server) *Gate {
	ctx, end := context.WithCancelCause(ctx)
	return &Gate{
		ctx: ctx, end: end, changed: make(chan struct{}, 1), server: server,
		requests: rate.NewLimiter(1, 20), dropped: rate.NewLimiter(dropRate, dropRate),
	}
}

// Context ends with the connection.
func (g *Gate) Context() context.Context { return g.ctx }

// Cause says why the connection ended; nil: it did not.
func (g *Gate) Cause() error { return context.Cause(g.ctx) }

// Changed has a value if the server said that its list of tools changed.
func (g *Gate) Changed() <-chan struct{} { return g.changed }

// Fail ends the connection, and returns why. The first cause counts.
func (g *Gate) Fail(err error) error {
	g.end(err)
	return err
}

// withoutBOM is a text without the byte order mark that some programs write before it.
func withoutBOM(text []byte) []byte { return bytes.TrimPrefix(text, []byte("\ufeff")) }

// admit decides about a message. It returns what comes in: the message, or nothing if it was dropped, and dealt with.
func (g *Gate) admit(message []byte) []byte {
	if message = bytes.TrimSpace(withoutBOM(message)); len(message) == 0 {
		return nil
	}
	h, ok := readHead(message)
	switch {
	case !ok: // garbage, or a batch, which the protocol gave up
		g.server.Garbage(message)
	case h.answer():
		return g.answer(h, message)
	case h.method == nil:
		g.server.Garbage(message)
	case *h.method == "notifications/tools/list_changed":
		select {
		case g.changed <- struct{}{}:
		default:
		}
	case h.request() && g.requests.Allow():
		if len(message) <= maxRequest {
			return message
		}
		if short := h.alone(); len(short) <= maxRequest {
			return short
		}
	}
	_ = g.dropped.WaitN(g.ctx, min(1+len(message)/256, dropRate)) // an error: the connection has ended
	return nil
}

// answer lets an answer in, mended. One whose id is a text answers none of our requests, whose ids are numbers: it
// would be waited for in vain, so it ends the connection.
func (g *Gate) answer(h head, message []byte) []byte {
	if h.id[0] == '"' {
		_ = g.Fail(fmt.Errorf("it answers with the id %.40s, a text, and was asked with a number; by JSON-RPC an "+
			"answer has the id of its request", h.id))
		return nil
	}
	return h.wrapped(mend(message))
}
