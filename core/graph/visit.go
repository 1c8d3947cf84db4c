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
	run(ctx context.Context, v *visit, s State) (Update, *halt, error)
	kind() SpanKind
}

// visit is one passage of a run through a node: its attempts, the merge, the edge.
type visit struct {
	r        *run
	name     string
	node     node
	pre      State
	inner    *start // where the subgraph goes on that the node is
	attempts int

	halt *halt
	open *told // the attempt whose end is still to be told
}

// told is an attempt that has begun: its event and its span.
type told struct {
	e      Event
	end    func(SpanEnd)
	update Update
}

func (v *visit) namespace() []string { return append(slices.Clone(v.r.path), v.name) }

// run goes through the node.
func (v *visit) run(ctx context.Context) (next string, post State, h *halt, fail *Error) {
	update, err := v.through(ctx)
	if v.halt != nil {
		h, fail = v.pause()
		return "", v.pre, h, fail
	}
	if err != nil {
		fail = v.failure(err)
	} else if post, fail = v.merge(update); fail == nil {
		next, fail = v.r.g.next(v.name, post)
	}
	v.tell(post, fail)
	return next, post, nil, fail
}

func (v *visit) merge(u Update) (State, *Error) {
	post, fail := v.pre.merge(u)
	if fail != nil {
		fail.Node, fail.State = v.name, v.pre
	}
	return post, fail
}

func (v *visit) failure(err error) *Error {
	return &Error{Category: core.NodeException, Node: v.name, State: v.pre, Err: err}
}

// once is one attempt: its event started, its body, and where it fails the event that says so. What a success came to is told once
// it is merged, the edge evaluated, or another attempt begins.
func (v *visit) once(ctx context.Context, s State) (Update, error) {
	if v.open != nil {
		v.tell(v.merge(v.open.update))
	}
	t := &told{e: Event{
		Phase: PhaseStarted, Node: v.name, Namespace: v.namespace(), Attempt: v.attempts, Pre: s, Parents: v.r.parents,
		FanOutIndex: v.r.index, Branch: v.r.branch,
	}}
	v.attempts++
	v.open = t
	v.r.begin(&t.e, v.node.body.kind())
	ctx, t.end = v.r.l.span(ctx, Span{
		Kind: v.node.body.kind(), Name: v.name, Namespace: t.e.Namespace, Step: t.e.Step, Attempt: t.e.Attempt,
		FanOutIndex: t.e.FanOutIndex, Branch: t.e.Branch,
	})
	u, h, err := v.node.body.run(ctx, v, s)
	if h != nil {
		v.halt = h
		return nil, errSuspended
	}
	if err != nil {
		v.tell(State{}, v.failure(err))
		return nil, err
	}
	t.update = u
	return u, nil
}

// tell ends the open attempt, if there is one.
func (v *visit) tell(post State, fail *Error) {
	if v.open == nil {
		return
	}
	t := v.open
	v.open = nil
	t.e.Phase = PhaseCompleted
	if fail != nil {
		t.e.Err = fail
	} else {
		t.e.Post = post
	}
	v.r.emit(t.e, v.node.body.kind())
	t.end(SpanEnd{Err: t.e.Err})
}

// begin counts a step and tells of an attempt's start, both at once, so that steps are heard of in their order.
//
// A subgraph's node has no events and no step of its own: what happens in it is told by the nodes inside, whose namespace names it.
// Containers (fan-out, branches) have their own pair around those of their instances (graph-engine §6).
func (r *run) begin(e *Event, k SpanKind) {
	r.l.mu.Lock()
	defer r.l.mu.Unlock()
	e.Step = r.l.step
	if k != SpanSubgraph {
		r.l.step++
	}
	r.emit(*e, k)
}

func (r *run) emit(e Event, k SpanKind) {
	if k != SpanSubgraph {
		r.l.queue.put(e, r.observers)
	}
}

func (n Node) kind() SpanKind { return SpanNode }

// run calls the function. Whatever it returns, a suspension that it asked for stands; a panic does not hide behind one.
func (n Node) run(ctx context.Context, v *visit, s State) (u Update, h *halt, err error) {
	a := &attempt{visit: v}
	defer func() {
		asked, forced := a.close()
		if p := recover(); p != nil {
			u, h, err = nil, nil, newPanic(p)
		} else if forced != nil {
			u, h, err = nil, nil, forced
		} else if asked != nil {
			u, h, err = nil, asked, nil
		} else if err != nil && ctx.Err() != nil {
			err = stopped(ctx, err)
		}
	}()
	u, err = n(context.WithValue(ctx, attemptKey{}, a), s)
	return u, nil, err
}

// stopped adds to an error why the invocation was stopped, for the category.
func stopped(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
