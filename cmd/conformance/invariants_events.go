package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/graph"
)

func noEventsFor(_ *world, ts []*turn, arg *doc) error {
	return each(ts, "turn that was heard of", func(t *turn) bool { return len(t.heard) > 0 }, func(t *turn) error {
		for _, h := range t.heard {
			if h.event.Node == arg.text() {
				return fmt.Errorf("there is an event of %q", arg.text())
			}
		}
		return ifTrue(!slices.Contains(t.ran(), arg.text()), "%q ran", arg.text())
	})
}

// edgeFailureInCompleted: the failure of an edge is told by the completed event of the node before it, and by no event more.
func edgeFailureInCompleted(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { c := carrierOf(t.err); return c == core.RoutingError || c == core.EdgeException }
	return each(ts, "turn whose edge failed", meant, func(t *turn) error {
		if len(t.heard) == 0 {
			return errors.New("nobody heard of it")
		}
		last := t.heard[len(t.heard)-1].event
		return ifTrue(last.Phase == graph.PhaseCompleted && last.Err != nil && last.Post.IsZero() && last.Node == t.result().Node,
			"the last event is %s of %q", last.Phase, last.Node)
	})
}

// suspendingPhases: the node that suspended has one started event and then one suspended event, which carries the descriptor.
func suspendingPhases(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return suspended(t) && heardOf(t) }
	return each(ts, "suspended turn that was heard of", meant, func(t *turn) error {
		events := t.suspendingEvents()
		if len(events) != 2 || events[0].Phase != graph.PhaseStarted || events[1].Phase != graph.PhaseSuspended {
			return fmt.Errorf("its events are %v", events)
		}
		d := events[1].Descriptor
		return ifTrue(d != nil && w.match.diff(plain(t.descriptor), plain(d), false) == "", "the event carries %v", d)
	})
}

// eventWithoutSession: the session's id is in the context of an event and not in the event.
func eventWithoutSession(_ *world, ts []*turn, _ *doc) error {
	typ := reflect.TypeFor[graph.Event]()
	for i := range typ.NumField() {
		if strings.Contains(typ.Field(i).Name, "Session") {
			return fmt.Errorf("events have a field %s", typ.Field(i).Name)
		}
	}
	for _, t := range ts {
		for _, h := range t.heard {
			if h.session != t.session {
				return fmt.Errorf("the context of an event names session %q, not %q", h.session, t.session)
			}
		}
	}
	return nil
}

func heardOf(t *turn) bool { return len(t.heard) > 0 }

// eventsOutsideFanOut: events of the outermost graph have neither index nor branch; where there are no containers, none has.
func eventsOutsideFanOut(_ *world, ts []*turn, arg *doc) error {
	return each(ts, "turn that was heard of", heardOf, func(t *turn) error {
		for _, h := range t.heard {
			fields := eventFields(h.event)
			for _, key := range []string{"fan_out_index", "branch_name"} {
				if strings.Contains(arg.path, key) && len(h.event.Namespace) == 1 && fields[key] != nil {
					return fmt.Errorf("an event of %q has one", h.event.Node)
				}
			}
		}
		return nil
	})
}

func attemptsZero(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "turn that was heard of", heardOf, func(t *turn) error {
		for _, h := range t.heard {
			if h.event.Attempt != 0 {
				return fmt.Errorf("an event of %q is of attempt %d", h.event.Node, h.event.Attempt)
			}
		}
		return nil
	})
}

// observersIsolated: every observer that hears of all phases heard of the same number of events, and the graph ran on.
func observersIsolated(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "turn that was heard of", heardOf, func(t *turn) error {
		counts := map[string]int{}
		for _, h := range t.heard {
			counts[h.observer]++
		}
		for name, n := range counts {
			if want := 2 * len(t.ran()); n != want {
				return fmt.Errorf("observer %q heard %d events, not %d", name, n, want)
			}
		}
		return ifTrue(completed(t), "the graph did not complete: %v", t.err)
	})
}

// drainWithin leaves a scheduler's share beside the limit.
func drainWithin(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "drain with a limit", func(t *turn) bool { return t.drainLimit > 0 }, func(t *turn) error {
		return ifTrue(t.drainTook < t.drainLimit+patience/20, "it took %s of %s", t.drainTook, t.drainLimit)
	})
}

// graphUsable runs the last completed turn's invocation once more, bound to nothing.
func graphUsable(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return completed(t) && wasInvoked(t) && !resuming(t) && t.session == "" }
	return each(ts, "completed turn without a session", meant, func(t *turn) error {
		again := w.graph.Invoke(w.ctx, graph.Stores{}, graph.Invocation{Initial: t.invoked[0].Invocation.Initial})
		if again.Status != t.status {
			return fmt.Errorf("another run is %s: %w", again.Status, again.Err)
		}
		d := w.match.diff(stateFields(t.result().State), stateFields(again.State), false)
		return ifTrue(d == "", "another run ends otherwise: %s", d)
	})
}

func allDelivered(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "turn that was heard of", heardOf, func(t *turn) error {
		return ifTrue(t.drained.Undelivered == 0 && !t.drained.TimeoutReached, "%d events were not delivered", t.drained.Undelivered)
	})
}
