package invariant

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/graph"
)

func observed(t *evidence.Turn) bool { return len(t.Observed) > 0 }

// byObserver are the events that each observer of the fixture was given.
func byObserver(t *evidence.Turn) map[string][]graph.Event {
	out := map[string][]graph.Event{}
	for _, h := range t.Observed {
		out[h.Observer] = append(out[h.Observer], h.Event)
	}
	return out
}

// eventsOfSuspendedNode applies a predicate to the events of the node that suspended, per observer.
func eventsOfSuspendedNode(turns []*evidence.Turn, holds func(t *evidence.Turn, events []graph.Event) error) error {
	applies := func(t *evidence.Turn) bool { return suspended(t) && observed(t) }
	return every(turns, "suspended turn with an observer", applies, func(t *evidence.Turn) error {
		for name, events := range byObserver(t) {
			own := slices.DeleteFunc(events, func(e graph.Event) bool { return !slices.Equal(e.Namespace, t.Place) })
			if len(own) == 0 {
				return fmt.Errorf("observer %q received nothing of %q", name, t.At())
			}
			if err := holds(t, own); err != nil {
				return fmt.Errorf("observer %q: %w", name, err)
			}
		}
		return nil
	})
}

// noCompletedEvent: no observer received a completed event of the node that suspended.
func noCompletedEvent(_ *evidence.Case, turns []*evidence.Turn) error {
	return eventsOfSuspendedNode(turns, func(_ *evidence.Turn, events []graph.Event) error {
		completed := slices.ContainsFunc(events, func(e graph.Event) bool { return e.Phase == graph.PhaseCompleted })
		return that(!completed, "there is a completed event")
	})
}

// suspendedEventCarriesDescriptor: every suspended event carries the outcome's descriptor.
func suspendedEventCarriesDescriptor(_ *evidence.Case, turns []*evidence.Turn) error {
	return eventsOfSuspendedNode(turns, func(t *evidence.Turn, events []graph.Event) error {
		n := 0
		for _, e := range events {
			if e.Phase != graph.PhaseSuspended {
				continue
			}
			n++
			if e.Descriptor == nil {
				return errors.New("a suspended event has no descriptor")
			}
			if err := same("the descriptor", t.Descriptor, e.Descriptor); err != nil {
				return err
			}
		}
		return that(n > 0, "there is no suspended event")
	})
}

// startedThenSuspended: the node that suspended has one started event and then one suspended event.
func startedThenSuspended(_ *evidence.Case, turns []*evidence.Turn) error {
	return eventsOfSuspendedNode(turns, func(_ *evidence.Turn, events []graph.Event) error {
		var phases []graph.Phase
		for _, e := range events {
			phases = append(phases, e.Phase)
		}
		return same("the phases", []graph.Phase{graph.PhaseStarted, graph.PhaseSuspended}, phases)
	})
}

// eventsWithoutSession: events were delivered whose context names the session; the event itself has no field for it, and no field but
// its states holds the id.
func eventsWithoutSession(_ *evidence.Case, turns []*evidence.Turn) error {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[graph.Event]()) {
		if strings.Contains(strings.ToLower(f.Name), "session") {
			return fmt.Errorf("events have a field %s", f.Name)
		}
	}
	applies := func(t *evidence.Turn) bool { return t.Session != "" && len(t.Events) > 0 }
	return every(turns, "turn of a session with events", applies, func(t *evidence.Turn) error {
		for _, e := range t.Events {
			for key, v := range evidence.EventFields(e) {
				if !strings.Contains(key, "state") && v == string(t.Session) {
					return fmt.Errorf("an event's %s is the session's id", key)
				}
			}
		}
		return nil
	})
}

// drainInTime: the drain had a limit, ran into it, and returned within a scheduler's share of it.
func drainInTime(_ *evidence.Case, turns []*evidence.Turn) error {
	limited := func(t *evidence.Turn) bool { return t.DrainLimit > 0 && t.Drained.TimeoutReached }
	return every(turns, "drain that reached its limit", limited, func(t *evidence.Turn) error {
		return that(t.DrainTook < t.DrainLimit+evidence.Patience/20, "it took %s of %s", t.DrainTook, t.DrainLimit)
	})
}

// graphIntact: after a drain that reached its limit, the graph runs the same invocation to the same state again.
func graphIntact(c *evidence.Case, turns []*evidence.Turn) error {
	applies := func(t *evidence.Turn) bool { return t.Completed() && t.Drained.TimeoutReached && invoked(t) }
	return every(turns, "completed turn whose drain reached its limit", applies, func(t *evidence.Turn) error {
		again := c.Again(t.Invoked[0].Invocation)
		if again.Status != t.Status {
			return fmt.Errorf("another run is %s: %w", again.Status, again.Err)
		}
		return same("the state of another run", t.State, evidence.StateFields(again.State))
	})
}

// edgeFailureInCompleted: an edge failed, and every observer received one by the completed event of the node before, as its last.
func edgeFailureInCompleted(_ *evidence.Case, turns []*evidence.Turn) error {
	applies := func(t *evidence.Turn) bool {
		c := evidence.CarrierOf(t.Err)
		return t.Errored() && observed(t) && (c == core.RoutingError || c == core.EdgeException)
	}
	return every(turns, "turn with an observer whose edge failed", applies, func(t *evidence.Turn) error {
		for name, events := range byObserver(t) {
			last := events[len(events)-1]
			if last.Phase != graph.PhaseCompleted || last.Node != t.At() || !last.Post.IsZero() || evidence.CarrierOf(last.Err) != evidence.CarrierOf(t.Err) {
				return fmt.Errorf("the last event of observer %q is %s of %q: %w", name, last.Phase, last.Node, last.Err)
			}
		}
		return nil
	})
}

// noEventsForNode: the graph has this node, it did not run, and no observer received one.
func noEventsForNode(c *evidence.Case, turns []*evidence.Turn, v *fixture.Node) error {
	if !c.Nodes[v.Text()] {
		return fmt.Errorf("the graph has no node %q", v.Text())
	}
	return every(turns, "turn with an observer", observed, func(t *evidence.Turn) error {
		reported := slices.ContainsFunc(t.Observed, func(h evidence.Observed) bool { return h.Event.Node == v.Text() })
		return that(!reported && !slices.Contains(t.Ran(), v.Text()), "%q ran, or there is an event of it", v.Text())
	})
}

// eventCount: every observer of all phases received this many events of a node; at least one was.
func eventCount(node string) Predicate {
	return func(_ *evidence.Case, turns []*evidence.Turn, v *fixture.Node) error {
		return every(turns, "turn with an observer", observed, func(t *evidence.Turn) error {
			most := 0
			for _, events := range byObserver(t) {
				own := slices.DeleteFunc(events, func(e graph.Event) bool { return e.Node != node || len(e.Namespace) > 1 })
				most = max(most, len(own))
			}
			return that(most > 0 && float64(most) == v.Number(), "there are %d events of %q, not %v", most, node, v.Value())
		})
	}
}

// noFanOutIndex: there are events of the node, and none has an index.
func noFanOutIndex(node string) claim {
	return func(_ *evidence.Case, turns []*evidence.Turn) error {
		return every(turns, "turn with an observer", observed, func(t *evidence.Turn) error {
			n := 0
			for _, h := range t.Observed {
				if h.Event.Node != node || len(h.Event.Namespace) > 1 {
					continue
				}
				if n++; h.Event.FanOutIndex != nil {
					return fmt.Errorf("an event of %q has index %d", node, *h.Event.FanOutIndex)
				}
			}
			return that(n > 0, "there is no event of %q", node)
		})
	}
}

// observedInside are the events inside that one observer received, the one with the most.
func observedInside(t *evidence.Turn) []graph.Event {
	var most []graph.Event
	for _, events := range byObserver(t) {
		inner := slices.DeleteFunc(events, func(e graph.Event) bool { return len(e.Namespace) < 2 })
		if len(inner) > len(most) {
			most = inner
		}
	}
	return most
}

func innerEventCount(_ *evidence.Case, turns []*evidence.Turn, v *fixture.Node) error {
	return every(turns, "turn with an observer", observed, func(t *evidence.Turn) error {
		n := len(observedInside(t))
		return that(n > 0 && float64(n) == v.Number(), "there are %d events inside, not %v", n, v.Value())
	})
}

// innerSeen: the events inside have these values of a field, and no others.
func innerSeen(field string) Predicate {
	return func(_ *evidence.Case, turns []*evidence.Turn, v *fixture.Node) error {
		return every(turns, "turn with an observer", observed, func(t *evidence.Turn) error {
			seen := []any{}
			for _, e := range observedInside(t) {
				if got := evidence.EventFields(e)[field]; got != nil && !has(seen, got) {
					seen = append(seen, got)
				}
			}
			var want []any
			for _, one := range v.Items() {
				want = append(want, one.Value())
			}
			missing := slices.ContainsFunc(want, func(x any) bool { return !has(seen, x) })
			return that(len(want) > 0 && len(want) == len(seen) && !missing, "it is %s, not %s", fixture.Show(seen), fixture.Show(want))
		})
	}
}

func has(list []any, x any) bool {
	return slices.ContainsFunc(list, func(y any) bool { return fixture.Equal(x, y) })
}

// innerEventsUnique: no two events inside have the same place, attempt and phase.
func innerEventsUnique(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "turn with an observer", observed, func(t *evidence.Turn) error {
		seen := map[string]bool{}
		for _, e := range observedInside(t) {
			f := evidence.EventFields(e)
			id := fixture.Show([]any{f["namespace"], f["fan_out_index"], f["branch_name"], f["attempt_index"], f["phase"]})
			if seen[id] {
				return fmt.Errorf("two events are %s", id)
			}
			seen[id] = true
		}
		return that(len(seen) > 0, "there is no event inside")
	})
}
