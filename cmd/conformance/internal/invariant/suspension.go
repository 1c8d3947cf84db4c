package invariant

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/core"
	"gatehouse/core/graph"
)

// suspendedOutcome: the turn suspended, and its outcome has everything that a suspended one carries.
func suspendedOutcome(r run) error {
	return require(suspended.applies(r) && r.ID != "" && r.Descriptor != nil && r.Descriptor.SignalID != "" &&
		r.State != nil,
		"it is %s, or its outcome has no id, signal or state", r.Status)
}

// overlaid: a resumed turn started with the payload's values in every field of the payload that the schema declares, of
// which there is at least one.
func overlaid(r run) error {
	declared := 0
	for name, raw := range r.Signal.Payload {
		got, there := r.StartState[name]
		if !there {
			continue
		}
		declared++
		if err := same("field "+name, raw, got); err != nil {
			return err
		}
	}
	return require(declared > 0 && r.Resumed(), "the payload has no declared field")
}

// resumeContinues: a resumed turn completed, and ran nodes, but none that the paused turn had run.
func resumeContinues(r run) error {
	i := slices.IndexFunc(r.turns, func(o *evidence.Turn) bool {
		return o.Suspended() && len(o.Place) > 0 && o.ID == r.ID
	})
	if i < 0 {
		return errors.New("no turn before it was paused")
	}
	again := slices.ContainsFunc(r.Ran(), func(node string) bool { return slices.Contains(r.turns[i].Ran(), node) })
	return require(len(r.Ran()) > 0 && r.Completed() && !again, "it is %s, and ran %v after %v", r.Status, r.Ran(),
		r.turns[i].Ran())
}

// recordInvalid: a signal that no record waits for fails with suspension_record_invalid, and runs nothing.
func recordInvalid(r run) error {
	return require(r.Category == core.SuspensionRecordInvalid && len(r.Ran()) == 0, "its category is %q, and it ran %v",
		r.Category, r.Ran())
}

// recordInvalidBothWays is recordInvalid, for both a completed invocation and one that never existed.
func recordInvalidBothWays(r run) error {
	ofCompleted, ofNone := 0, 0
	for _, t := range r.turns {
		completed := func(o *evidence.Turn) bool { return o.Completed() && o.ID == t.Signal.Invocation }
		switch {
		case t.Signal == nil || t.ResumedRecord != nil:
		case slices.ContainsFunc(r.turns, completed):
			ofCompleted++
		default:
			ofNone++
		}
	}
	if ofCompleted == 0 || ofNone == 0 {
		return fmt.Errorf("%d completed invocations were resumed, and %d that never existed", ofCompleted, ofNone)
	}
	return recordInvalid(r)
}

// suspensionPropagates: a node of a subgraph suspended, the outer graph stopped at the subgraph's node, and the pause
// holds a frame of each graph.
func suspensionPropagates(r run) error {
	if !r.ended(r.Place[0]) || r.At() == r.Place[0] {
		return fmt.Errorf("it suspended at %v, and ran %v", r.Place, r.Ran())
	}
	return require(!r.c.HasPauses || r.PausedRecord != nil && len(r.PausedRecord.Frames) == len(r.Place),
		"the pause does not hold the outer graph")
}

// resumeEntersAt: a resumed turn continued in a subgraph, at this node.
func resumeEntersAt(node string) func(run) error {
	return func(r run) error {
		if len(r.Events) == 0 {
			return errors.New("nothing ran")
		}
		e := r.Events[0]
		return require(e.Phase == graph.PhaseStarted && e.Node == node && len(e.Namespace) > 1,
			"it resumed at %v", e.Namespace)
	}
}

// resumeRuns: a resumed turn ran this node of the outer graph last, and completed.
func resumeRuns(node string) func(run) error {
	return func(r run) error {
		return require(r.Completed() && r.ended(node), "it is %s, and ran %v", r.Status, r.Ran())
	}
}

// suspendedParts returns the value of this field in each suspended event of a subgraph that has it.
func (r run) suspendedParts(field string) []any {
	var out []any
	for _, e := range innerEvents(r.Events) {
		if part := evidence.EventFields(e)[field]; part != nil && e.Phase == graph.PhaseSuspended {
			out = append(out, part)
		}
	}
	return out
}

// partSuspendsContainer: one part of a fan-out or of parallel branches suspended, and with it the container's node,
// where the outer graph stopped.
func partSuspendsContainer(field string) func(run) error {
	return func(r run) error {
		if !r.ended(r.Place[0]) {
			return fmt.Errorf("it suspended at %q, and ran %v", r.Place[0], r.Ran())
		}
		parts, last := len(r.suspendedParts(field)), r.Events[len(r.Events)-1]
		return require(parts == 1 && last.Phase == graph.PhaseSuspended && last.Node == r.Place[0],
			"%d parts suspended, and %s %s last", parts, last.Node, last.Phase)
	}
}

// siblingsCancelled: where a part of a container suspended, its siblings contribute nothing: the state at the pause is
// the one that the container started with, even if a sibling had ended before. No sibling still runs, and none
// suspended too.
func siblingsCancelled(r run) error {
	var before graph.State
	open, suspensions := map[int]string{}, 0
	for _, e := range r.Events {
		if e.Phase == graph.PhaseStarted {
			open[e.Step] = e.Node
		} else {
			delete(open, e.Step)
		}
		if len(e.Namespace) == 1 && e.Node == r.Place[0] {
			before = e.Pre
		}
		if e.Phase == graph.PhaseSuspended && (e.FanOutIndex != nil || e.Branch != "") {
			suspensions++
		}
	}
	if len(open) > 0 || suspensions != 1 || before.IsZero() {
		return fmt.Errorf("%d nodes did not end, %d parts suspended", len(open), suspensions)
	}
	return same("the state at the pause", only(evidence.StateFields(before), maps.Keys(r.State)), r.State)
}

// descriptorCarries: the descriptor names the part that suspended, as the event of its node does.
func descriptorCarries(field string) func(run) error {
	return func(r run) error {
		parts := r.suspendedParts(field)
		if len(parts) == 0 {
			return fmt.Errorf("no suspended node has a %s", field)
		}
		return same(field, parts[0], r.Descriptor.Metadata[field])
	}
}

// markers returns the texts of the middleware around the suspended node: all of them, and those that were written.
func (r run) markers(marker func(evidence.Marker) string) (all, written []string) {
	for _, m := range r.c.Markers {
		if text := marker(m); m.Node == r.At() && text != "" {
			all = append(all, text)
			if slices.Contains(r.Marked(), text) {
				written = append(written, text)
			}
		}
	}
	return all, written
}

// middlewareBeforeNextRan: the middleware around the suspended node wrote all its texts from before next, at least one.
func middlewareBeforeNextRan(r run) error {
	all, written := r.markers(func(m evidence.Marker) string { return m.Before })
	return require(len(all) > 0 && len(written) == len(all), "%v of %v were written", written, all)
}

// middlewareAfterNextSkipped: the middleware around the suspended node has a text for after next, and wrote none.
func middlewareAfterNextSkipped(r run) error {
	all, written := r.markers(func(m evidence.Marker) string { return m.After })
	return require(len(all) > 0 && len(written) == 0, "%v of %v were written", written, all)
}
