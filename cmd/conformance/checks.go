package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// check compares one assertion with what happened in a turn.
type check func(w *world, t *turn, v *doc)

// checkTurn checks the assertions of a turn: those under "expected" (all of them must be known) and those that stand beside it.
func (w *world) checkTurn(checks map[string]check, t *turn) {
	apply := func(d *doc) {
		d.each(func(key string, v *doc) bool {
			if c, ok := checks[key]; ok && (d != w.c || key != "invariants") { // a case's own come last, see runCase
				c(w, t, v)
				return true
			}
			return false
		})
	}
	beside := t.d
	apply(beside)
	if e := t.d.get("expected"); e != nil {
		apply(e)
	}
	if t.status == graph.Errored && !t.errorExpected {
		w.faults = append(w.faults, fmt.Sprintf("%s failed: %v", t.name, t.err))
	}
}

// state compares a whole state.
func (w *world) state(v *doc, got map[string]any) {
	if d := w.match.diff(v.fields(), got, false); d != "" {
		w.fault(v, "%s", d)
	}
}

func (w *world) is(v *doc, got any) {
	if d := w.match.diff(v.value(), plain(got), false); d != "" {
		w.fault(v, "%s", d)
	}
}

// resultState is the state of the turn's last invocation.
func (w *world) resultState(t *turn, v *doc) map[string]any {
	r := t.result()
	if r == nil || r.State.IsZero() {
		w.fault(v, "there is no state: %v", t.err)
		return map[string]any{}
	}
	return stateFields(r.State)
}

func checkOutcome(w *world, t *turn, v *doc) {
	if v.text() == string(graph.Errored) {
		t.errorExpected = true
	}
	if string(t.status) != v.text() {
		w.fault(v, "it is %s, not %s (%v)", t.status, v.text(), t.err)
	}
}

func checkFinalState(w *world, t *turn, v *doc) {
	if t.status == graph.Suspended {
		w.fault(v, "the turn suspended")
	}
	w.state(v, w.resultState(t, v))
}

func checkSuspendedState(w *world, t *turn, v *doc) {
	if t.status != graph.Suspended {
		w.fault(v, "the turn did not suspend: it is %s (%v)", t.status, t.err)
	}
	w.state(v, w.resultState(t, v))
}

func checkDescriptor(w *world, t *turn, v *doc) {
	if t.descriptor == nil {
		w.fault(v, "there is no descriptor: the turn is %s (%v)", t.status, t.err)
		v.value()
		return
	}
	w.descriptor(v, *t.descriptor)
}

func (w *world) descriptor(v *doc, got core.Descriptor) {
	v.each(func(key string, d *doc) bool {
		metadata := got.Metadata
		if metadata == nil {
			metadata = map[string]any{}
		}
		switch key {
		case "signal_id":
			w.is(d, got.SignalID)
		case "metadata":
			w.is(d, metadata)
		case "metadata_includes":
			if diff := w.match.diff(d.value(), plain(metadata), true); diff != "" {
				w.fault(d, "%s", diff)
			}
		default:
			return false
		}
		return true
	})
}

func checkSuspendingNode(w *world, t *turn, v *doc) {
	if r := t.result(); t.status != graph.Suspended || len(r.Namespace) == 0 {
		w.fault(v, "the turn did not suspend: it is %s (%v)", t.status, t.err)
	} else if r.Namespace[0] != v.text() {
		w.fault(v, "it is %q, not %q", r.Namespace[0], v.text())
	}
}

func checkExecutionOrder(w *world, t *turn, v *doc) { w.is(v, t.ran()) }

// checkError compares an error: its category, where it came from and what it carries.
func checkError(w *world, t *turn, v *doc) { w.checkError(t, v) }

func (w *world) checkError(t *turn, v *doc) {
	t.errorExpected = true
	if t.status != graph.Errored {
		w.fault(v, "the turn did not fail: it is %s", t.status)
	}
	if !v.isMapping() {
		w.is(v, t.category)
		return
	}
	var carrier *graph.Error
	errors.As(t.err, &carrier)
	v.each(func(key string, d *doc) bool {
		switch key {
		case "category":
			w.is(d, t.category)
		case "raised_from":
			if r := t.result(); r == nil || !slices.Contains(r.Namespace, d.text()) {
				w.fault(d, "it is not raised from %q: %v", d.text(), t.err)
			}
		case "raised_at":
			if (d.text() == "registration") != (t.result() == nil) {
				w.fault(d, "it was raised elsewhere: %v", t.err)
			}
		case "message":
			if !says(t.err, d.text()) {
				w.fault(d, "nothing in %q says %q", t.err, d.text())
			}
		case "recoverable_state":
			if carrier == nil || carrier.State.IsZero() {
				w.fault(d, "the error carries no state: %v", t.err)
				d.value()
				break
			}
			w.state(d, stateFields(carrier.State))
		case "execution_order":
			checkExecutionOrder(w, t, d)
		case "carries":
			w.carries(d, t.err)
		case "cause":
			w.cause(d, t.err)
		case "cause.exception_type":
			w.exceptionType(d, t.err)
		default:
			return false
		}
		return true
	})
}

// says reports whether a link of the chain says exactly this.
func says(err error, text string) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		var e *core.Error
		if err.Error() == text || errors.As(err, &e) && e.Message == text {
			return true
		}
	}
	return false
}

// carried is what an error carries, under the spec's names.
func carried(err error) map[string]any {
	out := map[string]any{}
	var m *graph.MigrationError
	if errors.As(err, &m) {
		out["from_version"], out["to_version"] = m.From, m.To
		out["registered_migrations_count"], out["registry_description"] = int64(m.Registered), m.Description
	}
	var g *graph.Error
	if errors.As(err, &g) {
		out["node"], out["producing_node"], out["field"], out["reducer"] = g.Node, g.Node, g.Field, g.Reducer
	}
	if err != nil {
		out["message"], out["description"] = err.Error(), err.Error()
	}
	if cause := errors.Unwrap(err); cause != nil {
		out["cause"] = cause.Error()
	}
	return out
}

func (w *world) carries(v *doc, err error) {
	have := carried(err)
	v.each(func(key string, d *doc) bool {
		if name, ok := strings.CutSuffix(key, "_present"); ok {
			if got, there := have[name]; (there && got != nil && got != "") != d.flag(true) {
				w.fault(d, "%s is %s", name, show(got))
			}
			return true
		}
		if name, ok := strings.CutSuffix(key, "_mentions"); ok {
			texts := []string{}
			if list, isList := d.value().([]any); isList {
				for _, one := range list {
					texts = append(texts, fmt.Sprint(one))
				}
			} else {
				texts = append(texts, d.text())
			}
			for _, text := range texts {
				if got, _ := have[name].(string); !strings.Contains(got, text) {
					w.fault(d, "%s is %q and does not mention %q", name, got, text)
				}
			}
			return true
		}
		switch {
		case key == "cause.exception_type":
			w.exceptionType(d, err)
			return true
		case key == "cause" && d.isMapping():
			w.cause(d, err)
			return true
		}
		got, there := have[key]
		if !there {
			return false
		}
		if diff := w.match.diff(d.value(), got, true); diff != "" {
			w.fault(d, "%s", diff)
		}
		return true
	})
}

func (w *world) cause(v *doc, err error) {
	v.each(func(key string, d *doc) bool {
		switch key {
		case "exception_type":
			w.exceptionType(d, err)
		case "message":
			if !says(err, d.text()) {
				w.fault(d, "nothing in %q says %q", err, d.text())
			}
		case "category":
			if inner := errors.Unwrap(err); string(core.CategoryOf(inner)) != d.text() {
				w.fault(d, "the cause is %v", inner)
			}
		default:
			return false
		}
		return true
	})
}

func (w *world) exceptionType(v *doc, err error) {
	var named interface{ TypeName() string }
	if !errors.As(err, &named) || named.TypeName() != v.text() {
		w.fault(v, "the cause is no %s: %v", v.text(), err)
	}
}
