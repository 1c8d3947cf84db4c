package invariant

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core/graph"
)

// byObserver returns the events that each observer of the fixture received.
func (r run) byObserver() map[string][]graph.Event {
	out := map[string][]graph.Event{}
	for _, o := range r.Observed {
		out[o.Observer] = append(out[o.Observer], o.Event)
	}
	return out
}

// atSuspended applies a predicate to the events of the suspended node, per observer. Each observer must have received
// one.
func (r run) atSuspended(holds func(events []graph.Event) error) error {
	for name, events := range r.byObserver() {
		own := slices.DeleteFunc(events, func(e graph.Event) bool { return !slices.Equal(e.Namespace, r.Place) })
		if len(own) == 0 {
			return fmt.Errorf("observer %q received nothing of %q", name, r.At())
		}
		if err := holds(own); err != nil {
			return fmt.Errorf("observer %q: %w", name, err)
		}
	}
	return nil
}

// noCompletedEvent: no observer received a completed event of the suspended node.
func noCompletedEvent(r run) error {
	return r.atSuspended(func(events []graph.Event) error {
		completed := slices.ContainsFunc(events, func(e graph.Event) bool { return e.Phase == graph.PhaseCompleted })
		return require(!completed, "there is a completed event")
	})
}

// suspendedEventCarriesDescriptor: every observer received a suspended event, and each one carries the outcome's
// descriptor.
func suspendedEventCarriesDescriptor(r run) error {
	return r.atSuspended(func(events []graph.Event) error {
		n := 0
		for _, e := range events {
			if e.Phase != graph.PhaseSuspended {
				continue
			}
			n++
			if e.Descriptor == nil {
				return errors.New("a suspended event has no descriptor")
			}
			if err := same("the descriptor", r.Descriptor, e.Descriptor); err != nil {
				return err
			}
		}
		return require(n > 0, "there is no suspended event")
	})
}

// startedThenSuspended: the suspended node has one started event and then one suspended event.
func startedThenSuspended(r run) error {
	return r.atSuspended(func(events []graph.Event) error {
		var phases []graph.Phase
		for _, e := range events {
			phases = append(phases, e.Phase)
		}
		return same("the phases", []graph.Phase{graph.PhaseStarted, graph.PhaseSuspended}, phases)
	})
}

// eventsWithoutSession: events of a session were delivered. They have no field for it, and no field but the states
// holds its id.
func eventsWithoutSession(r run) error {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[graph.Event]()) {
		if strings.Contains(strings.ToLower(f.Name), "session") {
			return fmt.Errorf("events have a field %s", f.Name)
		}
	}
	for _, e := range r.Events {
		for key, v := range evidence.EventFields(e) {
			if !strings.Contains(key, "state") && v == string(r.Session) {
				return fmt.Errorf("an event's %s is the session's id", key)
			}
		}
	}
	return nil
}

// drainInTime: the drain returned within its limit and a short tolerance.
func drainInTime(r run) error {
	return require(r.DrainTook < r.DrainLimit+evidence.Patience/20, "it took %s of %s", r.DrainTook, r.DrainLimit)
}

// graphIntact: the graph runs the same invocation to the same state again.
func graphIntact(r run) error {
	again := r.c.Rerun(r.Invoked[0].Invocation)
	if again.Status != r.Status {
		return fmt.Errorf("another run is %s: %w", again.Status, again.Err)
	}
	return same("the state of another run", r.State, evidence.StateFields(again.State))
}

// edgeFailureInCompleted: the last event of every observer is the completed event of the node before the edge, with the
// edge's error.
func edgeFailureInCompleted(r run) error {
	for name, events := range r.byObserver() {
		last := events[len(events)-1]
		if last.Phase != graph.PhaseCompleted || last.Node != r.At() || !last.Post.IsZero() ||
			evidence.CarrierOf(last.Err) != evidence.CarrierOf(r.Err) {
			return fmt.Errorf("the last event of observer %q is %s of %q: %w", name, last.Phase, last.Node, last.Err)
		}
	}
	return nil
}

// noEventsForNode: the graph has this node, it did not run, and no observer received an event of it.
func noEventsForNode(r run) error {
	node := r.v.Text()
	if !r.c.Nodes[node] {
		return fmt.Errorf("the graph has no node %q", node)
	}
	reported := slices.ContainsFunc(r.Observed, func(o evidence.Observed) bool { return o.Event.Node == node })
	return require(!reported && !slices.Contains(r.Ran(), node), "%q ran, or there is an event of it", node)
}

func isInner(e graph.Event) bool { return len(e.Namespace) > 1 }

// isOf selects the events of a node of the outer graph.
func isOf(node string) func(graph.Event) bool {
	return func(e graph.Event) bool { return e.Node == node && !isInner(e) }
}

// most returns the selected events that one observer received: the observer that received the most of them.
func (r run) most(selects func(graph.Event) bool) []graph.Event {
	var most []graph.Event
	for _, events := range r.byObserver() {
		own := slices.DeleteFunc(events, func(e graph.Event) bool { return !selects(e) })
		if len(own) > len(most) {
			most = own
		}
	}
	return most
}

// eventCount: there is this number of selected events, at least one.
func eventCount(selects func(graph.Event) bool) func(run) error {
	return func(r run) error {
		n := len(r.most(selects))
		return require(n > 0 && float64(n) == r.v.Number(), "there are %d such events, not %v", n, r.v.Value())
	}
}

// noFanOutIndex: there are events of the node, and none has an index.
func noFanOutIndex(node string) func(run) error {
	return func(r run) error {
		own := slices.DeleteFunc(slices.Clone(r.Observed), func(o evidence.Observed) bool {
			return !isOf(node)(o.Event)
		})
		indexed := slices.ContainsFunc(own, func(o evidence.Observed) bool { return o.Event.FanOutIndex != nil })
		return require(len(own) > 0 && !indexed, "there are %d events of %q, one with an index: %v", len(own), node,
			indexed)
	}
}

// innerSeen: the events of subgraphs have exactly these values of a field.
func innerSeen(field string) func(run) error {
	return func(r run) error {
		var seen, want []string
		for _, e := range r.most(isInner) {
			if got := evidence.EventFields(e)[field]; got != nil {
				seen = append(seen, fixture.Show(got))
			}
		}
		for _, one := range r.v.Items() {
			want = append(want, fixture.Show(one.Value()))
		}
		slices.Sort(seen)
		slices.Sort(want)
		seen = slices.Compact(seen)
		return require(len(want) > 0 && slices.Equal(seen, want), "it is [%s], not [%s]", strings.Join(seen, ","),
			strings.Join(want, ","))
	}
}

// innerEventsUnique: no two events of subgraphs have the same place, attempt and phase; there is at least one.
func innerEventsUnique(r run) error {
	seen := map[string]bool{}
	for _, e := range r.most(isInner) {
		f := evidence.EventFields(e)
		id := fixture.Show([]any{f["namespace"], f["fan_out_index"], f["branch_name"], f["attempt_index"], f["phase"]})
		if seen[id] {
			return fmt.Errorf("two events are %s", id)
		}
		seen[id] = true
	}
	return require(len(seen) > 0, "there is no event of a subgraph")
}
