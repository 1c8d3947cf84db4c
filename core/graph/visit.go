package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatehouse/core"
)

// node is a compiled node: what it does and what is wrapped around it, outermost first.
type node struct {
	body body
	wrap []Middleware
}

// body is what a node does in one attempt: it gives an update, suspends, or fails. A Node, a subgraph, a fan-out and branches are
// the bodies there are.
type body interface {
	run(ctx context.Context, nr *nodeRun, s State) (Update, *suspension, error)
	kind() SpanKind
}

// visit is one passage of a run through a node: its attempts, the merge, the edge.
type nodeRun struct {
	graph    *graphRun
	name     string
	node     node
	state    State
	inner    *start // where the subgraph goes on that the node is
	attempts int

	susp *suspension
	open *openAttempt // the attempt whose end is still to be told
}

// told is an attempt that has begun: its event and its span.
type openAttempt struct {
	e      Event
	end    func(SpanEnd)
	update Update
}

func (nr *nodeRun) namespace() []string { return append(slices.Clone(nr.graph.path), nr.name) }

// run goes through the node.
func (nr *nodeRun) run(ctx context.Context) (next string, post State, susp *suspension, fail *Error) {
	update, err := nr.callWrapped(ctx)
	if nr.susp != nil {
		susp, fail = nr.propagate()
		return "", nr.state, susp, fail
	}
	if err != nil {
		fail = nr.failure(err)
	} else if post, fail = nr.merge(update); fail == nil {
		next, fail = nr.graph.g.next(nr.name, post)
	}
	nr.endAttempt(post, fail)
	return next, post, nil, fail
}

func (nr *nodeRun) merge(u Update) (State, *Error) {
	post, fail := nr.state.merge(u)
	if fail != nil {
		fail.Node, fail.State = nr.name, nr.state
	}
	return post, fail
}

func (nr *nodeRun) failure(err error) *Error {
	return &Error{Category: core.NodeException, Node: nr.name, State: nr.state, Err: err}
}

// once is one attempt: its event started, its body, and where it fails the event that says so. What a success came to is told once
// it is merged, the edge evaluated, or another attempt begins.
func (nr *nodeRun) attempt(ctx context.Context, s State) (Update, error) {
	if nr.open != nil {
		nr.endAttempt(nr.merge(nr.open.update))
	}
	t := &openAttempt{e: Event{
		Phase: PhaseStarted, Node: nr.name, Namespace: nr.namespace(), Attempt: nr.attempts, Pre: s, Parents: nr.graph.parents,
		FanOutIndex: nr.graph.fanOutIndex, Branch: nr.graph.branch,
	}}
	nr.attempts++
	nr.open = t
	nr.graph.emitStarted(&t.e, nr.node.body.kind())
	ctx, t.end = nr.graph.seg.span(ctx, Span{
		Kind: nr.node.body.kind(), Name: nr.name, Namespace: t.e.Namespace, Step: t.e.Step, Attempt: t.e.Attempt,
		FanOutIndex: t.e.FanOutIndex, Branch: t.e.Branch,
	})
	u, susp, err := nr.node.body.run(ctx, nr, s)
	if susp != nil {
		nr.susp = susp
		return nil, errSuspended
	}
	if err != nil {
		nr.endAttempt(State{}, nr.failure(err))
		return nil, err
	}
	t.update = u
	return u, nil
}

// tell ends the open attempt, if there is one.
func (nr *nodeRun) endAttempt(post State, fail *Error) {
	if nr.open == nil {
		return
	}
	t := nr.open
	nr.open = nil
	t.e.Phase = PhaseCompleted
	if fail != nil {
		t.e.Err = fail
	} else {
		t.e.Post = post
	}
	nr.graph.emit(t.e, nr.node.body.kind())
	t.end(SpanEnd{Err: t.e.Err})
}

// begin counts a step and tells of an attempt's start, both at once, so that steps are heard of in their order.
//
// A subgraph's node has no events and no step of its own: what happens in it is told by the nodes inside, whose namespace names it.
// Containers (fan-out, branches) have their own pair around those of their instances (graph-engine §6).
func (r *graphRun) emitStarted(e *Event, k SpanKind) {
	r.seg.mu.Lock()
	defer r.seg.mu.Unlock()
	e.Step = r.seg.step
	if k != SpanSubgraph {
		r.seg.step++
	}
	r.emit(*e, k)
}

func (r *graphRun) emit(e Event, k SpanKind) {
	if k != SpanSubgraph {
		r.seg.queue.put(e, r.observers)
	}
}

func (n Node) kind() SpanKind { return SpanNode }

// run calls the function. Whatever it returns, a suspension that it asked for stands; a panic does not hide behind one.
func (n Node) run(ctx context.Context, nr *nodeRun, s State) (u Update, susp *suspension, err error) {
	a := &nodeScope{node: nr}
	defer func() {
		asked, forced := a.close()
		if p := recover(); p != nil {
			u, susp, err = nil, nil, newPanic(p)
		} else if forced != nil {
			u, susp, err = nil, nil, forced
		} else if asked != nil {
			u, susp, err = nil, asked, nil
		} else if err != nil && ctx.Err() != nil {
			err = withCause(ctx, err)
		}
	}()
	u, err = n(context.WithValue(ctx, scopeKey{}, a), s)
	return u, nil, err
}

// stopped adds to an error why the invocation was stopped, for the category.
func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
