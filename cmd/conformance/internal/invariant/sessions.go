package invariant

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core/graph"
)

// secondLoadsFirstState: the second turn is of the first one's session, and loaded what the first one left stored.
func secondLoadsFirstState(_ *evidence.Case, turns []*evidence.Turn) error {
	first, second, err := two(turns)
	if err != nil {
		return err
	}
	loads := second.Of(evidence.Load)
	if first.Session != second.Session || first.After == nil || len(loads) == 0 || loads[0].Record == nil {
		return fmt.Errorf("sessions %q and %q, stored: %v, %d loads", first.Session, second.Session, first.After != nil, len(loads))
	}
	if err := same("what was loaded", first.After.State, loads[0].Record.State); err != nil {
		return err
	}
	return same("what the engine worked with", onlyOf(evidence.StateFields(second.Entry().Loaded), first.After.State), first.After.State)
}

// onlyOf are the fields of all that have names in like.
func onlyOf(all, like map[string]any) map[string]any {
	out := maps.Clone(all)
	maps.DeleteFunc(out, func(name string, _ any) bool { _, there := like[name]; return !there })
	return out
}

// saveOverwrites: a turn of a session that was stored before saved its own final state, and that alone is stored.
func saveOverwrites(c *evidence.Case, turns []*evidence.Turn) error {
	applies := func(t *evidence.Turn) bool {
		return t.Completed() && t.Before != nil && t.Count(evidence.Save) > 0
	}
	return every(turns, "turn that saved a session again", applies, func(t *evidence.Turn) error {
		want := maps.Clone(t.State)
		maps.DeleteFunc(want, func(name string, _ any) bool { return c.Projected != nil && !slices.Contains(c.Projected, name) })
		return same("what is stored", want, t.After.Fields())
	})
}

// scratchNotStored: the session is a projection, and no save had a field that is not part of it.
func scratchNotStored(c *evidence.Case, turns []*evidence.Turn) error {
	if c.Projected == nil || len(c.Projected) >= len(c.Outer) {
		return errors.New("there is nothing to check it on: no field outside a projection")
	}
	saved := func(t *evidence.Turn) bool { return t.Count(evidence.Save, evidence.ExplicitSave) > 0 }
	return every(turns, "turn that saved", saved, func(t *evidence.Turn) error {
		for _, e := range t.Of(evidence.Save, evidence.ExplicitSave) {
			for name := range e.Record.State {
				if !slices.Contains(c.Projected, name) {
					return fmt.Errorf("field %q was saved", name)
				}
			}
		}
		return nil
	})
}

// projectionPersists: what a later turn of the session loaded are the projected fields, with the values that the one before ended
// with.
func projectionPersists(c *evidence.Case, turns []*evidence.Turn) error {
	first, second, err := two(turns)
	if err != nil {
		return err
	}
	if c.Projected == nil || !first.Completed() || first.Session != second.Session {
		return errors.New("there is nothing to check it on: no projection over two turns of a session")
	}
	want := maps.Clone(first.State)
	maps.DeleteFunc(want, func(name string, _ any) bool { return !slices.Contains(c.Projected, name) })
	loads := second.Of(evidence.Load)
	if len(loads) == 0 || loads[0].Record == nil {
		return errors.New("the second turn loaded nothing")
	}
	return same("what the second turn loaded", want, loads[0].Record.State)
}

// explicitSaveSurvives: a turn saved explicitly and failed afterwards; what is stored is that save.
func explicitSaveSurvives(_ *evidence.Case, turns []*evidence.Turn) error {
	applies := func(t *evidence.Turn) bool { return t.Errored() && t.Count(evidence.ExplicitSave) > 0 }
	return every(turns, "turn that saved and then failed", applies, func(t *evidence.Turn) error {
		saves := t.Of(evidence.Save, evidence.ExplicitSave)
		last := saves[len(saves)-1]
		if last.What != evidence.ExplicitSave || t.After == nil {
			return fmt.Errorf("the last save is a %s", last.What)
		}
		return same("what is stored", last.Record.State, t.After.State)
	})
}

// oneMigration: one migration ran, the engine reports that one, and it leads to the graph's version.
func oneMigration(c *evidence.Case, turns []*evidence.Turn) error {
	if len(c.Migrations) != 1 {
		return fmt.Errorf("%d migrations ran", len(c.Migrations))
	}
	migrated := func(t *evidence.Turn) bool { return len(t.Entry().Migrations) > 0 }
	return every(turns, "turn that migrated", migrated, func(t *evidence.Turn) error {
		m := t.Entry().Migrations
		return that(len(m) == 1 && m[0][0]+"->"+m[0][1] == c.Migrations[0] && m[0][1] == c.Version, "the engine reports %v", m)
	})
}

// migratedBeforeMerge: the migration ran after the load and before any node, and the state that the first node began with has what
// the migration gave.
func migratedBeforeMerge(_ *evidence.Case, turns []*evidence.Turn) error {
	migrated := func(t *evidence.Turn) bool { return t.Count(evidence.Migration) > 0 }
	return every(turns, "turn that migrated", migrated, func(t *evidence.Turn) error {
		order := []string{}
		for _, e := range t.Of(evidence.Load, evidence.Migration, evidence.NodeRan) {
			if len(order) == 0 || order[len(order)-1] != e.What {
				order = append(order, e.What)
			}
		}
		if err := same("the order", []string{evidence.Load, evidence.Migration, evidence.NodeRan}, order); err != nil {
			return err
		}
		entry := t.Entry()
		loaded := onlyOf(evidence.StateFields(entry.Loaded), t.Of(evidence.Load)[0].Record.State)
		return same("the state of the first node", loaded, onlyOf(t.Began, loaded))
	})
}

// innerEvents are the events of the graphs inside.
func innerEvents(t *evidence.Turn) []graph.Event {
	var out []graph.Event
	for _, e := range t.Events {
		if len(e.Namespace) > 1 {
			out = append(out, e)
		}
	}
	return out
}

func ranInside(t *evidence.Turn) bool { return len(innerEvents(t)) > 0 }

// innerFieldsMatchSchema: every state inside has the fields of a subgraph's schema, no more and no fewer.
func innerFieldsMatchSchema(c *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "turn that ran inside", ranInside, func(t *evidence.Turn) error {
		for _, e := range innerEvents(t) {
			fits := func(fields []string) bool { return sameSet(fields, e.Pre.Fields()) }
			if !slices.ContainsFunc(slices.Collect(maps.Values(c.Inner)), fits) {
				return fmt.Errorf("node %q saw %v", e.Node, e.Pre.Fields())
			}
		}
		return nil
	})
}

func sameSet(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}

// innerSeesNoSession: the session has fields that the graph inside does not declare, and no state inside has one of them.
func innerSeesNoSession(c *evidence.Case, turns []*evidence.Turn) error {
	declared := slices.Concat(slices.Collect(maps.Values(c.Inner))...)
	applies := func(t *evidence.Turn) bool { return ranInside(t) && t.Count(evidence.Load) > 0 }
	return every(turns, "turn of a session that ran inside", applies, func(t *evidence.Turn) error {
		hidden := 0
		for name := range t.Of(evidence.Load)[0].Record.Fields() {
			if slices.Contains(declared, name) {
				continue
			}
			hidden++
			for _, e := range innerEvents(t) {
				if slices.Contains(e.Pre.Fields(), name) {
					return fmt.Errorf("node %q saw the session's %q", e.Node, name)
				}
			}
		}
		return that(hidden > 0, "there is nothing to check it on: the session has no field of its own")
	})
}

// noInnerSessionCalls: the session was loaded once, before the graph inside ran, and saved once, after it.
func noInnerSessionCalls(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "turn that ran inside", ranInside, func(t *evidence.Turn) error {
		order := []string{}
		for _, e := range t.Of(append([]string{evidence.InnerNodeRan}, evidence.SessionCalls...)...) {
			if e.What != evidence.InnerNodeRan || len(order) == 0 || order[len(order)-1] != e.What {
				order = append(order, e.What)
			}
		}
		return same("the order", []string{evidence.Load, evidence.InnerNodeRan, evidence.Save}, order)
	})
}

// noNodeRan: no node ran in any of the turns, which all failed.
func noNodeRan(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "turn", func(*evidence.Turn) bool { return true }, func(t *evidence.Turn) error {
		return that(t.Errored() && t.Count(evidence.NodeRan, evidence.InnerNodeRan) == 0, "it is %s, and these nodes ran: %v", t.Status, t.Ran())
	})
}

// sessionOf is the session's id that an invariant names, which must be the turn's.
func sessionOf(t *evidence.Turn, v *fixture.Node) error {
	return that(v.Text() != "" && string(t.Session) == v.Text(), "it is of session %q, not %q", t.Session, v.Text())
}

// carries checks the attribute of a session's id.
func carries(what string, attributes map[string]any, v *fixture.Node) error {
	got := attributes["openarmature.session_id"]
	return that(got == v.Text(), "%s carries session %v", what, got)
}

// spansCarrySession: every span carries the id of the turn's session.
func spansCarrySession(_ *evidence.Case, turns []*evidence.Turn, v *fixture.Node) error {
	traced := func(t *evidence.Turn) bool { return len(t.Spans) > 0 }
	return every(turns, "turn with spans", traced, func(t *evidence.Turn) error {
		if err := sessionOf(t, v); err != nil {
			return err
		}
		return everySpan(t.Spans, func(s *evidence.Span) error { return carries("span "+s.Name, s.Attributes, v) })
	})
}

func everySpan(spans []*evidence.Span, holds func(*evidence.Span) error) error {
	for _, s := range spans {
		if err := holds(s); err != nil {
			return err
		}
		if err := everySpan(s.Children, holds); err != nil {
			return err
		}
	}
	return nil
}

// logsCarrySession: every log line carries the id of the turn's session.
func logsCarrySession(_ *evidence.Case, turns []*evidence.Turn, v *fixture.Node) error {
	logged := func(t *evidence.Turn) bool { return len(t.Logs) > 0 }
	return every(turns, "turn with log lines", logged, func(t *evidence.Turn) error {
		if err := sessionOf(t, v); err != nil {
			return err
		}
		for _, l := range t.Logs {
			if err := carries(fmt.Sprintf("line %q", l.Body), l.Attributes, v); err != nil {
				return err
			}
		}
		return nil
	})
}
