package graph

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"gatehouse/core"
)

// leg is one pass of an invocation: from its entry, or from where it was paused, to END, an error or the next pause.
type leg struct {
	g     *Graph
	st    Stores
	ids   IDs
	queue *queue
	entry Entry
	from  int    // message rows that earlier legs wrote (core.Writer)
	trace string // of the leg that was paused (Tracer.Mark)

	mu   sync.Mutex
	step int // of the next attempt
}

// run is one graph of a leg at work: the invocation's own, or a subgraph's inside it.
type run struct {
	l         *leg
	g         *Graph
	path      []string // the nodes around it, the outermost graph's first
	parents   []State  // their states, likewise
	observers []Observer
	index     *int // of the fan-out instance that it belongs to
	branch    string
	sealed    bool     // nothing in it may suspend: a container collects what becomes of it
	completed []string // nodes that are done, each once, in the order in which they first were
}

// start is where a run begins: at a node, inside it, or behind it where it suspended.
type start struct {
	state   State
	node    string
	after   bool
	inner   *start // where the subgraph goes on that the node is
	attempt int    // of the node that runs again
	done    []string
}

// sessioned reports whether the invocation is bound to a session that a store keeps.
func (l *leg) sessioned() bool { return l.ids.Session != "" && l.st.Sessions != nil }

// walk runs the outermost graph.
func (l *leg) walk(ctx context.Context, in Invocation, at start) Result {
	ctx = context.WithValue(ctx, idsKey{}, l.ids)
	ctx = context.WithValue(ctx, attemptKey{}, (*attempt)(nil)) // a node of another invocation around this one is out of reach
	if l.g.heard || len(in.Observers) > 0 {
		l.queue = newQueue(ctx, l.g.log, in.Observers)
		l.g.drains.add(l.queue)
		defer l.queue.end()
	}
	ctx, end := l.span(ctx, Span{Kind: SpanInvocation, Name: l.g.name, Entry: l.g.entry, Resumes: l.trace})

	l.entry.State = at.state
	r := &run{l: l, g: l.g, observers: l.g.observers, completed: at.done}
	res := l.close(ctx, r, at)
	res.Mark = Messages.Get(at.state).Len()
	end(SpanEnd{Err: res.Err, Suspended: res.suspended()})
	return res
}

func (l *leg) close(ctx context.Context, r *run, at start) Result {
	state, h, fail := r.loop(ctx, at)
	switch {
	case fail != nil:
		return failed(fail)
	case h != nil:
		return l.suspend(ctx, h)
	}
	return l.finish(ctx, state)
}

// loop runs node after node. It ends with the final state, a suspension or a failure.
func (r *run) loop(ctx context.Context, at start) (State, *halt, *Error) {
	state, node := at.state, at.node
	if at.after {
		next, fail := r.g.next(node, state)
		if fail != nil {
			return state, nil, fail
		}
		node, at.inner = next, nil
	}
	for inner, attempt := at.inner, at.attempt; node != END; inner, attempt = nil, 0 {
		if ctx.Err() != nil {
			return state, nil, &Error{Category: core.NodeException, Node: node, State: state, Err: context.Cause(ctx)}
		}
		v := &visit{r: r, name: node, node: r.g.nodes[node], pre: state, inner: inner, attempts: attempt}
		next, post, h, fail := v.run(ctx)
		if h != nil || fail != nil {
			return state, h, fail
		}
		if !slices.Contains(r.completed, node) {
			r.completed = append(r.completed, node)
		}
		state, node = post, next
	}
	if err := r.g.schema.check(state); err != nil {
		return state, nil, &Error{Category: core.StateValidationError, State: state, Err: err}
	}
	return state, nil, nil
}

// within is the run of a graph inside a node of this one.
func (v *visit) within(g *Graph, s State) *run {
	r := v.r
	return &run{
		l: r.l, g: g, path: v.namespace(), parents: append(slices.Clone(r.parents), s),
		observers: slices.Concat(r.observers, g.observers), index: r.index, branch: r.branch, sealed: r.sealed,
	}
}

// next evaluates a node's edge on the state after its update. The error carries that state.
func (g *Graph) next(node string, s State) (to string, fail *Error) {
	e, ok := g.edges[node]
	if !ok {
		return "", &Error{Category: core.RoutingError, Node: node, State: s, Err: fmt.Errorf("no edge leads out of it")}
	}
	if e.route == nil {
		return e.to, nil
	}
	defer func() {
		if p := recover(); p != nil {
			fail = &Error{Category: core.EdgeException, Node: node, State: s, Err: newPanic(p)}
		}
	}()
	to, err := e.route(s)
	if err != nil {
		return "", &Error{Category: core.EdgeException, Node: node, State: s, Err: err}
	}
	if _, ok := g.nodes[to]; !ok && to != END {
		return "", &Error{Category: core.RoutingError, Node: node, State: s, Err: fmt.Errorf("the edge leads to %q, which is not a node", to)}
	}
	return to, nil
}

// finish is what happens at END: the session is saved.
func (l *leg) finish(ctx context.Context, state State) Result {
	if l.sessioned() && l.g.autoSave {
		if err := l.save(ctx, state, core.SaveOptions{}); err != nil {
			return Result{Status: Errored, State: state, Err: err}
		}
	}
	return Result{Status: Completed, State: state}
}

// failed is the end of an invocation by an error; the place is the innermost node of the path that the error came along.
func failed(err *Error) Result {
	r := Result{Status: Errored, State: err.State, Err: err, Namespace: err.path()}
	if n := len(r.Namespace); n > 0 {
		r.Node = r.Namespace[n-1]
	}
	return r
}

func (r Result) suspended() *core.Descriptor {
	if r.Status != Suspended {
		return nil
	}
	return &r.Descriptor
}
