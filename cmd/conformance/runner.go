package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/product"
	"gatehouse/cmd/conformance/internal/providers"
	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// runner runs one case: its graph and stores, the evidence, and the faults found.
type runner struct {
	*evidence.Case
	ctx    context.Context
	doc    *fixture.Node
	memory *graph.Memory
	store  *evidence.Store // over memory
	stores graph.Stores    // the stores that the graph uses: store, or none

	recorder  *evidence.Recorder
	scoped    []graph.Observer            // of each invocation
	attached  map[string][]graph.Observer // to subgraphs, by name or "inner"
	behaviors map[string]string           // of the observers that the case declares, by name
	listeners map[string]*listener        // of chats, by name
	subFault  error                       // of a subgraph that does not compile
	match     fixture.Matcher

	startedAt  time.Time        // of the turn
	subscribed int              // the number of subscriptions at its start
	models     *providers.Graph // of its nodes; nil: they call none
	gateway    *product.Gateway // nil: turns run on stores in memory

	product bool // the case runs through the product
	result
}

// newRunner returns the runner of a case.
func newRunner(ctx context.Context, doc *fixture.Node) *runner {
	memory, recorder := graph.NewMemory(), &evidence.Recorder{}
	return &runner{
		Case: &evidence.Case{Inner: map[string][]string{}, Nodes: map[string]bool{}}, ctx: ctx, doc: doc,
		memory: memory, recorder: recorder,
		store:    &evidence.Store{Sessions: memory, Pauses: memory, Recorder: recorder, Faults: evidence.Faults{}},
		attached: map[string][]graph.Observer{}, behaviors: map[string]string{}, listeners: map[string]*listener{},
	}
}

// begin opens a turn.
func (r *runner) begin(kind evidence.Kind, d *fixture.Node) *evidence.Turn {
	t := &evidence.Turn{
		Kind: kind, Node: d, Name: cmp.Or(d.Get("name").Text(), fmt.Sprintf("%s %d", kind, len(r.Turns)+1)),
	}
	r.subscribed, r.startedAt = len(r.Subscriptions), time.Now()
	r.recorder.Take()
	r.Turns = append(r.Turns, t)
	return t
}

// end closes a turn: what happened since it began or, if the product retried it, since its last attempt belongs to it.
func (r *runner) end(t *evidence.Turn) {
	t.Took = time.Since(r.startedAt)
	t.Activity = r.recorder.Take()
	t.Subscribed = len(r.Subscriptions) - r.subscribed
	if res := t.Result(); res != nil {
		t.ID, t.Session = res.Invocation, cmp.Or(res.Session, t.Session)
	}
	t.After = r.stored(t.Session)
	if t.ID != "" {
		t.PausedRecord = r.waiting(t.ID, "")
	}
}

// stored reads a session without recording the call; nil if there is none.
func (r *runner) stored(id core.SessionID) *evidence.Stored {
	load := r.memory.Load
	if r.gateway != nil {
		load = r.gateway.LoadSession
	}
	rec, err := load(r.ctx, id)
	if err != nil {
		return nil
	}
	return evidence.StoredOf(r.ctx, rec)
}

// waiting reads the paused record of an invocation or a signal without recording the call; nil if none waits.
func (r *runner) waiting(id core.InvocationID, signal core.SignalID) (rec *core.PausedRecord) {
	switch {
	case r.gateway != nil:
		rec, _ = r.gateway.LoadPaused(r.ctx, id, signal)
	case id != "":
		rec, _ = r.memory.Paused(r.ctx, id)
	default:
		rec, _ = r.memory.BySignal(r.ctx, signal)
	}
	return rec
}

// invocationID replaces a placeholder for an invocation's id.
func (r *runner) invocationID(d *fixture.Node) core.InvocationID {
	text := d.Text()
	if bound := r.match.Bound(text); bound != "" {
		return core.InvocationID(bound)
	}
	if !strings.HasPrefix(text, "<") || !strings.HasSuffix(text, ">") {
		return core.InvocationID(text)
	}
	switch {
	case strings.Contains(text, "suspended outcome"):
		for _, t := range slices.Backward(r.Turns) {
			if t.Suspended() {
				return t.ID
			}
		}
		d.Malformed("no turn has suspended yet")
	case strings.Contains(text, "complete"):
		for _, t := range r.Turns {
			if t.Completed() {
				return t.ID
			}
		}
		d.Malformed("no turn has completed yet")
	}
	return core.InvocationID(text)
}

// sameInvocation compares an id with one that the fixture names.
func (r *runner) sameInvocation(d *fixture.Node, got core.InvocationID) bool {
	if want := r.invocationID(d); string(want) != d.Text() {
		return got == want
	}
	return r.match.Diff(d, string(got), false) == ""
}

// payload reads a mapping of values, such as a signal's payload; nil if there is none.
func payload(d *fixture.Node) map[string]json.RawMessage {
	if d == nil {
		return nil
	}
	out := map[string]json.RawMessage{}
	for k, v := range d.Fields() {
		raw, err := json.Marshal(v)
		if err != nil {
			d.Malformed("%s: %v", k, err)
		}
		out[k] = raw
	}
	return out
}

// signal records what a turn resumes, and the record that waits for it.
func (r *runner) signal(t *evidence.Turn, s chat.Signal) {
	t.Signal = &s
	t.ResumedRecord = r.waiting(s.Invocation, s.SignalID)
	if t.ResumedRecord != nil {
		t.Session = t.ResumedRecord.Session
	}
}
