package main

import (
	"slices"

	"gatehouse/core/graph"
)

// sameSet compares like is, but the order of a list does not count.
func (w *world) sameSet(v *doc, got any) {
	want, isList := v.value().([]any)
	have, _ := got.([]any)
	if !isList {
		w.is(v, got)
		return
	}
	missing := slices.ContainsFunc(want, func(x any) bool {
		return !slices.ContainsFunc(have, func(y any) bool { return equal(x, y) })
	})
	if missing || len(want) != len(have) {
		w.fault(v, "it is %s, not %s", show(got), show(want))
	}
}

// entered are the states that the graphs inside began with, in the order of the fan-out's instances.
func (t *turn) entered() []any {
	byIndex := map[int]any{}
	var out []any
	seen := map[string]bool{}
	for _, e := range t.inside {
		at := show([]any{e.Namespace[:len(e.Namespace)-1], e.FanOutIndex, e.Branch})
		if e.Phase != graph.PhaseStarted || len(e.Namespace) < 2 || seen[at] {
			continue
		}
		seen[at] = true
		if e.FanOutIndex != nil {
			byIndex[*e.FanOutIndex] = stateFields(e.Pre)
			continue
		}
		out = append(out, stateFields(e.Pre))
	}
	for i := range len(byIndex) {
		out = append(out, byIndex[i])
	}
	return out
}

func checkInnerState(w *world, t *turn, v *doc) {
	got := t.entered()
	if len(got) == 0 {
		w.fault(v, "no graph inside has run (%v)", t.err)
		v.value()
		return
	}
	w.is(v, got[0])
}

func checkInstanceStates(w *world, t *turn, v *doc) { w.is(v, append([]any{}, t.entered()...)) }

// checkMiddlewareLog compares the markers of this turn or, as the log is the case's, of all turns up to it.
func checkMiddlewareLog(w *world, t *turn, v *doc) {
	all := []string{}
	for _, o := range w.turns {
		all = append(all, o.marked()...)
	}
	if w.match.diff(v.value(), plain(all), false) != "" {
		w.is(v, t.marked())
	}
}
