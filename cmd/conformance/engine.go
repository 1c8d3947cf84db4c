package main

import (
	"cmp"
	"context"
	"slices"
	"time"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// runEngine runs the invocations of a case of graph-engine, sessions or suspension.
func (r *runner) runEngine() {
	if !r.doc.Has("invocations") {
		n := 1
		if d := r.doc.Get("run_count"); d != nil {
			n = int(d.Number())
		}
		for range n - 1 {
			r.invoke(r.doc)
		}
		r.checkTurn(engineChecks, r.invoke(r.doc))
		r.sameRuns()
		return
	}
	for _, d := range r.doc.Get("invocations").Items() {
		r.checkTurn(engineChecks, r.invoke(d))
	}
}

// invoke runs one invocation as the fixture describes it.
func (r *runner) invoke(d *fixture.Node) *evidence.Turn {
	t := r.begin(evidence.Invocation, d)
	in := graph.Invocation{Observers: r.scoped}
	in.Session = core.SessionID(cmp.Or(d.Get("session_id"), r.doc.Get("session_id")).Text())
	t.Session, t.Given = in.Session, in.Session
	for _, from := range []*fixture.Node{r.doc, d} {
		if initial := from.Get("initial_state"); !initial.IsNull() {
			in.Initial = update(r.Conversation, initial)
		}
	}
	if resume := d.Get("resume_invocation"); resume != nil {
		in.Resume = r.invocationID(resume)
		in.Payload = payload(d.Get("signal_payload"))
		r.signal(t, chat.Signal{Invocation: in.Resume, Payload: in.Payload})
		if t.ResumedRecord == nil && r.gateway == nil {
			t.ResumedRecord = r.lastPause(in.Resume)
		}
	}
	t.Before = r.stored(t.Session)
	if r.gateway != nil {
		r.productTurn(t)
		return t
	}
	t.Settle(in, r.Graph.Invoke(r.ctx, r.stores, in))
	r.drain(t, d)
	r.end(t)
	return t
}

// lastPause returns the last pause if there is no pause store: that of the outcome that reported it, unless it was
// resumed since.
func (r *runner) lastPause(id core.InvocationID) *core.PausedRecord {
	for _, t := range slices.Backward(r.Turns[:len(r.Turns)-1]) {
		refused := t.Errored() && t.Signal != nil && !t.Resumed() // then the pause is unchanged
		switch {
		case t.ID != id || refused:
		case t.Suspended():
			return &core.PausedRecord{
				Invocation: id, Session: t.Session, Descriptor: *t.Descriptor, Frames: []core.Frame{{Node: t.Place[0]}},
			}
		default:
			return nil
		}
	}
	return nil
}

// drain waits for the observers, for the time that the fixture sets.
func (r *runner) drain(t *evidence.Turn, d *fixture.Node) {
	limit := cmp.Or(d.Get("invoke_with").Get("drain"), d.Get("invoke").Get("drain"), d.Get("drain"))
	start := time.Now()
	if s := limit.Get("timeout_seconds"); !s.IsNull() {
		t.DrainLimit = time.Duration(s.Number() * float64(time.Second))
		var err error
		if t.Drained, err = r.Graph.DrainWithin(r.ctx, t.DrainLimit); err != nil {
			r.Fault(s, "%v", err)
		}
	} else {
		ctx, cancel := context.WithTimeout(r.ctx, evidence.Patience)
		defer cancel()
		t.Drained = r.Graph.Drain(ctx)
	}
	t.DrainTook = time.Since(start)
}

// sameRuns compares all runs of one invocation (graph-engine §5).
func (r *runner) sameRuns() {
	for _, t := range r.Turns[1:] {
		first := r.Turns[0]
		if d := fixture.DiffValues(first.State, t.State); d != "" {
			r.Faults = append(r.Faults, t.Name+": the final state differs from the first run's: "+d)
		}
		if d := fixture.DiffValues(first.Ran(), t.Ran()); d != "" {
			r.Faults = append(r.Faults, t.Name+": the order of nodes differs from the first run's: "+d)
		}
	}
}
