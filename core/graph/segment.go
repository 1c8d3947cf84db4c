package graph

import (
	"context"
	"sync"

	"gatehouse/core"
)

// segment is one uninterrupted part of an invocation: from its entry, or from a pause, to END, an error or the next
// pause.
type segment struct {
	g           *Graph
	st          Stores
	ids         IDs
	events      *eventQueue
	entry       Entry
	firstRow    int    // message rows that earlier segments wrote (core.Writer)
	pausedTrace string // the span context of the segment that was paused (Tracer.SpanContext)

	mu   sync.Mutex
	step int // of the next attempt
}

// findStart validates the invocation and finds its start: the entry, or the place where a paused invocation stopped.
func (seg *segment) findStart(ctx context.Context, in Invocation) (start, error) {
	for _, o := range in.Observers {
		if err := o.validate(); err != nil {
			return start{}, err
		}
	}
	if in.Resume != "" {
		return seg.fromPause(ctx, in)
	}
	seg.ids = IDs{Invocation: in.ID, Correlation: in.Correlation, Session: in.Session}
	if in.ID == "" {
		seg.ids.Invocation = core.InvocationID(NewID())
	}
	if in.Correlation == "" {
		seg.ids.Correlation = NewID()
	}
	if !urlSafe.MatchString(string(seg.ids.Invocation)) || !urlSafe.MatchString(seg.ids.Correlation) {
		return start{}, core.Errorf(core.Invalid, "an invocation id and a correlation id must be URL-safe, not %q "+
			"and %q", in.ID, in.Correlation)
	}
	return seg.fromEntry(ctx, in)
}

// sessioned reports whether the invocation is bound to a session in a store.
func (seg *segment) sessioned() bool { return seg.ids.Session != "" && seg.st.Sessions != nil }

// run runs the outermost graph and ends the segment.
func (seg *segment) run(ctx context.Context, in Invocation, at start) Result {
	ctx = context.WithValue(ctx, idsKey{}, seg.ids)
	ctx = context.WithValue(ctx, scopeKey{}, (*nodeScope)(nil)) // hides the node of an invocation around this one
	if seg.g.observed || len(in.Observers) > 0 {
		seg.events = newQueue(ctx, in.Observers)
		seg.g.queues.add(seg.events)
		defer seg.events.end()
	}
	ctx, end := seg.span(ctx,
		Span{Kind: SpanInvocation, Name: seg.g.name, Entry: seg.g.entry, Resumes: seg.pausedTrace})

	seg.entry.State = at.state
	r := &graphRun{seg: seg, g: seg.g, observers: seg.g.observers, completed: at.completed}
	res := seg.runGraph(ctx, r, at)
	res.FirstNew = Messages.Get(at.state).Len()
	ended := SpanEnd{Err: res.Err}
	if res.Status == Suspended {
		ended.Suspended = &res.Descriptor
	}
	end(ended)
	return res
}

// runGraph runs the graph, and stores the pause or, at END, the session.
func (seg *segment) runGraph(ctx context.Context, r *graphRun, at start) Result {
	state, susp, fail := r.loop(ctx, at)
	switch {
	case fail != nil:
		return failed(fail)
	case susp != nil:
		return seg.suspend(ctx, susp)
	case seg.sessioned() && seg.g.autoSave:
		if err := seg.save(ctx, state, core.SaveOptions{}); err != nil {
			return Result{Status: Errored, State: state, Err: err}
		}
	}
	return Result{Status: Completed, State: state}
}

// failed is the result of an error. Its node is the innermost one on the path of the error.
func failed(err *Error) Result {
	r := Result{Status: Errored, State: err.State, Err: err, Namespace: err.path()}
	if n := len(r.Namespace); n > 0 {
		r.Node = r.Namespace[n-1]
	}
	return r
}
