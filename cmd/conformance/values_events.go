package main

import (
	"regexp"
	"slices"

	"gatehouse/core/graph"
)

var countOf = regexp.MustCompile(`^(\w+?)_(?:branch_|inner_)?events?_count$`)

// eventValue is what a valued invariant on events says: counts and the sets of what was seen.
func (t *turn) eventValue(name string) (any, bool) {
	inner := t.innerEvents()
	if m := countOf.FindStringSubmatch(name); m != nil && m[1] != "inner" {
		n := 0
		for _, e := range inner {
			if e.Branch == m[1] || e.Node == m[1] {
				n++
			}
		}
		return int64(n), n > 0
	}
	set := func(of func(graph.Event) any) []any {
		out := []any{}
		for _, e := range inner {
			if v := of(e); v != nil && !slices.ContainsFunc(out, func(o any) bool { return equal(o, v) }) {
				out = append(out, v)
			}
		}
		return out
	}
	switch name {
	case "inner_event_count", "inner_events_count":
		return int64(len(inner)), true
	case "inner_fan_out_indices_seen":
		return set(func(e graph.Event) any { return eventFields(e)["fan_out_index"] }), true
	case "inner_branch_names_seen":
		return set(func(e graph.Event) any { return eventFields(e)["branch_name"] }), true
	case "inner_attempt_indices_seen":
		return set(func(e graph.Event) any { return int64(e.Attempt) }), true
	case "inner_event_identities_unique":
		seen := map[string]bool{}
		for _, e := range inner {
			f := eventFields(e)
			id := show([]any{f["namespace"], f["fan_out_index"], f["branch_name"], f["attempt_index"], f["phase"]})
			if seen[id] {
				return false, true
			}
			seen[id] = true
		}
		return len(inner) > 0, true
	}
	return nil, false
}

// innerEvents are the events inside, as the observer heard them that heard most.
func (t *turn) innerEvents() []graph.Event {
	by := map[string][]graph.Event{}
	var most []graph.Event
	for _, h := range t.heard {
		if len(h.event.Namespace) > 1 {
			by[h.observer] = append(by[h.observer], h.event)
			if len(by[h.observer]) > len(most) {
				most = by[h.observer]
			}
		}
	}
	return most
}

var absentOf = regexp.MustCompile(`^(\w+)_node_(fan_out_index|branch_name)_absent$`)

// absentAt checks that a node's own events have no index or branch.
func (w *world) absentAt(t *turn, name string, v *doc) bool {
	m := absentOf.FindStringSubmatch(name)
	if m == nil {
		return false
	}
	heard := 0
	for _, h := range t.heard {
		if h.event.Node != m[1] {
			continue
		}
		heard++
		if eventFields(h.event)[m[2]] != nil {
			w.fault(v, "an event of %q has one", m[1])
		}
	}
	if !v.flag(true) || heard == 0 {
		w.fault(v, "%d events were heard of %q", heard, m[1])
	}
	return true
}
