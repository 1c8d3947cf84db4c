package graph

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"gatehouse/core"
)

// queue delivers the events of one leg of an invocation, strictly one after the other, to its observers in their order. Its one goroutine
// lives from the first event to the last after the invocation has ended, or until a drain gives up on it.
type queue struct {
	scoped []Observer // of the invocation
	log    *slog.Logger
	done   chan struct{} // closed when nothing is left to deliver
	stop   context.CancelFunc
	ctx    context.Context // the observers'; it outlives Invoke

	mu      sync.Mutex
	wake    sync.Cond
	events  []delivery
	ended   bool // the invocation is over
	stopped bool // given up on
	left    int  // events not delivered to the end
}

// delivery is an event and those attached to the graphs that it happened in, the outermost's first.
type delivery struct {
	Event
	observers []Observer
}

// newQueue starts a queue; a nil queue does nothing.
func newQueue(ctx context.Context, log *slog.Logger, scoped []Observer) *queue {
	q := &queue{scoped: scoped, log: log, done: make(chan struct{})}
	q.ctx, q.stop = context.WithCancel(context.WithoutCancel(ctx))
	q.wake.L = &q.mu
	go q.run()
	return q
}

func (q *queue) put(e Event, observers []Observer) {
	if q == nil || len(observers)+len(q.scoped) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.left++
	if !q.stopped {
		q.events = append(q.events, delivery{e, observers})
		q.wake.Signal()
	}
}

// end says that no event follows.
func (q *queue) end() {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.wake.Signal()
}

// abandon ends the deliveries and counts the events that were not delivered to the end.
func (q *queue) abandon() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped, q.events = true, nil
	q.stop()
	q.wake.Signal()
	return q.left
}

func (q *queue) run() {
	defer close(q.done)
	defer q.stop()
	for {
		e, ok := q.next()
		if !ok {
			return
		}
		for _, o := range slices.Concat(e.observers, q.scoped) {
			if o.wants(e.Phase) {
				if err := o.deliver(q.ctx, e.Event); err != nil {
					q.log.WarnContext(q.ctx, "observer failed", "observer", o.Name, "node", e.Node, "phase", e.Phase, "err", err)
				}
			}
		}
		q.mu.Lock()
		if !q.stopped {
			q.left--
		}
		q.mu.Unlock()
	}
}

func (q *queue) next() (delivery, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.events) == 0 && !q.ended && !q.stopped {
		q.wake.Wait()
	}
	if len(q.events) == 0 || q.stopped {
		return delivery{}, false
	}
	e := q.events[0]
	q.events = q.events[1:]
	return e, true
}

// drains are the queues of a graph that are not done yet.
type drains struct {
	mu     sync.Mutex
	queues map[*queue]bool
}

func (d *drains) add(q *queue) {
	if q == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.queues == nil {
		d.queues = map[*queue]bool{}
	}
	for old := range d.queues { // those that are done are forgotten here, so that the set stays as small as what is going on
		select {
		case <-old.done:
			delete(d.queues, old)
		default:
		}
	}
	d.queues[q] = true
}

func (d *drains) active() []*queue {
	d.mu.Lock()
	defer d.mu.Unlock()
	qs := make([]*queue, 0, len(d.queues))
	for q := range d.queues {
		qs = append(qs, q)
	}
	return qs
}

// Drained is what came of a drain (graph-engine §6).
type Drained struct {
	Undelivered    int  // events that did not reach all their observers
	TimeoutReached bool // the wait was given up
}

// Drain waits until the events of all invocations that are active now have been delivered. When ctx ends it gives up: their
// deliveries stop, and the graph stays as usable as before.
func (g *Graph) Drain(ctx context.Context) Drained {
	var d Drained
	for _, q := range g.drains.active() {
		select {
		case <-q.done:
			continue
		default:
		}
		select {
		case <-q.done:
		case <-ctx.Done():
			d.TimeoutReached = true
			d.Undelivered += q.abandon()
		}
	}
	return d
}

// DrainWithin is Drain with a limit; a negative one is refused (invalid).
func (g *Graph) DrainWithin(ctx context.Context, limit time.Duration) (Drained, error) {
	if limit < 0 {
		return Drained{}, core.Errorf(core.Invalid, "a drain's limit must not be negative, it is %s", limit)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return g.Drain(ctx), nil
}
