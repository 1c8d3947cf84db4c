package main

import (
	"context"
	"strings"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/graph"
)

// engineChecks are the assertions of graph-engine, sessions and suspension.
var engineChecks = map[string]check{
	"outcome": checkOutcome, "final_state": checkFinalState, "expected_final_state": checkFinalState,
	"suspended_state": checkSuspendedState, "descriptor": checkDescriptor, "suspending_node": checkSuspendingNode,
	"execution_order": checkExecutionOrder, "error": checkError, "expected_error": checkError,
	"no_propagated_error":  checkNoError,
	"final_state_at_error": func(r *runner, t *evidence.Turn, v *fixture.Node) { r.state(v, r.endState(t, v)) },

	"observer_events": checkObserverEvents, "observer_event_invariants": checkTurnInvariants,
	"delivery_order": checkDeliveryOrder,
	"drain_summary":  checkDrainSummary, "empty_phases_raises_at_registration": checkEmptyPhases,
	"invariants": checkTurnInvariants,

	"observers": checkCollected,

	"loaded_session_state": checkLoaded, "loaded_invoke_state_for_scratch": checkScratch,
	"saved_session_assertions": checkSaved, "store_after": checkStoreAfter, "migrations_run": checkMigrations,
	"checkpointer_assertions": checkCheckpointer,
	"inner_pre_state":         checkInnerState,
	"instance_pre_states":     checkInstanceStates,
	"middleware_log_captured": checkMiddlewareLog,
	"span_tree":               checkSpanTree,
	"otel_spans":              checkOtelSpans,
	"log_records":             checkLogRecords,
	"no_session_load":         counted(evidence.Load),
	"no_session_save":         counted(evidence.Save, evidence.ExplicitSave),
	"store_untouched":         counted(evidence.SessionCalls...),
	"no_auto_save_on_end":     counted(evidence.Save),
}

// counted checks that there were no calls of these kinds, or with false that there was one.
func counted(what ...string) check {
	return func(r *runner, t *evidence.Turn, v *fixture.Node) {
		n := t.Count(what...)
		r.must((n == 0) == v.Flag(true), v, "there were %d calls of %s", n, strings.Join(what, ", "))
	}
}

// checkEmptyPhases registers an observer of no phase, on a graph and for an invocation.
func checkEmptyPhases(r *runner, _ *evidence.Turn, v *fixture.Node) {
	none := graph.Observer{Name: "none", Phases: []graph.Phase{}, On: func(context.Context, graph.Event) error {
		return nil
	}}
	_, err := graph.New("none", "1").Observe(none).Compile()
	res := r.Graph.Invoke(r.ctx, graph.Stores{}, graph.Invocation{Observers: []graph.Observer{none}})
	refused := core.CategoryOf(err) == core.Invalid && core.CategoryOf(res.Err) == core.Invalid
	r.must(refused == v.Flag(true), v, "registering returns %v, invoking %v", err, res.Err)
}

func checkDrainSummary(r *runner, t *evidence.Turn, v *fixture.Node) {
	n := float64(t.Drained.Undelivered)
	keys(v, map[string]func(*fixture.Node){
		"timeout_reached":   func(d *fixture.Node) { r.is(d, t.Drained.TimeoutReached) },
		"undelivered_count": func(d *fixture.Node) { r.is(d, t.Drained.Undelivered) },
		"undelivered_count_min": func(d *fixture.Node) {
			r.must(n >= d.Number(), d, "only %v events were undelivered", n)
		},
		"undelivered_count_max": func(d *fixture.Node) { r.must(n <= d.Number(), d, "%v events were undelivered", n) },
	})
}

// entered returns the start states of the subgraphs that ran, those of a fan-out in the order of its instances.
func entered(t *evidence.Turn) []any {
	byIndex := map[int]any{}
	out := []any{}
	seen := map[string]bool{}
	for _, e := range t.Events {
		at := fixture.Show([]any{e.Namespace[:len(e.Namespace)-1], e.FanOutIndex, e.Branch})
		if e.Phase != graph.PhaseStarted || len(e.Namespace) < 2 || seen[at] {
			continue
		}
		seen[at] = true
		if e.FanOutIndex != nil {
			byIndex[*e.FanOutIndex] = evidence.StateFields(e.Pre)
			continue
		}
		out = append(out, evidence.StateFields(e.Pre))
	}
	for i := range len(byIndex) {
		out = append(out, byIndex[i])
	}
	return out
}

func checkInnerState(r *runner, t *evidence.Turn, v *fixture.Node) {
	got := entered(t)
	if r.must(len(got) > 0, v, "no subgraph has run (%v)", t.Err) {
		r.is(v, got[0])
	}
}

func checkInstanceStates(r *runner, t *evidence.Turn, v *fixture.Node) { r.is(v, entered(t)) }

// checkMiddlewareLog compares the markers of this turn or, since the log belongs to the case, of all turns so far.
func checkMiddlewareLog(r *runner, t *evidence.Turn, v *fixture.Node) {
	all := []string{}
	for _, o := range r.Turns {
		all = append(all, o.Marked()...)
	}
	if r.match.Diff(v, all, false) != "" {
		r.is(v, t.Marked())
	}
}
