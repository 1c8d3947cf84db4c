package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"gatehouse/core"
)

// leg is one pass of an invocation: from its entry, or from where it was paused, to END, an error or the next pause.
type leg struct {
	g         *Graph
	st        Stores
	ids       IDs
	queue     *queue
	entry     Entry
	step      int      // of the next attempt
	from      int      // message rows that earlier legs wrote (core.Writer)
	completed []string // nodes that are done, each once, in the order in which they first were
}

// start is where a leg begins: at a node, or behind the one that suspended.
type start struct {
	state State
	node  string
	after bool
}

// sessioned reports whether the invocation is bound to a session that a store keeps.
func (l *leg) sessioned() bool { return l.ids.Session != "" && l.st.Sessions != nil }

// walk runs node after node.
func (l *leg) walk(ctx context.Context, in Invocation, at start) Result {
	ctx = context.WithValue(ctx, idsKey{}, l.ids)
	ctx = context.WithValue(ctx, attemptKey{}, (*attempt)(nil)) // a node of another invocation around this one is out of reach
	l.queue = newQueue(ctx, l.g.log, slices.Concat(l.g.observers, in.Observers))
	l.g.drains.add(l.queue)
	defer l.queue.end()

	l.entry.State = at.state
	mark := Messages.Get(at.state).Len()
	res := l.loop(ctx, at)
	res.Mark = mark
	return res
}

func (l *leg) loop(ctx context.Context, at start) Result {
	state, node := at.state, at.node
	if at.after {
		next, err := l.g.next(node, state)
		if err != nil {
			return failed(err)
		}
		node = next
	}
	for node != END {
		if ctx.Err() != nil {
			return failed(&Error{Category: core.NodeException, Node: node, State: state, Err: context.Cause(ctx)})
		}
		next, after, stopped := l.visit(ctx, node, state)
		if stopped != nil {
			return *stopped
		}
		state, node = after, next
	}
	return l.finish(ctx, state)
}

// visit runs one node: its event started, its body, the merge, the edge, and the event that says how it ended. A Result is given
// where the invocation stops here.
func (l *leg) visit(ctx context.Context, node string, pre State) (next string, post State, stopped *Result) {
	e := Event{Phase: PhaseStarted, Node: node, Namespace: []string{node}, Step: l.step, Pre: pre}
	l.step++
	l.queue.put(e)
	update, pause, err := l.attempt(ctx, node, pre)
	if pause != nil {
		return "", State{}, l.suspend(ctx, e, *pause)
	}
	var fail *Error
	if err != nil {
		fail = &Error{Category: core.NodeException, Node: node, State: pre, Err: err}
	} else if post, fail = pre.merge(update); fail != nil {
		fail.Node, fail.State = node, pre
	} else {
		next, fail = l.g.next(node, post)
	}
	e.Phase = PhaseCompleted
	if fail != nil {
		e.Err = fail
		l.queue.put(e)
		res := failed(fail)
		return "", State{}, &res
	}
	e.Post = post
	l.queue.put(e)
	l.complete(node)
	return next, post, nil
}

func (l *leg) complete(node string) {
	if !slices.Contains(l.completed, node) {
		l.completed = append(l.completed, node)
	}
}

// attempt runs a node's body. Whatever it returns, a suspension that it asked for stands; a panic does not hide behind one.
func (l *leg) attempt(ctx context.Context, node string, state State) (u Update, pause *pause, err error) {
	a := &attempt{leg: l, state: state}
	defer func() {
		asked := a.close()
		if p := recover(); p != nil {
			u, pause, err = nil, nil, newPanic(p)
		} else if asked != nil {
			u, pause, err = nil, asked, nil
		} else if err != nil && ctx.Err() != nil && !errors.Is(err, context.Cause(ctx)) {
			err = fmt.Errorf("%w: %w", err, context.Cause(ctx)) // why it was stopped, for the category
		}
	}()
	u, err = l.g.nodes[node](context.WithValue(ctx, attemptKey{}, a), state)
	return u, nil, err
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

// finish is what happens at END: the state is validated and the session saved.
func (l *leg) finish(ctx context.Context, state State) Result {
	if err := l.g.schema.check(state); err != nil {
		return failed(&Error{Category: core.StateValidationError, State: state, Err: err})
	}
	if l.sessioned() && l.g.autoSave {
		if err := l.save(ctx, state, core.SaveOptions{}); err != nil {
			return Result{Status: Errored, State: state, Err: err}
		}
	}
	return Result{Status: Completed, State: state}
}

func failed(err *Error) Result {
	r := Result{Status: Errored, State: err.State, Err: err, Node: err.Node}
	if err.Node != "" {
		r.Namespace = []string{err.Node}
	}
	return r
}
