package socketmode

import (
	"context"
	"encoding/json"
	"hash/fnv"
	"sync"
	"sync/atomic"

	"github.com/slack-go/slack/socketmode"
	"golang.org/x/sync/errgroup"

	"gatehouse/adapters/internal/inbound"
)

// Limits of the envelopes that wait to be handled.
const (
	queueLength     = 1024     // envelopes in each queue: a burst of some seconds
	queueCount      = 8        // envelopes of different channels are handled in parallel
	maxWaiting      = 64 << 20 // bytes of the envelopes in all queues of a connection
	maxInteractions = 32       // interactions and commands in progress
)

// work handles the envelopes of one connection: events of a channel one after the other, interactions and commands at
// once.
type work struct {
	queues       [queueCount]chan socketmode.Request
	waiting      atomic.Int64 // bytes of the envelopes in the queues
	interactions errgroup.Group
	running      sync.WaitGroup
	full         sync.Once // for the warning that an event was not taken
	crowded      sync.Once // for the warning that an interaction or a command was not taken
}

// handler handles an envelope, as a connection does.
type handler interface {
	handle(ctx context.Context, f socketmode.Request)
}

func (w *work) begin(ctx context.Context, h handler) {
	w.interactions.SetLimit(maxInteractions)
	for i := range w.queues {
		queue := make(chan socketmode.Request, queueLength)
		w.queues[i] = queue
		w.running.Go(func() {
			for f := range queue {
				h.handle(ctx, f)
				w.waiting.Add(-size(f))
			}
		})
	}
}

func size(f socketmode.Request) int64 { return int64(len(f.Payload)) }

// add takes an envelope without blocking. It returns false if the queue is full. Only one goroutine calls it.
func (w *work) add(ctx context.Context, h handler, f socketmode.Request) bool {
	if f.Type != socketmode.RequestTypeEventsAPI {
		return w.interactions.TryGo(func() error { h.handle(ctx, f); return nil })
	}
	if w.waiting.Load()+size(f) > maxWaiting {
		return false
	}
	select {
	case w.queues[QueueOf(f.Payload)] <- f:
		w.waiting.Add(size(f))
		return true
	default:
		return false
	}
}

// end waits until all taken envelopes are handled.
func (w *work) end() {
	for _, q := range w.queues {
		close(q)
	}
	w.running.Wait()
	_ = w.interactions.Wait() // its functions return no error
}

// QueueOf returns the queue of an event's payload. All events of a channel have the same queue.
func QueueOf(payload []byte) int {
	var body struct {
		Event struct {
			Channel json.RawMessage `json:"channel"`
		} `json:"event"`
	}
	_ = inbound.Decode(payload, &body) // events without a channel share a queue
	h := fnv.New32a()
	h.Write(body.Event.Channel)
	return int(h.Sum32() % queueCount)
}
