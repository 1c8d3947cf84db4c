package graph

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"gatehouse/core"
)

// eventQueue delivers the events of one segment to its observers, one event after the other, the observers in their order. Its one
// goroutine ends after the last event of the segment, or when a drain gives up on it.
type eventQueue struct {
	invocationObservers []Observer // of the invocation, after those of the graphs
	log                 *slog.Logger
	done                chan struct{} // closed when the goroutine has ended
	stop                context.CancelFunc
	ctx                 context.Context // for the observers; it outlives Invoke

	mu          sync.Mutex
	wake        sync.Cond
	events      []delivery
	ended       bool // the segment has ended
	givenUp     bool // a drain gave up
	undelivered int  // events that have not reached all their observers
}

// delivery is an event with the observers of the graphs that it happened in, outermost first.
type delivery struct {
	Event
	observers []Observer
}

// newQueue starts a queue. A nil queue drops events.
func newQueue(ctx context.Context, log *slog.Logger, scoped []Observer) *eventQueue {
	q := &eventQueue{invocationObservers: scoped, log: log, done: make(chan struct{})}
	q.ctx, q.stop = context.WithCancel(context.WithoutCancel(ctx))
	q.wake.L = &q.mu
	go q.run()
	return q
}

func (q *eventQueue) put(e Event, observers []Observer) {
	if q == nil || len(observers)+len(q.invocationObservers) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.undelivered++
	if !q.givenUp {
		q.events = append(q.events, delivery{e, observers})
		q.wake.Signal()
	}
}

// end marks the last event.
func (q *eventQueue) end() {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ended = true
	q.wake.Signal()
}

// giveUp stops the deliveries and returns the number of events that did not reach all their observers.
func (q *eventQueue) giveUp() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.givenUp, q.events = true, nil
	q.stop()
	q.wake.Signal()
	return q.undelivered
}

func (q *eventQueue) run() {
	defer close(q.done)
	defer q.stop()
	for {
		e, ok := q.next()
		if !ok {
			return
		}
		for _, o := range slices.Concat(e.observers, q.invocationObservers) {
			if o.wants(e.Phase) {
				if err := o.deliver(q.ctx, e.Event); err != nil {
					q.log.WarnContext(q.ctx, "observer failed", "observer", o.Name, "node", e.Node, "phase", e.Phase, "err", err)
				}
			}
		}
		q.mu.Lock()
		if !q.givenUp {
			q.undelivered--
		}
		q.mu.Unlock()
	}
}

func (q *eventQueue) next() (delivery, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.events) == 0 && !q.ended && !q.givenUp {
		q.wake.Wait()
	}
	if len(q.events) == 0 || q.givenUp {
		return delivery{}, false
	}
	e := q.events[0]
	q.events = q.events[1:]
	return e, true
}

// queueSet holds the queues of a graph that still deliver.
type queueSet struct {
	mu     sync.Mutex
	queues map[*eventQueue]bool
}

func (d *queueSet) add(q *eventQueue) {
	if q == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.queues == nil {
		d.queues = map[*eventQueue]bool{}
	}
	for old := range d.queues { // drop finished queues, so that the set does not grow
		select {
		case <-old.done:
			delete(d.queues, old)
		default:
		}
	}
	d.queues[q] = true
}

func (d *queueSet) active() []*eventQueue {
	d.mu.Lock()
	defer d.mu.Unlock()
	qs := make([]*eventQueue, 0, len(d.queues))
	for q := range d.queues {
		qs = append(qs, q)
	}
	return qs
}

// Drained is the result of a drain (graph-engine §6).
type Drained struct {
	Undelivered    int  // events that did not reach all their observers
	TimeoutReached bool // ctx ended first
}

// Drain waits until the events of all invocations that are active now have been delivered. When ctx ends, it stops their
// deliveries and returns. The graph can still be used.
func (g *Graph) Drain(ctx context.Context) Drained {
	var d Drained
	for _, q := range g.queues.active() {
		select {
		case <-q.done:
			continue
		default:
		}
		select {
		case <-q.done:
		case <-ctx.Done():
			d.TimeoutReached = true
			d.Undelivered += q.giveUp()
		}
	}
	return d
}

// DrainWithin is Drain with a time limit. A negative limit is invalid.
func (g *Graph) DrainWithin(ctx context.Context, limit time.Duration) (Drained, error) {
	if limit < 0 {
		return Drained{}, core.Errorf(core.Invalid, "the limit of a drain must not be negative, it is %s", limit)
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return g.Drain(ctx), nil
}
