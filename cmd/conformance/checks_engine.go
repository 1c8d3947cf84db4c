package main

import (
	"context"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// engineChecks are the assertions of graph-engine, sessions and suspension.
var engineChecks map[string]check

func init() { // checkers refer to each other
	engineChecks = map[string]check{
		"outcome": checkOutcome, "final_state": checkFinalState, "expected_final_state": checkFinalState,
		"suspended_state": checkSuspendedState, "descriptor": checkDescriptor, "suspending_node": checkSuspendingNode,
		"execution_order": checkExecutionOrder, "error": checkError, "expected_error": checkError,
		"final_state_at_error": func(w *world, t *turn, v *doc) { w.state(v, w.resultState(t, v)) },

		"observer_events": checkObserverEvents, "observer_event_invariants": checkEventInvariants, "delivery_order": checkDeliveryOrder,
		"drain_summary": checkDrainSummary, "empty_phases_raises_at_registration": checkEmptyPhases,
		"invariants": func(w *world, t *turn, v *doc) { w.invariants(v, []*turn{t}) },

		"loaded_session_state": checkLoaded, "loaded_invoke_state_for_scratch": checkScratch,
		"saved_session_assertions": checkSaved, "store_after": checkStoreAfter, "migrations_run": checkMigrations,
		"checkpointer_assertions": checkCheckpointer,
		"inner_pre_state":         checkInnerState,
		"instance_pre_states":     checkInstanceStates,
		"middleware_log_captured": checkMiddlewareLog,
		"span_tree":               checkSpanTree,
		"otel_spans":              checkOtelSpans,
		"log_records":             checkLogRecords,
		"no_session_load":         counted("load"),
		"no_session_save":         counted("save", "explicit save"),
		"store_untouched":         counted("load", "save", "explicit save", "delete", "list"),
		"no_auto_save_on_end":     counted("save"),
	}
}

// counted checks that none of these calls came, or with false that one did.
func counted(what ...string) check {
	return func(w *world, t *turn, v *doc) {
		if n := t.count(what...); (n == 0) != v.flag(true) {
			w.fault(v, "there were %d calls of %s", n, strings.Join(what, ", "))
		}
	}
}

func checkObserverEvents(w *world, t *turn, v *doc) {
	v.all(func(observer string, list *doc) {
		var got []graph.Event
		for _, h := range t.heard {
			if h.observer == observer {
				got = append(got, h.event)
			}
		}
		want := list.items()
		if len(want) != len(got) {
			w.fault(list, "there are %d events, not %d", len(got), len(want))
		}
		for i, e := range want {
			if i >= len(got) {
				e.value()
				continue
			}
			w.event(e, got[i])
		}
	})
}

// event compares the keys that are named, each as a whole.
func (w *world) event(v *doc, e graph.Event) {
	have := eventFields(e)
	v.each(func(key string, d *doc) bool {
		switch key {
		case "phase", "node_name", "namespace", "step", "attempt_index", "pre_state", "post_state", "parent_states", "fan_out_index", "branch_name":
			if diff := w.match.diff(d.value(), have[key], false); diff != "" {
				w.fault(d, "%s", diff)
			}
		case "descriptor":
			if e.Descriptor == nil {
				w.fault(d, "the event has none")
				d.value()
				break
			}
			w.descriptor(d, *e.Descriptor)
		case "error":
			want := d
			if d.isMapping() {
				want = d.need("category")
			}
			if e.Err == nil || want.text() != string(carrierOf(e.Err)) && want.text() != string(core.CategoryOf(e.Err)) {
				w.fault(want, "the error is %v, not %s", e.Err, want.text())
			}
		default:
			return false
		}
		return true
	})
}

// checkDeliveryOrder compares all deliveries. An observer that fails may be left out of the list as a whole: whether it has recorded
// what it failed on the fixture language does not say.
func checkDeliveryOrder(w *world, t *turn, v *doc) {
	listed := map[string]bool{}
	for _, d := range v.items() {
		listed[d.need("observer").text()] = true
	}
	got := []any{}
	for _, h := range t.heard {
		if h.failed && !listed[h.observer] {
			continue
		}
		got = append(got, map[string]any{"observer": h.observer, "step": int64(h.event.Step), "phase": string(h.event.Phase)})
	}
	if diff := w.match.diff(v.value(), got, true); diff != "" {
		w.fault(v, "%s", diff)
	}
}

func checkDrainSummary(w *world, t *turn, v *doc) {
	v.each(func(key string, d *doc) bool {
		switch key {
		case "timeout_reached":
			w.is(d, t.drained.TimeoutReached)
		case "undelivered_count":
			w.is(d, t.drained.Undelivered)
		case "undelivered_count_min":
			if float64(t.drained.Undelivered) < d.number() {
				w.fault(d, "only %d events were undelivered", t.drained.Undelivered)
			}
		case "undelivered_count_max":
			if float64(t.drained.Undelivered) > d.number() {
				w.fault(d, "%d events were undelivered", t.drained.Undelivered)
			}
		default:
			return false
		}
		return true
	})
}

// checkEmptyPhases registers an observer of no phase, on a graph and for an invocation.
func checkEmptyPhases(w *world, _ *turn, v *doc) {
	deaf := graph.Observer{Name: "deaf", Phases: []graph.Phase{}, On: func(context.Context, graph.Event) error { return nil }}
	_, err := graph.New("deaf", "1").Observe(deaf).Compile()
	res := w.graph.Invoke(w.ctx, graph.Stores{}, graph.Invocation{Observers: []graph.Observer{deaf}})
	refused := core.CategoryOf(err) == core.Invalid && core.CategoryOf(res.Err) == core.Invalid
	if refused != v.flag(true) {
		w.fault(v, "registering gives %v, invoking %v", err, res.Err)
	}
}

func checkLoaded(w *world, t *turn, v *doc) {
	entry := t.entry()
	if t.count("load") == 0 {
		w.fault(v, "the store was not asked")
	}
	if v.isNull() {
		if entry.Found {
			w.fault(v, "a record was loaded")
		}
		return
	}
	if !entry.Found {
		w.fault(v, "no record was loaded (%v)", t.err)
		v.value()
		return
	}
	got := stateFields(entry.Loaded)
	for name := range got {
		if !slices.Contains(entry.Fields, name) {
			delete(got, name)
		}
	}
	w.state(v, got)
}

func checkScratch(w *world, t *turn, v *doc) {
	entry := stateFields(t.entry().State)
	var scratch []string
	for name := range entry {
		if w.projected != nil && !slices.Contains(w.projected, name) {
			scratch = append(scratch, name)
		}
	}
	if len(scratch) != 1 {
		w.fault(v, "there must be one field outside the projection, there are %v", scratch)
		return
	}
	if diff := w.match.diff(v.value(), entry[scratch[0]], false); diff != "" {
		w.fault(v, "%s: %s", scratch[0], diff)
	}
}

func checkSaved(w *world, t *turn, v *doc) {
	if t.after == nil {
		w.fault(v, "nothing is stored under %q (%v)", t.session, t.err)
		v.value()
		return
	}
	v.each(func(key string, d *doc) bool {
		switch key {
		case "state":
			w.state(d, t.after.State)
		case "schema_version":
			w.is(d, t.after.Version)
		case "excludes_fields":
			for _, f := range d.items() {
				if _, there := t.after.State[f.text()]; there {
					w.fault(f, "%q is stored", f.text())
				}
			}
		default:
			return false
		}
		return true
	})
}

func checkStoreAfter(w *world, t *turn, v *doc) {
	if id := v.get("load_returns_none_for_session_id"); id != nil {
		if got := w.spy.look(w.ctx, core.SessionID(id.text())); got != nil {
			w.fault(id, "there is a record: %s", show(got.State))
		}
	}
	id := v.get("load_returns_for_session_id")
	if id == nil {
		return
	}
	got := w.spy.look(w.ctx, core.SessionID(id.text()))
	if got == nil {
		w.fault(id, "there is no record")
		v.value()
		return
	}
	if d := v.get("loaded_state"); d != nil {
		w.state(d, got.State)
	}
	if d := v.get("loaded_schema_version"); d != nil {
		w.is(d, got.Version)
	}
}

// checkMigrations compares the migrations that ran. Whether one that failed has run the fixture language does not say: it may be
// named or not.
func checkMigrations(w *world, t *turn, v *doc) {
	ran := append([]string{}, w.migrated...)
	if t.category == core.MigrationFailed && len(ran) > 0 && len(v.items()) == len(ran)-1 {
		ran = ran[:len(ran)-1]
	}
	w.is(v, ran)
	told := []string{}
	for _, m := range t.entry().Migrations {
		told = append(told, m[0]+"->"+m[1])
	}
	if !errored(t) && !slices.Equal(told, w.migrated) {
		w.fault(v, "these migrations ran: %v, the engine tells of %v", w.migrated, told)
	}
}

func checkCheckpointer(w *world, t *turn, v *doc) {
	v.each(func(key string, d *doc) bool {
		switch key {
		case "paused_invocation_record_exists":
			if (t.waits != nil) != d.flag(true) {
				w.fault(d, "the record is there: %v", t.waits != nil)
			}
		case "record_type":
			if t.waits == nil {
				w.fault(d, "there is no record")
				break
			}
			w.is(d, t.waits.Type)
		default:
			return false
		}
		return true
	})
}

// checkEventInvariants checks predicates on the events of a turn; those it does not know are unchecked.
func checkEventInvariants(w *world, t *turn, v *doc) {
	v.all(func(name string, d *doc) {
		if node, ok := strings.CutSuffix(name, "_node_events_count"); ok {
			heard, most := map[string]int{}, 0 // an observer of all phases hears most
			for _, h := range t.heard {
				if h.event.Node == node {
					heard[h.observer]++
					most = max(most, heard[h.observer])
				}
			}
			w.is(d, most)
			return
		}
		if w.absentAt(t, name, d) {
			return
		}
		if got, ok := t.eventValue(name); ok {
			w.sameSet(d, got)
			return
		}
		w.invariant(name, d, []*turn{t})
	})
}

// suspendingEvents are the events of the node that suspended, as the first observer heard them.
func (t *turn) suspendingEvents() []graph.Event {
	var out []graph.Event
	for _, h := range t.heard {
		if h.observer == t.heard[0].observer && h.event.Node == t.result().Node {
			out = append(out, h.event)
		}
	}
	return out
}
