package main

import (
	"fmt"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/graph"
)

// check compares one assertion with what happened in a turn.
type check func(r *runner, t *evidence.Turn, v *fixture.Node)

// checkTurn checks the assertions of a turn: those under "expected", which must all be known, and those next to it.
func (r *runner) checkTurn(checks map[string]check, t *evidence.Turn) {
	for _, d := range []*fixture.Node{t.Node, t.Node.Get("expected")} {
		r.apply(checks, t, d)
	}
	if t.Errored() && !t.ErrorExpected {
		r.Faults = append(r.Faults, fmt.Sprintf("%s failed: %v", t.Name, t.Err))
	}
}

// apply checks the assertions of a mapping. The invariants of a case come last, see runCase.
func (r *runner) apply(checks map[string]check, t *evidence.Turn, d *fixture.Node) {
	d.Each(func(key string, v *fixture.Node) bool {
		c, ok := checks[key]
		if ok && r.withoutCounterpart(key, v) {
			return true
		}
		if ok = ok && (d != r.doc || key != "invariants" && key != "observers"); ok {
			c(r, t, v)
		}
		return ok
	})
}

// keys reads the keys of a mapping, each by its function. A key that is not in the table stays unread, and so fails the
// case.
func keys(v *fixture.Node, table map[string]func(*fixture.Node)) {
	v.Each(func(key string, d *fixture.Node) bool {
		read, ok := table[key]
		if ok {
			read(d)
		}
		return ok
	})
}

// is compares a whole value.
func (r *runner) is(v *fixture.Node, got any) { r.equal(v, got, false) }

// includes compares only the named keys of mappings, at every depth.
func (r *runner) includes(v *fixture.Node, got any) { r.equal(v, got, true) }

func (r *runner) equal(v *fixture.Node, got any, subset bool) {
	if d := r.match.Diff(v, got, subset); d != "" {
		r.Fault(v, "%s", d)
	}
}

// must adds a fault at the node unless ok, and counts all of the node as read. It returns ok.
func (r *runner) must(ok bool, v *fixture.Node, format string, args ...any) bool {
	if !ok {
		v.Value()
		r.Fault(v, format, args...)
	}
	return ok
}

// state compares a whole state; null is an empty one.
func (r *runner) state(v *fixture.Node, got map[string]any) {
	if v.IsNull() {
		r.must(len(got) == 0, v, "it is %s", fixture.Show(got))
		return
	}
	v.Fields() // it must be a mapping
	r.is(v, got)
}

// endState is the state that a turn ended with.
func (r *runner) endState(t *evidence.Turn, v *fixture.Node) map[string]any {
	if t.State == nil {
		r.Fault(v, "there is no state: %v", t.Err)
		return map[string]any{}
	}
	return t.State
}

func checkOutcome(r *runner, t *evidence.Turn, v *fixture.Node) {
	t.ErrorExpected = t.ErrorExpected || v.Text() == string(graph.Errored)
	r.must(string(t.Status) == v.Text(), v, "it is %s, not %s (%v)", t.Status, v.Text(), t.Err)
}

func checkFinalState(r *runner, t *evidence.Turn, v *fixture.Node) {
	r.must(!t.Suspended(), v, "the turn suspended")
	r.state(v, r.endState(t, v))
}

func checkSuspendedState(r *runner, t *evidence.Turn, v *fixture.Node) {
	r.suspended(t, v)
	r.state(v, r.endState(t, v))
}

func (r *runner) suspended(t *evidence.Turn, v *fixture.Node) bool {
	return r.must(t.Suspended(), v, "the turn did not suspend: it is %s (%v)", t.Status, t.Err)
}

func checkDescriptor(r *runner, t *evidence.Turn, v *fixture.Node) {
	if r.must(t.Descriptor != nil, v, "there is no descriptor: the turn is %s (%v)", t.Status, t.Err) {
		r.descriptor(v, *t.Descriptor)
	}
}

func (r *runner) descriptor(v *fixture.Node, got core.Descriptor) {
	metadata := got.Metadata
	if metadata == nil {
		metadata = map[string]any{}
	}
	keys(v, map[string]func(*fixture.Node){
		"signal_id":         func(d *fixture.Node) { r.is(d, got.SignalID) },
		"metadata":          func(d *fixture.Node) { r.is(d, metadata) },
		"metadata_includes": func(d *fixture.Node) { r.includes(d, metadata) },
	})
}

func checkSuspendingNode(r *runner, t *evidence.Turn, v *fixture.Node) {
	if r.suspended(t, v) {
		r.is(v, t.Place[0])
	}
}

func checkExecutionOrder(r *runner, t *evidence.Turn, v *fixture.Node) { r.is(v, t.Ran()) }

func checkTurnInvariants(r *runner, t *evidence.Turn, v *fixture.Node) {
	r.invariants(v, []*evidence.Turn{t})
}

// checkNoError checks that the invocation returned no error, or with false that it did.
func checkNoError(r *runner, t *evidence.Turn, v *fixture.Node) {
	none := v.Flag(true)
	t.ErrorExpected = t.ErrorExpected || !none
	r.must((t.Err == nil && !t.Errored()) == none, v, "the turn is %s (%v)", t.Status, t.Err)
}

// checkPath compares the dispatch path.
func checkPath(r *runner, t *evidence.Turn, v *fixture.Node) { r.is(v, t.Path) }

func checkCategory(r *runner, t *evidence.Turn, v *fixture.Node) {
	t.ErrorExpected = true
	r.is(v, t.Category)
}

func checkBucket(r *runner, t *evidence.Turn, v *fixture.Node) {
	t.ErrorExpected = true
	r.is(v, t.Bucket)
}
