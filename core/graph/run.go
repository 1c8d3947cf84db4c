package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatehouse/core"
)

// graphRun is the execution of one graph in a segment: of the invocation's graph, or of a graph inside it.
type graphRun struct {
	seg         *segment
	g           *Graph
	path        []string // the enclosing nodes, outermost first
	parents     []State  // the states of their graphs, outermost first
	observers   []Observer
	fanOutIndex *int // of the fan-out instance around it
	branch      string
	noSuspend   bool     // inside a container with Policy Collect
	completed   []string // completed nodes, each once, in the order of their first completion
}

// start is where a graphRun begins: at a node, inside it (subgraph), or after it (afterNode).
type start struct {
	state     State
	node      string
	afterNode bool
	subgraph  *start // where the subgraph at this node resumes
	attempt   int    // of a node that runs again
	completed []string
}

// loop runs node after node, and returns the final state, a suspension or a failure.
func (r *graphRun) loop(ctx context.Context, at start) (State, *suspension, *Error) {
	state, node := at.state, at.node
	if at.afterNode {
		next, fail := r.g.next(node, state)
		if fail != nil {
			return state, nil, fail
		}
		node, at.subgraph = next, nil
	}
	for inner, attempt := at.subgraph, at.attempt; node != END; inner, attempt = nil, 0 {
		if ctx.Err() != nil {
			return state, nil, &Error{Category: core.NodeException, Node: node, State: state, Err: context.Cause(ctx)}
		}
		nr := &nodeRun{graph: r, name: node, node: r.g.nodes[node], state: state, resumeAt: inner, attempts: attempt}
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

// runToEnd is loop with a plain error.
func (r *graphRun) runToEnd(ctx context.Context, at start) (State, *suspension, error) {
	state, susp, fail := r.loop(ctx, at)
	if fail != nil {
		return state, nil, fail
	}
	return state, susp, nil
}

// subgraphRun makes the run of a graph inside this node.
func (nr *nodeRun) subgraphRun(g *Graph, s State) *graphRun {
	r := nr.graph
	return &graphRun{
		seg: r.seg, g: g, path: nr.namespace(), parents: append(slices.Clone(r.parents), s),
		observers: slices.Concat(r.observers, g.observers), fanOutIndex: r.fanOutIndex, branch: r.branch,
		noSuspend: r.noSuspend,
	}
}

// next evaluates the edge of a node on the state after its update. The error carries that state.
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
		return "",
			&Error{
				Category: core.RoutingError, Node: node, State: s,
				Err: fmt.Errorf("the edge leads to %q, which is not a node", to),
			}
	}
	return to, nil
}

// node is a node of any kind: a function, a subgraph, a fan-out or parallel branches.
type node struct {
	kind       SpanKind
	body       body
	graphs     []*Graph     // those inside it
	middleware []Middleware // outermost first
}

// body is what a node does.
type body interface {
	// run makes one attempt.
	run(ctx context.Context, nr *nodeRun, s State) (Update, *suspension, error)
	// check checks, at compile time, what the node says of its graph's state.
	check(name string, parent *schema) error
}

// nodeRun is one execution of a node by a graphRun: its attempts, the merge of its update, its edge.
type nodeRun struct {
	graph    *graphRun
	name     string
	node     *node
	state    State
	resumeAt *start // where a subgraph resumes
	attempts int

	susp *suspension
	open *openAttempt // the attempt whose end is not reported yet
}

// openAttempt is an attempt that has begun: its event and its span.
type openAttempt struct {
	e      Event
	end    func(SpanEnd)
	update Update
}

func (nr *nodeRun) namespace() []string { return append(slices.Clone(nr.graph.path), nr.name) }

// run executes the node and finds the next one.
func (nr *nodeRun) run(ctx context.Context) (next string, post State, susp *suspension, fail *Error) {
	update, err := nr.callWrapped(ctx)
	if nr.susp != nil {
		return "", nr.state, nr.propagate(), nil
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

// attempt runs the node once. It reports the start and a failure. The end of a success is reported later: after the
// merge and the edge, or when the next attempt begins.
func (nr *nodeRun) attempt(ctx context.Context, s State) (Update, error) {
	if nr.open != nil {
		nr.endAttempt(nr.merge(nr.open.update))
	}
	att := &openAttempt{e: Event{
		Phase: PhaseStarted, Node: nr.name, Namespace: nr.namespace(), Attempt: nr.attempts, Pre: s,
		Parents:     nr.graph.parents,
		FanOutIndex: nr.graph.fanOutIndex, Branch: nr.graph.branch,
	}}
	nr.attempts++
	nr.open = att
	nr.graph.emitStarted(&att.e, nr.node.kind)
	ctx, att.end = nr.graph.seg.span(ctx, Span{
		Kind: nr.node.kind, Name: nr.name, Namespace: att.e.Namespace, Step: att.e.Step, Attempt: att.e.Attempt,
		FanOutIndex: att.e.FanOutIndex, Branch: att.e.Branch,
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
	att.update = u
	return u, nil
}

// endAttempt reports the end of the open attempt, if there is one.
func (nr *nodeRun) endAttempt(post State, fail *Error) {
	if nr.open == nil {
		return
	}
	att := nr.open
	nr.open = nil
	att.e.Phase = PhaseCompleted
	if fail != nil {
		att.e.Err = fail
	} else {
		att.e.Post = post
	}
	nr.graph.emit(att.e, nr.node.kind)
	att.end(SpanEnd{Err: att.e.Err})
}

// emitStarted counts a step and reports the start of an attempt, both under one lock: observers get the steps in order.
//
// A subgraph's node has no events and no step of its own: the nodes inside report for it, and their namespace names it.
// Containers (fan-out, branches) have a pair of events of their own around those of their instances (graph-engine §6).
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
		r.seg.events.put(delivery{Event: e, observers: r.observers})
	}
}

func (n Node) check(string, *schema) error { return nil }

// run calls the function. A suspension that it requested counts, whatever it returns, but not if it panics.
func (n Node) run(ctx context.Context, nr *nodeRun, s State) (u Update, susp *suspension, err error) {
	scope := &nodeScope{node: nr, attempt: nr.attempts - 1}
	defer func() {
		requested, forced := scope.close()
		if p := recover(); p != nil {
			u, susp, err = nil, nil, newPanic(p)
		} else if forced != nil {
			u, susp, err = nil, nil, forced
		} else if requested != nil {
			u, susp, err = nil, requested, nil
		} else if err != nil && ctx.Err() != nil {
			err = withCause(ctx, err)
		}
	}()
	u, err = n(context.WithValue(ctx, scopeKey{}, scope), s)
	return u, nil, err
}

// withCause adds the cause of the stopped context to an error: it decides the category.
func withCause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); !errors.Is(err, cause) {
		return fmt.Errorf("%w: %w", err, cause)
	}
	return err
}
