package graph

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"gatehouse/core"
)

// leg is one pass of an invocation: from its entry, or from where it was paused, to END, an error or the next pause.
type segment struct {
	g           *Graph
	st          Stores
	ids         IDs
	queue       *queue
	entry       Entry
	firstRow    int    // message rows that earlier legs wrote (core.Writer)
	pausedTrace string // of the leg that was paused (Tracer.Mark)

	mu   sync.Mutex
	step int // of the next attempt
}

// run is one graph of a leg at work: the invocation's own, or a subgraph's inside it.
type graphRun struct {
	seg         *segment
	g           *Graph
	path        []string // the nodes around it, the outermost graph's first
	parents     []State  // their states, likewise
	observers   []Observer
	fanOutIndex *int // of the fan-out instance that it belongs to
	branch      string
	noSuspend   bool     // nothing in it may suspend: a container collects what becomes of it
	completed   []string // nodes that are done, each once, in the order in which they first were
}

// start is where a run begins: at a node, inside it, or behind it where it suspended.
type start struct {
	state     State
	node      string
	afterNode bool
	inner     *start // where the subgraph goes on that the node is
	attempt   int    // of the node that runs again
	completed []string
}

// sessioned reports whether the invocation is bound to a session that a store keeps.
func (seg *segment) sessioned() bool { return seg.ids.Session != "" && seg.st.Sessions != nil }

// walk runs the outermost graph.
func (seg *segment) run(ctx context.Context, in Invocation, at start) Result {
	ctx = context.WithValue(ctx, idsKey{}, seg.ids)
	ctx = context.WithValue(ctx, scopeKey{}, (*nodeScope)(nil)) // a node of another invocation around this one is out of reach
	if seg.g.observed || len(in.Observers) > 0 {
		seg.queue = newQueue(ctx, seg.g.log, in.Observers)
		seg.g.queues.add(seg.queue)
		defer seg.queue.end()
	}
	ctx, end := seg.span(ctx, Span{Kind: SpanInvocation, Name: seg.g.name, Entry: seg.g.entry, Resumes: seg.pausedTrace})

	seg.entry.State = at.state
	r := &graphRun{seg: seg, g: seg.g, observers: seg.g.observers, completed: at.completed}
	res := seg.runGraph(ctx, r, at)
	res.FirstNew = Messages.Get(at.state).Len()
	end(SpanEnd{Err: res.Err, Suspended: res.suspended()})
	return res
}

func (seg *segment) runGraph(ctx context.Context, r *graphRun, at start) Result {
	state, susp, fail := r.loop(ctx, at)
	switch {
	case fail != nil:
		return failed(fail)
	case susp != nil:
		return seg.suspend(ctx, susp)
	}
	return seg.saveAtEnd(ctx, state)
}

// loop runs node after node. It ends with the final state, a suspension or a failure.
func (r *graphRun) loop(ctx context.Context, at start) (State, *suspension, *Error) {
	state, node := at.state, at.node
	if at.afterNode {
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
		nr := &nodeRun{graph: r, name: node, node: r.g.nodes[node], state: state, inner: inner, attempts: attempt}
		next, post, susp, fail := nr.run(ctx)
		if susp != nil || fail != nil {
			return state, susp, fail
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
func (nr *nodeRun) subgraphRun(g *Graph, s State) *graphRun {
	r := nr.graph
	return &graphRun{
		seg: r.seg, g: g, path: nr.namespace(), parents: append(slices.Clone(r.parents), s),
		observers: slices.Concat(r.observers, g.observers), fanOutIndex: r.fanOutIndex, branch: r.branch, noSuspend: r.noSuspend,
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
func (seg *segment) saveAtEnd(ctx context.Context, state State) Result {
	if seg.sessioned() && seg.g.autoSave {
		if err := seg.save(ctx, state, core.SaveOptions{}); err != nil {
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
