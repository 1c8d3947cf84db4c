package invariant

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/core/graph"
)

// secondLoadsFirstState: the second turn has the first one's session, and loaded the state that the first one stored.
func secondLoadsFirstState(r run) error {
	first := r.turns[0]
	if first.Session != r.Session || first.After == nil || r.loaded() == nil {
		return fmt.Errorf("sessions %q and %q, stored: %v, %d loads", first.Session, r.Session, first.After != nil,
			r.Count(evidence.Load))
	}
	if err := same("the loaded state", first.After.State, r.loaded().State); err != nil {
		return err
	}
	return same("the engine's loaded state", only(evidence.StateFields(r.Entry().Loaded), maps.Keys(first.After.State)),
		first.After.State)
}

// only returns the fields with these names; nil if there are no fields at all.
func only(fields map[string]any, names iter.Seq[string]) map[string]any {
	kept, out := slices.Collect(names), maps.Clone(fields)
	maps.DeleteFunc(out, func(name string, _ any) bool { return !slices.Contains(kept, name) })
	return out
}

// projected returns the fields that the session stores.
func (r run) projected(fields map[string]any) map[string]any {
	if r.c.Projected == nil {
		return fields
	}
	return only(fields, slices.Values(r.c.Projected))
}

// saveOverwrites: the turn's own final state is stored, and nothing else.
func saveOverwrites(r run) error {
	return same("the stored state", r.projected(r.State), r.After.Fields())
}

// scratchNotStored: no save had a field outside the projection.
func scratchNotStored(r run) error {
	for _, e := range r.Of(evidence.Save, evidence.ExplicitSave) {
		for name := range e.Record.State {
			if !slices.Contains(r.c.Projected, name) {
				return fmt.Errorf("field %q was saved", name)
			}
		}
	}
	return nil
}

// projectionPersists: the second turn loaded the projected fields, with the values of the first one's final state.
func projectionPersists(r run) error {
	first := r.turns[0]
	if r.c.Projected == nil || !first.Completed() || first.Session != r.Session || r.loaded() == nil {
		return errors.New("nothing to check: there is no projection over two turns of a session")
	}
	return same("the loaded state", r.projected(first.State), r.loaded().State)
}

// explicitSaveSurvives: the turn saved explicitly and failed afterwards; that save is stored.
func explicitSaveSurvives(r run) error {
	saves := r.Of(evidence.Save, evidence.ExplicitSave)
	last := saves[len(saves)-1]
	if last.What != evidence.ExplicitSave || r.After == nil {
		return fmt.Errorf("the last save is a %s", last.What)
	}
	return same("the stored state", last.Record.State, r.After.State)
}

// oneMigration: one migration ran in the case, the engine reports that one, and it leads to the graph's version.
func oneMigration(r run) error {
	m := r.Entry().Migrations
	return require(len(r.c.Migrations) == 1 && len(m) == 1 && m[0][0]+"->"+m[0][1] == r.c.Migrations[0] &&
		m[0][1] == r.c.Version,
		"these migrations ran: %v, the engine reports %v", r.c.Migrations, m)
}

// order returns the kinds of these entries, a run of the same kind once.
func (r run) order(what ...string) []string {
	kinds := []string{}
	for _, e := range r.Of(what...) {
		kinds = append(kinds, e.What)
	}
	return slices.Compact(kinds)
}

// migratedBeforeMerge: the migration ran after the load and before any node, and the first node's state has the
// migrated fields.
func migratedBeforeMerge(r run) error {
	order := []string{evidence.Load, evidence.Migration, evidence.NodeRan}
	if err := same("the order", order, r.order(order...)); err != nil {
		return err
	}
	loaded := only(evidence.StateFields(r.Entry().Loaded), maps.Keys(r.loaded().State))
	return same("the state of the first node", loaded, only(r.StartState, maps.Keys(loaded)))
}

// innerEvents returns the events of subgraphs.
func innerEvents(events []graph.Event) []graph.Event {
	return slices.DeleteFunc(slices.Clone(events), func(e graph.Event) bool { return !isInner(e) })
}

// innerFieldsMatchSchema: every state in a subgraph has exactly the fields of a subgraph's schema.
func innerFieldsMatchSchema(r run) error {
	sorted := func(fields []string) []string { return slices.Sorted(slices.Values(fields)) }
	for _, e := range innerEvents(r.Events) {
		fits := func(fields []string) bool { return slices.Equal(sorted(fields), sorted(e.Pre.Fields())) }
		if !slices.ContainsFunc(slices.Collect(maps.Values(r.c.Inner)), fits) {
			return fmt.Errorf("node %q saw %v", e.Node, e.Pre.Fields())
		}
	}
	return nil
}

// innerSeesNoSession: the session has fields that no subgraph declares, and no state in a subgraph has one of them.
func innerSeesNoSession(r run) error {
	declared := slices.Concat(slices.Collect(maps.Values(r.c.Inner))...)
	hidden := slices.DeleteFunc(slices.Collect(maps.Keys(r.loaded().Fields())), func(name string) bool {
		return slices.Contains(declared, name)
	})
	for _, e := range innerEvents(r.Events) {
		for _, name := range e.Pre.Fields() {
			if slices.Contains(hidden, name) {
				return fmt.Errorf("node %q saw the session's %q", e.Node, name)
			}
		}
	}
	return require(len(hidden) > 0, "there is nothing to check it on: the session has no field of its own")
}

// noInnerSessionCalls: the session was loaded once, before the subgraph ran, and saved once, after it.
func noInnerSessionCalls(r run) error {
	order := r.order(append([]string{evidence.InnerNodeRan}, evidence.SessionCalls...)...)
	if err := same("the order", []string{evidence.Load, evidence.InnerNodeRan, evidence.Save}, order); err != nil {
		return err
	}
	n := r.Count(evidence.SessionCalls...)
	return require(n == 2, "the session store was called %d times", n)
}

// noNodeRan: the turn failed, and no node ran.
func noNodeRan(r run) error {
	return require(r.Errored() && r.Count(evidence.NodeRan, evidence.InnerNodeRan) == 0,
		"it is %s, and these nodes ran: %v", r.Status, r.Ran())
}

// carriesSession: the value is the id of the turn's session, and the attributes of a span or a log line have it.
func (r run) carriesSession(what string, attributes map[string]any) error {
	got := attributes["openarmature.session_id"]
	return require(r.v.Text() != "" && string(r.Session) == r.v.Text() && got == r.v.Text(),
		"%s carries session %v, the turn's is %q", what, got, r.Session)
}

// spansCarrySession: every span carries the id of the turn's session.
func spansCarrySession(r run) error {
	var each func(spans []*evidence.Span) error
	each = func(spans []*evidence.Span) error {
		for _, s := range spans {
			if err := cmp.Or(r.carriesSession("span "+s.Name, s.Attributes), each(s.Children)); err != nil {
				return err
			}
		}
		return nil
	}
	return each(r.Spans)
}

// logsCarrySession: every log line carries the id of the turn's session.
func logsCarrySession(r run) error {
	for _, l := range r.Logs {
		if err := r.carriesSession(fmt.Sprintf("line %q", l.Body), l.Attributes); err != nil {
			return err
		}
	}
	return nil
}
