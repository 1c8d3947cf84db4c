package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/product"
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
	stores graph.Stores    // what the graph is given of store

	events    *evidence.Events
	telemetry *evidence.Telemetry
	scoped    []graph.Observer            // of each invocation
	attached  map[string][]graph.Observer // to subgraphs, by name or "inner"
	behaviors map[string]string           // of the observers that the case declares, by name
	subFault  error                       // of a subgraph that does not compile
	match     fixture.Matcher

	turnStart marks
	startLock sync.Mutex
	gateway   *product.Gateway // nil: turns run on stores in memory

	faults        []string
	unchecked     []string
	product       bool     // the case runs through the product
	noCounterpart string   // why it does not, though it was requested
	unmatched     []string // assertions without a counterpart in the product
}

// newRunner returns the runner of a case.
func newRunner(ctx context.Context, doc *fixture.Node) *runner {
	memory := graph.NewMemory()
	c := &evidence.Case{Journal: &evidence.Journal{}, Records: memory, Listeners: map[string]*evidence.Listener{}, Inner: map[string][]string{}, Nodes: map[string]bool{}}
	return &runner{
		Case: c, ctx: ctx, doc: doc, memory: memory, events: &evidence.Events{}, telemetry: evidence.NewTelemetry(),
		store:    &evidence.Store{Sessions: memory, Pauses: memory, Journal: c.Journal, Faults: map[string]core.Category{}},
		attached: map[string][]graph.Observer{}, behaviors: map[string]string{},
	}
}

// marks are the lengths of all evidence when a turn began.
type marks struct {
	entries, observed, events, spans, lines, subscriptions int
	at                                                     time.Time
}

// begin opens a turn.
func (r *runner) begin(kind evidence.Kind, d *fixture.Node) *evidence.Turn {
	t := &evidence.Turn{Kind: kind, Node: d, Name: fmt.Sprintf("%s %d", kind, len(r.Turns)+1)}
	if n := d.Get("name"); n != nil {
		t.Name = n.Text()
	}
	r.turnStart.subscriptions, r.turnStart.at = len(r.Subscriptions), time.Now()
	r.mark()
	r.Turns = append(r.Turns, t)
	return t
}

// mark stores the lengths before a turn or, if the product retries it, before its last attempt.
func (r *runner) mark() {
	r.startLock.Lock()
	defer r.startLock.Unlock()
	m := &r.turnStart
	m.entries = r.Journal.Len()
	m.observed, m.events = r.events.Len()
	m.spans, m.lines = r.telemetry.Len()
}

// end closes a turn: what happened since it began belongs to it.
func (r *runner) end(t *evidence.Turn) {
	r.startLock.Lock()
	m := r.turnStart
	r.startLock.Unlock()
	t.Took = time.Since(m.at)
	t.Entries = r.Journal.From(m.entries)
	t.Observed, t.Events = r.events.From(m.observed, m.events)
	t.Spans, t.Logs = r.telemetry.From(m.spans, m.lines)
	t.Subscribed = len(r.Subscriptions) - m.subscriptions
	if res := t.Result(); res != nil {
		t.ID = res.Invocation
		if res.Session != "" {
			t.Session = res.Session
		}
	}
	t.After = r.Look(r.ctx, t.Session)
	t.PausedRecord, _ = r.Records.Paused(r.ctx, t.ID)
}

func (r *runner) fault(d *fixture.Node, format string, args ...any) {
	r.faults = append(r.faults, d.Path+": "+fmt.Sprintf(format, args...))
}

// unread adds a fault for every key that was not read.
func (r *runner) unread() {
	for _, path := range r.doc.Leftovers() {
		r.faults = append(r.faults, "fixture_directive_unknown: "+path)
	}
}

// guard turns a malformed fixture, and a panic of the runner, into a fault of the case.
func (r *runner) guard(f func()) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case fixture.Fault:
			r.faults = append(r.faults, p.Text)
		default:
			r.faults = append(r.faults, fmt.Sprintf("the runner panicked: %v", p))
		}
	}()
	f()
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
		for i := len(r.Turns) - 1; i >= 0; i-- {
			if t := r.Turns[i]; t.Suspended() {
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

// payload reads a signal's payload.
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
	t.ResumedRecord = r.Waiting(r.ctx, s.Invocation, s.SignalID)
	if t.ResumedRecord != nil {
		t.Session = t.ResumedRecord.Session
	}
}
