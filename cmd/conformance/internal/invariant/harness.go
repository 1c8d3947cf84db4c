package invariant

import (
	"errors"
	"fmt"
	"slices"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/harness"
	"gatehouse/core"
	"gatehouse/core/graph"
)

var transmitted = of(evidence.Transmission)

func invoked(t *evidence.Turn) bool { return len(t.Invoked) > 0 }

// invokedOnce returns the one invocation of a turn.
func invokedOnce(t *evidence.Turn) (graph.Invocation, error) {
	if len(t.Invoked) != 1 {
		return graph.Invocation{}, fmt.Errorf("the graph was invoked %d times", len(t.Invoked))
	}
	return t.Invoked[0].Invocation, nil
}

// newSessionPath: every transmission took path 3.1, and began a session.
func newSessionPath(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "transmission", transmitted, func(t *evidence.Turn) error {
		in, err := invokedOnce(t)
		if err != nil {
			return err
		}
		return that(t.Path == harness.PathNew && in.Session != "" && in.Resume == "" && t.Before == nil, "it took path %q with session %q", t.Path, in.Session)
	})
}

// sessionGenerated: the transmission named no session, the engine was given one, and what was saved is under that one.
func sessionGenerated(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "transmission", transmitted, func(t *evidence.Turn) error {
		in, err := invokedOnce(t)
		if err != nil {
			return err
		}
		if t.Given != "" {
			return fmt.Errorf("the transmission names session %q", t.Given)
		}
		return that(in.Session != "" && t.Session == in.Session && t.After != nil, "the engine was given session %q and worked with %q", in.Session, t.Session)
	})
}

// engineReceivedSession: each invocation was given a session's id, and the store was called with that id and no other.
func engineReceivedSession(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "invocation of a graph", invoked, func(t *evidence.Turn) error {
		in, err := invokedOnce(t)
		if err != nil {
			return err
		}
		calls := t.Of(evidence.SessionCalls...)
		if in.Session == "" || t.Result().Session != in.Session || len(calls) == 0 {
			return fmt.Errorf("the engine was given session %q, worked with %q and called the store %d times", in.Session, t.Result().Session, len(calls))
		}
		for _, e := range calls {
			if e.Session != in.Session {
				return fmt.Errorf("a %s was of session %q", e.What, e.Session)
			}
		}
		return nil
	})
}

// firstSuspendedAndSubscribed: the first turn suspended, and what it waits for was registered once, as the outcome has it.
func firstSuspendedAndSubscribed(c *evidence.Case, turns []*evidence.Turn) error {
	return every(turns[:min(1, len(turns))], "turn", transmitted, func(t *evidence.Turn) error {
		if !t.Suspended() || t.Subscribed != 1 || len(c.Subscriptions) == 0 {
			return fmt.Errorf("it is %s, with %d subscriptions", t.Status, t.Subscribed)
		}
		s := c.Subscriptions[0]
		if s.Invocation != t.ID || t.PausedRecord == nil {
			return fmt.Errorf("the subscription is of invocation %q, not %q", s.Invocation, t.ID)
		}
		return same("the subscription", t.Descriptor, s.Descriptor)
	})
}

// secondIsSignalResume: the second turn took path 3.3 and resumed what the first had paused.
func secondIsSignalResume(_ *evidence.Case, turns []*evidence.Turn) error {
	first, second, err := two(turns)
	if err != nil {
		return err
	}
	in, err := invokedOnce(second)
	if err != nil {
		return err
	}
	return that(second.Path == harness.PathSignal && first.Suspended() && in.Resume == first.ID && second.Resumed(),
		"it took path %q and resumed %q", second.Path, in.Resume)
}

func signalled(t *evidence.Turn) bool { return t.Signal != nil }

// payloadReachedEngine: the engine was given the signal's payload, and the resumed state has it.
func payloadReachedEngine(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "signal", signalled, func(t *evidence.Turn) error {
		in, err := invokedOnce(t)
		if err != nil {
			return err
		}
		if err := same("the payload", t.Signal.Payload, in.Payload); err != nil {
			return err
		}
		return overlaid(t)
	})
}

// notBlocked: a suspended turn of this kind returned while its record waited, and nothing had resumed it.
func notBlocked(k evidence.Kind) claim {
	return func(_ *evidence.Case, turns []*evidence.Turn) error {
		return every(turns, "suspended turn", both(of(k), (*evidence.Turn).Suspended), func(t *evidence.Turn) error {
			if t.PausedRecord == nil || t.Took >= evidence.Patience {
				return fmt.Errorf("it returned after %s, its record waits: %v", t.Took, t.PausedRecord != nil)
			}
			return that(t.Count(evidence.Pause) == 1 && t.Count(evidence.Consume) == 0, "it paused %d times and was taken up %d times",
				t.Count(evidence.Pause), t.Count(evidence.Consume))
		})
	}
}

// completionShape: every completed turn was answered by a completion response, whose body is the final state.
func completionShape(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "completed transmission", both(transmitted, (*evidence.Turn).Completed), func(t *evidence.Turn) error {
		if t.Response.Shape != harness.CompletionResponse {
			return fmt.Errorf("the answer is a %s", t.Response.Shape)
		}
		return same("the answer", t.State, t.Response.Body)
	})
}

// shapeDistinct: the answer to a completed turn is neither of the other two shapes, and says nothing of an error or a signal.
func shapeDistinct(_ *evidence.Case, turns []*evidence.Turn) error {
	others := []harness.Shape{harness.ErrorResponse, harness.SuspendedAck}
	return every(turns, "completed transmission", both(transmitted, (*evidence.Turn).Completed), func(t *evidence.Turn) error {
		if slices.Contains(others, t.Response.Shape) {
			return fmt.Errorf("the answer is a %s", t.Response.Shape)
		}
		for _, key := range []string{"category", "bucket", "signal_id"} {
			if _, there := t.Response.Body[key]; there {
				return fmt.Errorf("the answer has a %s", key)
			}
		}
		return nil
	})
}

// bucketOf: there are turns that failed with this category, and all of them, and what was answered, have this bucket.
func bucketOf(turns []*evidence.Turn, c core.Category, b core.Bucket) error {
	applies := func(t *evidence.Turn) bool { return t.Errored() && t.Category == c }
	return every(turns, "turn that failed with "+string(c), applies, func(t *evidence.Turn) error {
		if t.Response != nil && t.Response.Body["bucket"] != b {
			return fmt.Errorf("the answer's bucket is %v", t.Response.Body["bucket"])
		}
		return that(t.Bucket == b, "its bucket is %s", t.Bucket)
	})
}

func loadFailureTerminates(_ *evidence.Case, turns []*evidence.Turn) error {
	return bucketOf(turns, core.SessionLoadFailed, core.SessionTerminating)
}

// notRetried: a failed turn was begun once: the graph was not invoked a second time, and the session loaded once at most.
func notRetried(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "failed transmission", both(transmitted, (*evidence.Turn).Errored), func(t *evidence.Turn) error {
		loads := t.Count(evidence.Load)
		return that(len(t.Invoked) <= 1 && t.Retries == 0 && loads <= 1, "the graph was invoked %d times, retried %d times, and the session loaded %d times",
			len(t.Invoked), t.Retries, loads)
	})
}

// interventionRequired: the answer to a failed turn demands an intervention.
func interventionRequired(_ *evidence.Case, turns []*evidence.Turn) error {
	return every(turns, "failed transmission", both(transmitted, (*evidence.Turn).Errored), func(t *evidence.Turn) error {
		return that(t.Response.Shape == harness.ErrorResponse && t.Response.Body["intervention_required"] == true, "the answer is %v", t.Response.Body)
	})
}

// statelessPath: the harness is stateless, and every transmission took path 3.0.
func statelessPath(c *evidence.Case, turns []*evidence.Turn) error {
	if c.Mode != harness.Stateless {
		return errors.New("the harness is not stateless")
	}
	return every(turns, "transmission", transmitted, func(t *evidence.Turn) error {
		return that(t.Path == harness.PathStateless, "it took path %q", t.Path)
	})
}

// sessionNotResolved: a stateless harness invoked the graph without a session.
func sessionNotResolved(c *evidence.Case, turns []*evidence.Turn) error {
	if c.Mode != harness.Stateless {
		return errors.New("the harness is not stateless")
	}
	return every(turns, "transmission", transmitted, func(t *evidence.Turn) error {
		in, err := invokedOnce(t)
		if err != nil {
			return err
		}
		return that(in.Session == "" && t.Result().Session == "", "it was invoked with session %q", in.Session)
	})
}

// storeNotCalled: there is a store of sessions, graphs were invoked, and nothing called it.
func storeNotCalled(c *evidence.Case, turns []*evidence.Turn) error {
	if !c.HasSessions {
		return errors.New("there is nothing to check it on: no session store")
	}
	return every(turns, "invocation of a graph", invoked, func(t *evidence.Turn) error {
		n := t.Count(evidence.SessionCalls...)
		return that(n == 0, "the store was called %d times", n)
	})
}

// categories are those of the specification that a turn can fail with.
var categories = []core.Category{
	core.SessionLoadFailed, core.SessionSaveFailed, core.SessionWriteConflict, core.MigrationChainAmbiguous, core.MigrationMissing,
	core.MigrationFailed, core.SuspensionPersistenceFailed, core.SuspensionRecordInvalid, core.SuspensionPayloadInvalid,
	core.SuspensionUnsupportedContext, core.HarnessSessionUnresolved, core.HarnessSubscriptionFailed, core.HarnessCorrelationFailed,
	core.HarnessPathAmbiguous, core.ChatMessageShapeInvalid, core.NodeException, core.EdgeException, core.ReducerError,
	core.RoutingError, core.StateValidationError, core.ProviderInvalidRequest, core.ProviderUnavailable, core.ProviderRateLimit,
}

// categoryNot: no failure has one of the categories that are listed.
func categoryNot(_ *evidence.Case, turns []*evidence.Turn, v *fixture.Node) error {
	var not []core.Category
	for _, one := range v.Items() {
		not = append(not, core.Category(one.Text()))
	}
	if len(not) == 0 {
		return errors.New("no category is listed")
	}
	for _, c := range not {
		if !slices.Contains(categories, c) {
			return fmt.Errorf("there is no category %q", c)
		}
	}
	return every(turns, "failed turn", (*evidence.Turn).Errored, func(t *evidence.Turn) error {
		return that(!slices.Contains(not, t.Category), "its category is %s", t.Category)
	})
}
