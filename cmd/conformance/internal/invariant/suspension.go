package invariant

import (
	"errors"
	"fmt"
	"slices"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/core"
	"gatehouse/core/graph"
)

func suspended(t *evidence.Turn) bool { return t.Suspended() && len(t.Place) > 0 }

func resumed(t *evidence.Turn) bool { return t.Resumed() && t.Began != nil }

// suspendedOutcome: the first turn suspended, and its outcome has all that a suspended one carries.
func suspendedOutcome(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns[:min(1, len(turns))], "turn", func(*evidence.Turn) bool { return true }, func(t *evidence.Turn) error {
		if !suspended(t) || t.ID == "" || t.Descriptor == nil || t.Descriptor.SignalID == "" {
			return fmt.Errorf("it is %s", t.Status)
		}
		return that(t.State != nil, "its outcome has no state")
	})
}

// overlaid: a resumed turn began with the payload's values in every field of the payload that the schema declares, of which there is
// at least one.
func overlaid(t *evidence.Turn) error {
	declared := 0
	for name, raw := range t.Signal.Payload {
		got, there := t.Began[name]
		if !there {
			continue
		}
		declared++
		if err := same("field "+name, raw, got); err != nil {
			return err
		}
	}
	return that(declared > 0 && t.Resumed(), "the payload has no declared field")
}

func payloadMerged(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "resumed turn", resumed, overlaid)
}

// resumeContinues: a resumed turn ran the node after the one that suspended, and neither that one nor one that was done before.
func resumeContinues(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "resumed turn", resumed, func(t *evidence.Turn) error {
		i := slices.IndexFunc(turns, func(o *evidence.Turn) bool { return suspended(o) && o.ID == t.ID })
		if i < 0 {
			return errors.New("no turn before it was paused")
		}
		if len(t.Ran()) == 0 || !t.Completed() {
			return fmt.Errorf("it is %s, and ran %v", t.Status, t.Ran())
		}
		for _, node := range t.Ran() {
			if slices.Contains(turns[i].Ran(), node) {
				return fmt.Errorf("%q ran again", node)
			}
		}
		return nil
	})
}

// resumesNothing is a resume of what does not wait.
func resumesNothing(t *evidence.Turn) bool { return t.Signal != nil && t.ResumedRecord == nil }

// recordInvalid: each resume of what does not wait failed with suspension_record_invalid, and ran nothing.
func recordInvalid(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "resume of what does not wait", resumesNothing, func(t *evidence.Turn) error {
		return that(t.Category == core.SuspensionRecordInvalid && len(t.Ran()) == 0, "its category is %q, and it ran %v", t.Category, t.Ran())
	})
}

// recordInvalidBothWays: a completed invocation was resumed, and one that never was; both failed so.
func recordInvalidBothWays(c *evidence.Case, turns []*evidence.Turn) error {
	if err := recordInvalid(c, turns); err != nil {
		return err
	}
	completed := func(id core.InvocationID) bool {
		return slices.ContainsFunc(turns, func(o *evidence.Turn) bool { return o.Completed() && o.ID == id })
	}
	ofCompleted, ofNone := 0, 0
	for _, t := range turns {
		switch {
		case !resumesNothing(t):
		case completed(t.Signal.Invocation):
			ofCompleted++
		default:
			ofNone++
		}
	}
	return that(ofCompleted > 0 && ofNone > 0, "%d completed invocations were resumed, and %d that never were", ofCompleted, ofNone)
}

func suspendedInside(t *evidence.Turn) bool { return suspended(t) && len(t.Place) > 1 }

// suspensionPropagates: a node of a subgraph suspended, the outer graph stopped at the subgraph's node, and the pause holds a frame of
// both.
func suspensionPropagates(c *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "turn that suspended inside", suspendedInside, func(t *evidence.Turn) error {
		outer, ran := t.Place[0], t.Ran()
		if len(ran) == 0 || ran[len(ran)-1] != outer || t.At() == outer {
			return fmt.Errorf("it suspended at %v, and ran %v", t.Place, ran)
		}
		return that(!c.HasPauses || t.PausedRecord != nil && len(t.PausedRecord.Frames) == len(t.Place), "the pause does not hold the outer graph")
	})
}

// resumeEntersAt: a resumed turn continued inside, at this node.
func resumeEntersAt(node string) claim {
	return func(_ *evidence.Case, turns []*evidence.Turn) error {
		return every(turns, "resumed turn", resumed, func(t *evidence.Turn) error {
			if len(t.Events) == 0 {
				return errors.New("nothing ran")
			}
			first := t.Events[0]
			return that(first.Phase == graph.PhaseStarted && first.Node == node && len(first.Namespace) > 1, "it resumed at %v", first.Namespace)
		})
	}
}

// resumeRuns: a resumed turn ran this node of the outer graph last, and completed.
func resumeRuns(node string) claim {
	return func(_ *evidence.Case, turns []*evidence.Turn) error {
		return every(turns, "resumed turn", resumed, func(t *evidence.Turn) error {
			ran := t.Ran()
			return that(t.Completed() && len(ran) > 0 && ran[len(ran)-1] == node, "it is %s, and ran %v", t.Status, ran)
		})
	}
}

// partSuspendsContainer: one part of a container suspended, and with it the container's node, where the outer graph stopped.
func partSuspendsContainer(key string) claim {
	return func(_ *evidence.Case, turns []*evidence.Turn) error {
		return every(turns, "turn that suspended inside", suspendedInside, func(t *evidence.Turn) error {
			container, ran := t.Place[0], t.Ran()
			if len(ran) == 0 || ran[len(ran)-1] != container {
				return fmt.Errorf("it suspended at %q, and ran %v", container, ran)
			}
			parts := 0
			for _, e := range t.Events {
				if e.Phase != graph.PhaseSuspended {
					continue
				}
				if own := evidence.EventFields(e)[key]; own != nil && len(e.Namespace) > 1 {
					parts++
				}
			}
			last := t.Events[len(t.Events)-1]
			return that(parts == 1 && last.Phase == graph.PhaseSuspended && last.Node == container, "%d parts suspended, and %s %s last", parts, last.Node, last.Phase)
		})
	}
}

// siblingsCancelled: where a part of a container suspended, its siblings contribute nothing: the state at the pause is the one that the
// container began with, also where a sibling had ended before. None of them is still running, and none suspended too.
func siblingsCancelled(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "turn that suspended inside", suspendedInside, func(t *evidence.Turn) error {
		var began graph.State
		open, suspensions := map[int]string{}, 0
		for _, e := range t.Events {
			if e.Phase == graph.PhaseStarted {
				open[e.Step] = e.Node
			} else {
				delete(open, e.Step)
			}
			if len(e.Namespace) == 1 && e.Node == t.Place[0] {
				began = e.Pre
			}
			if e.Phase == graph.PhaseSuspended && (e.FanOutIndex != nil || e.Branch != "") {
				suspensions++
			}
		}
		if len(open) > 0 || suspensions != 1 || began.IsZero() {
			return fmt.Errorf("%d nodes did not end, %d parts suspended", len(open), suspensions)
		}
		return same("the state at the pause", onlyOf(evidence.StateFields(began), t.State), t.State)
	})
}

// descriptorCarries: the descriptor names the part that suspended, the very one that the event of its node carries.
func descriptorCarries(key string) claim {
	return func(_ *evidence.Case, turns []*evidence.Turn) error {
		return every(turns, "turn that suspended inside", suspendedInside, func(t *evidence.Turn) error {
			for _, e := range t.Events {
				if e.Phase == graph.PhaseSuspended && len(e.Namespace) > 1 {
					if part := evidence.EventFields(e)[key]; part != nil {
						return same(key, part, t.Descriptor.Metadata[key])
					}
				}
			}
			return fmt.Errorf("no suspended node has a %s", key)
		})
	}
}

// markersAround are what the middleware around the node that suspended writes before or after next, of which there must be
// something.
func markersAround(c *evidence.Case, t *evidence.Turn, marker func(evidence.Marker) string) ([]string, error) {
	var out []string
	for _, m := range c.Markers {
		if text := marker(m); m.Node == t.At() && text != "" {
			out = append(out, text)
		}
	}
	return out, that(len(out) > 0, "there is nothing to check it on: no middleware of the node that suspended writes there")
}

// middlewareBeforeNextRan: all that the middleware around the node that suspended writes before next was written.
func middlewareBeforeNextRan(c *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "suspended turn", suspended, func(t *evidence.Turn) error {
		markers, err := markersAround(c, t, func(m evidence.Marker) string { return m.Before })
		missing := slices.DeleteFunc(markers, func(m string) bool { return slices.Contains(t.Marked(), m) })
		return errors.Join(err, that(len(missing) == 0, "%v were not written", missing))
	})
}

// middlewareAfterNextSkipped: nothing that it writes after next was written.
func middlewareAfterNextSkipped(c *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "suspended turn", suspended, func(t *evidence.Turn) error {
		markers, err := markersAround(c, t, func(m evidence.Marker) string { return m.After })
		written := slices.DeleteFunc(markers, func(m string) bool { return !slices.Contains(t.Marked(), m) })
		return errors.Join(err, that(len(written) == 0, "%v were written", written))
	})
}
