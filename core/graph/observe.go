package graph

import (
	"context"
	"slices"
	"sync"
	"time"

	"gatehouse/core"
)

// Phase is what an event reports about an attempt of a node. Each attempt has one PhaseStarted and then one of the
// others (graph-engine §6).
type Phase string

// The phases.
const (
	PhaseStarted   Phase = "started"
	PhaseCompleted Phase = "completed" // after the merge and the edge, whose failures it reports too
	PhaseSuspended Phase = "suspended"
)

// Event is one thing that happened to a node. Step counts the attempts of the whole invocation from 0, all its resumes
// included; both events of an attempt have the same. A subgraph has neither events nor a step; its nodes have.
// Namespace is the path of node names, outermost first; Parents are the states of the enclosing graphs, outermost first
// (graph-engine §6). The session's id is in the context.
type Event struct {
	Phase      Phase
	Node       string
	Namespace  []string
	Step       int
	Attempt    int
	Pre        State
	Post       State // of a success
	Err        error // of a failure
	Descriptor *core.Descriptor
	Parents    []State

	FanOutIndex *int   // of the innermost fan-out instance that the node belongs to
	Branch      string // of the innermost branch
}

// Observer receives events, in order, one at a time. On may be slow, fail or panic without effect on the graph, other
// observers or later events. Its context has the invocation's ids and ends when a drain gives up.
type Observer struct {
	Name   string
	Phases []Phase // nil = all three; an empty list is refused when it is registered
	On     func(ctx context.Context, e Event) error
	// in order with the events, whatever Phases says; one of On and Hear may be nil
	Hear func(ctx context.Context, r Report) error
}

func (o Observer) wants(p Phase) bool { return o.Phases == nil || slices.Contains(o.Phases, p) }

// validate is what registering asks of an observer.
func (o Observer) validate() error {
	if o.On == nil && o.Hear == nil {
		return core.Errorf(core.Invalid, "observer %q has no function", o.Name)
	}
	if o.Phases != nil && len(o.Phases) == 0 {
		return core.Errorf(core.Invalid, "observer %q subscribes to no phase", o.Name)
	}
	for _, p := range o.Phases {
		if p != PhaseStarted && p != PhaseCompleted && p != PhaseSuspended {
			return core.Errorf(core.Invalid, "observer %q subscribes to an unknown phase %q", o.Name, p)
		}
	}
	return nil
}

// deliver calls the observer with a copy of the event, if it wants it. Its error, or panic, has no effect.
func (o Observer) deliver(ctx context.Context, d delivery) {
	defer func() { _ = recover() }()
	switch e := d.Event; {
	case d.report != nil && o.Hear != nil:
		_ = o.Hear(ctx, d.report.copied())
	case d.report == nil && o.On != nil && o.wants(e.Phase):
		e.Namespace, e.Parents = slices.Clone(e.Namespace), slices.Clone(e.Parents)
		e.FanOutIndex, e.Descriptor = clone(e.FanOutIndex), clone(e.Descriptor)
		_ = o.On(ctx, e)
	}
}

// eventQueue delivers the events of one segment to its observers, one event after the other, the observers in their
// order. Its one goroutine ends after the last event of the segment, or when a drain gives up on it.
type eventQueue struct {
	invocationObservers []Observer    // of the invocation, after those of the graphs
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
	report    *Report // in place of Event
	observers []Observer
}

// newQueue starts a queue. A nil queue drops events.
func newQueue(ctx context.Context, scoped []Observer) *eventQueue {
	q := &eventQueue{invocationObservers: scoped, done: make(chan struct{})}
	q.ctx, q.stop = context.WithCancel(context.WithoutCancel(ctx))
	q.wake.L = &q.mu
	go q.run()
	return q
}

func (q *eventQueue) put(d delivery) {
	if q == nil || len(d.observers)+len(q.invocationObservers) == 0 {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.undelivered++
	if !q.givenUp {
		q.events = append(q.events, d)
		q.wake.Signal()
	}
}

// end marks the last event.
func (q *eventQueue) end() {
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
			o.deliver(q.ctx, e)
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

// finished reports whether all events were delivered or given up.
func (q *eventQueue) finished() bool {
	select {
	case <-q.done:
		return true
	default:
		return false
	}
}

// queueSet holds the queues of a graph that still deliver.
type queueSet struct {
	mu     sync.Mutex
	queues []*eventQueue
}

func (d *queueSet) add(q *eventQueue) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.queues = append(slices.DeleteFunc(d.queues, (*eventQueue).finished), q)
}

func (d *queueSet) active() []*eventQueue {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.queues)
}

// Drained is the result of a drain (graph-engine §6).
type Drained struct {
	Undelivered    int  // events that did not reach all their observers
	TimeoutReached bool // ctx ended first
}

// Drain waits until the events of all invocations that are active now have been delivered. When ctx ends, it stops
// their deliveries and returns. The graph can still be used.
func (g *Graph) Drain(ctx context.Context) Drained {
	var d Drained
	for _, q := range g.queues.active() {
		if q.finished() {
			continue
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
