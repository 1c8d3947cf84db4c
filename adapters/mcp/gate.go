package mcp

import (
	"bytes"
	"context"
	"errors"

	"golang.org/x/time/rate"
)

const (
	maxMessage = 4 << 20 // bytes of one message of a server
	maxRequest = 4 << 10 // bytes of a request that a server makes; a ping has less than 100
	dropRate   = 20_000  // short messages that may be dropped in a second, or blocks of 256 bytes
)

// errTooLarge ends a connection.
var errTooLarge = errors.New("it sent a message of more than 4 MiB")

// gate decides which messages of a server come in. Only answers do, list changes as a sign, and a request now and then, so that the SDK
// can answer it; so nothing that a server sends unasked can fill a queue.
type gate struct {
	ctx      context.Context // ends with the connection; its cause is why
	end      context.CancelCauseFunc
	changed  chan struct{} // has a value if the list of tools changed; capacity 1
	garbage  func(line []byte)
	requests *rate.Limiter
	dropped  *rate.Limiter // what is dropped takes time, which slows a flood down
}

func newGate(ctx context.Context, garbage func([]byte)) *gate {
	ctx, end := context.WithCancelCause(ctx)
	return &gate{
		ctx: ctx, end: end, changed: make(chan struct{}, 1), garbage: garbage,
		requests: rate.NewLimiter(1, 20), dropped: rate.NewLimiter(dropRate, dropRate),
	}
}

// fail ends the connection, and says why. The first cause counts.
func (g *gate) fail(err error) error {
	g.end(err)
	return err
}

// admit decides about a message. What is not admitted was dropped, and dealt with.
func (g *gate) admit(message []byte) bool {
	if message = bytes.TrimSpace(message); len(message) == 0 {
		return false
	}
	h, ok := readHead(message)
	switch {
	case !ok: // garbage, or a batch, which the protocol gave up
		g.garbage(message)
	case h.answer():
		return true
	case h.method == nil:
		g.garbage(message)
	case *h.method == "notifications/tools/list_changed":
		select {
		case g.changed <- struct{}{}:
		default:
		}
	case h.request() && len(message) <= maxRequest && g.requests.Allow():
		return true
	}
	_ = g.dropped.WaitN(g.ctx, min(1+len(message)/256, dropRate)) // an error: the connection has ended
	return false
}
