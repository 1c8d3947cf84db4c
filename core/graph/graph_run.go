package graph

import (
	"context"
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
		observers: slices.Concat(r.observers, g.observers), fanOutIndex: r.fanOutIndex, branch: r.branch, noSuspend: r.noSuspend,
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
		return "", &Error{Category: core.RoutingError, Node: node, State: s, Err: fmt.Errorf("the edge leads to %q, which is not a node", to)}
	}
	return to, nil
}
