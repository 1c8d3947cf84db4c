package main

import (
	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/graph"
)

// observed adds a fault if the case does not declare the observer.
func (r *runner) observed(d *fixture.Node, name string) {
	if _, known := r.behaviors[name]; !known {
		d.Malformed("there is no observer %q", name)
	}
}

func checkObserverEvents(r *runner, t *evidence.Turn, v *fixture.Node) {
	v.All(func(observer string, list *fixture.Node) {
		r.observed(list, observer)
		var got []graph.Event
		for _, h := range t.Observed {
			if h.Observer == observer {
				got = append(got, h.Event)
			}
		}
		pairwise(r, list, got, "events", r.event)
	})
}

// pairwise compares a list item by item; the number of items is exact.
func pairwise[T any](r *runner, v *fixture.Node, got []T, what string, compare func(*fixture.Node, T)) {
	want := v.Items()
	if len(want) != len(got) {
		r.Fault(v, "there are %d %s, not %d", len(got), what, len(want))
	}
	for i, d := range want {
		if i >= len(got) {
			d.Value()
			continue
		}
		compare(d, got[i])
	}
}

// event compares the named keys, each as a whole. A field that an event of this kind does not have is null.
func (r *runner) event(v *fixture.Node, e graph.Event) {
	have := evidence.EventFields(e)
	parents, _ := have["parent_states"].([]any)
	for _, state := range append([]any{have["pre_state"], have["post_state"]}, parents...) {
		if fields, ok := state.(map[string]any); ok {
			r.dropAdded(fields)
		}
	}
	v.Each(func(key string, d *fixture.Node) bool {
		switch key {
		case "phase", "node_name", "namespace", "step", "attempt_index", "pre_state", "post_state", "parent_states",
			"fan_out_index", "branch_name":
			r.is(d, have[key])
		case "descriptor":
			if r.must(e.Descriptor != nil, d, "the event has none") {
				r.descriptor(d, *e.Descriptor)
			}
		case "error":
			want := d
			if d.IsMapping() {
				want = d.Need("category")
			}
			is := e.Err != nil &&
				(want.Text() == string(evidence.CarrierOf(e.Err)) || want.Text() == string(core.CategoryOf(e.Err)))
			r.must(is, want, "the error is %v, not %s", e.Err, want.Text())
		default:
			return false
		}
		return true
	})
}

// checkDeliveryOrder compares all deliveries. An observer that fails may be missing from the list entirely: the fixture
// language does not define whether it records the event on which it fails.
func checkDeliveryOrder(r *runner, t *evidence.Turn, v *fixture.Node) {
	listed := map[string]bool{}
	for _, d := range v.Items() {
		name := d.Need("observer").Text()
		r.observed(d, name)
		listed[name] = true
	}
	got := []any{}
	for _, h := range t.Observed {
		if h.Failed && !listed[h.Observer] {
			continue
		}
		got = append(got,
			map[string]any{"observer": h.Observer, "step": int64(h.Event.Step), "phase": string(h.Event.Phase)})
	}
	r.includes(v, got)
}

func checkSpanTree(r *runner, t *evidence.Turn, v *fixture.Node) {
	pairwise(r, v, t.Spans, "spans", r.span)
}

func checkOtelSpans(r *runner, t *evidence.Turn, v *fixture.Node) {
	v.All(func(observer string, d *fixture.Node) {
		switch {
		case r.behaviors[observer] != tracing:
			d.Malformed("no observer %q captures spans", observer)
		case !d.IsMapping():
			pairwise(r, d, t.Spans, "spans", r.span)
		case r.must(len(t.Spans) == 1, d, "there are %d spans, not 1", len(t.Spans)):
			r.span(d, t.Spans[0])
		}
	})
}

func (r *runner) span(v *fixture.Node, s *evidence.Span) {
	keys(v, map[string]func(*fixture.Node){
		"name":               func(d *fixture.Node) { r.is(d, s.Name) },
		"status":             func(d *fixture.Node) { r.status(d, s) },
		"status_description": func(d *fixture.Node) { r.is(d, s.Description) },
		"attributes":         func(d *fixture.Node) { r.includes(d, s.Attributes) },
		"attributes_absent":  func(d *fixture.Node) { r.absent(d, s.Attributes) },
		"children":           func(d *fixture.Node) { pairwise(r, d, s.Children, "spans", r.span) },
	})
}

func (r *runner) status(v *fixture.Node, s *evidence.Span) {
	if !v.IsMapping() {
		r.is(v, s.Status)
		return
	}
	keys(v, map[string]func(*fixture.Node){
		"code":        func(d *fixture.Node) { r.is(d, s.Status) },
		"description": func(d *fixture.Node) { r.is(d, s.Description) },
	})
}

// absent checks that none of the listed fields is present.
func (r *runner) absent(d *fixture.Node, fields map[string]any) {
	for _, name := range d.Items() {
		v, there := fields[name.Text()]
		r.must(!there, name, "it is there: %s", fixture.Show(v))
	}
}

func checkLogRecords(r *runner, t *evidence.Turn, v *fixture.Node) {
	pairwise(r, v, t.Logs, "records", r.logRecord)
}

func (r *runner) logRecord(v *fixture.Node, got evidence.LogLine) {
	body := func(d *fixture.Node) { r.is(d, got.Body) }
	level := func(d *fixture.Node) { r.is(d, got.Level) }
	keys(v, map[string]func(*fixture.Node){
		"body": body, "message": body, "level": level, "severity": level,
		"attributes":        func(d *fixture.Node) { r.includes(d, got.Attributes) },
		"attributes_absent": func(d *fixture.Node) { r.absent(d, got.Attributes) },
	})
}
