package invariant

import (
	"errors"
	"fmt"
	"slices"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/harness"
	"gatehouse/core"
)

// newSessionPath: the transmission took path 3.1 and started a session.
func newSessionPath(r run) error {
	in, once := r.invocation()
	return require(once && r.Path == harness.PathNew && in.Session != "" && in.Resume == "" && r.Before == nil,
		"it took path %q with session %q", r.Path, in.Session)
}

// sessionGenerated: the transmission named no session, the engine received one, and the state was saved under its id.
func sessionGenerated(r run) error {
	in, once := r.invocation()
	return require(once && r.Given == "" && in.Session != "" && r.Session == in.Session && r.After != nil,
		"the transmission names session %q, the engine received %q and worked with %q", r.Given, in.Session, r.Session)
}

// engineReceivedSession: the engine received a session id, and the store was called with that id and no other.
func engineReceivedSession(r run) error {
	in, once := r.invocation()
	calls := r.Of(evidence.SessionCalls...)
	if !once || in.Session == "" || r.Result().Session != in.Session || len(calls) == 0 {
		return fmt.Errorf("the engine received session %q, worked with %q and called the store %d times", in.Session,
			r.Result().Session, len(calls))
	}
	other := slices.ContainsFunc(calls, func(e evidence.Entry) bool { return e.Session != in.Session })
	return require(!other, "the store was called with another session")
}

// firstSuspendedAndSubscribed: the turn suspended, and the signal that it waits for was registered once, with the
// outcome's descriptor.
func firstSuspendedAndSubscribed(r run) error {
	if !r.Suspended() || r.Subscribed != 1 || len(r.c.Subscriptions) == 0 {
		return fmt.Errorf("it is %s, with %d subscriptions", r.Status, r.Subscribed)
	}
	s := r.c.Subscriptions[0]
	if s.Invocation != r.ID || r.PausedRecord == nil {
		return fmt.Errorf("the subscription is of invocation %q, not %q", s.Invocation, r.ID)
	}
	return same("the subscription", r.Descriptor, s.Descriptor)
}

// secondIsSignalResume: the second turn took path 3.3 and resumed the invocation that the first one paused.
func secondIsSignalResume(r run) error {
	in, once := r.invocation()
	return require(once && r.Path == harness.PathSignal && r.turns[0].Suspended() && in.Resume == r.turns[0].ID &&
		r.Resumed(),
		"it took path %q and resumed %q", r.Path, in.Resume)
}

// payloadReachedEngine: the engine received the signal's payload, and the resumed state has it.
func payloadReachedEngine(r run) error {
	in, _ := r.invocation()
	if err := same("the payload", r.Signal.Payload, in.Payload); err != nil {
		return err
	}
	return overlaid(r)
}

// notBlocked: the turn returned while its record still waited, and nothing had resumed it.
func notBlocked(r run) error {
	pauses, consumed := r.Count(evidence.Pause), r.Count(evidence.Consume)
	return require(r.PausedRecord != nil && r.Took < evidence.Patience && pauses == 1 && consumed == 0,
		"it returned after %s, its record waits: %v, it was paused %d times and consumed %d times", r.Took,
		r.PausedRecord != nil, pauses, consumed)
}

// completionShape: the answer is a completion response whose body is the final state.
func completionShape(r run) error {
	if r.Response.Shape != harness.CompletionResponse {
		return fmt.Errorf("the answer is a %s", r.Response.Shape)
	}
	return same("the answer", r.State, r.Response.Body)
}

// shapeDistinct: the answer has neither of the other two shapes, and no field of an error or a signal.
func shapeDistinct(r run) error {
	if s := r.Response.Shape; s == harness.ErrorResponse || s == harness.SuspendedAck {
		return fmt.Errorf("the answer is a %s", s)
	}
	for _, key := range []string{"category", "bucket", "signal_id"} {
		if _, there := r.Response.Body[key]; there {
			return fmt.Errorf("the answer has a %s", key)
		}
	}
	return nil
}

// bucketIs: the turn has a category and this bucket, and its answer has the same bucket.
func bucketIs(b core.Bucket) func(run) error {
	return func(r run) error {
		if r.Response != nil && r.Response.Body["bucket"] != b {
			return fmt.Errorf("the answer's bucket is %v", r.Response.Body["bucket"])
		}
		return require(r.Bucket == b && r.Category != "", "its bucket is %s, its category %q", r.Bucket, r.Category)
	}
}

// notRetried: the graph was invoked at most once, and the session loaded at most once.
func notRetried(r run) error {
	loads := r.Count(evidence.Load)
	return require(len(r.Invoked) <= 1 && r.Retries == 0 && loads <= 1,
		"the graph was invoked %d times, retried %d times, and the session loaded %d times",
		len(r.Invoked), r.Retries, loads)
}

// interventionRequired: the answer to a failed turn requires an intervention.
func interventionRequired(r run) error {
	return require(r.Response.Shape == harness.ErrorResponse && r.Response.Body["intervention_required"] == true,
		"the answer is %v", r.Response.Body)
}

// statelessPath: the harness is stateless, and the transmission took path 3.0.
func statelessPath(r run) error {
	return require(r.c.Mode == harness.Stateless && r.Path == harness.PathStateless,
		"the harness is %s, and it took path %q", r.c.Mode, r.Path)
}

// sessionNotResolved: a stateless harness invoked the graph without a session.
func sessionNotResolved(r run) error {
	in, once := r.invocation()
	return require(once && r.c.Mode == harness.Stateless && in.Session == "" && r.Result().Session == "",
		"the harness is %s, and it was invoked with session %q", r.c.Mode, in.Session)
}

// storeNotCalled: the session store was not called.
func storeNotCalled(r run) error {
	n := r.Count(evidence.SessionCalls...)
	return require(n == 0, "the store was called %d times", n)
}

// categories are the specification's categories that a turn can fail with.
var categories = []core.Category{
	core.SessionLoadFailed, core.SessionSaveFailed, core.SessionWriteConflict, core.MigrationChainAmbiguous,
	core.MigrationMissing,
	core.MigrationFailed, core.SuspensionPersistenceFailed, core.SuspensionRecordInvalid, core.SuspensionPayloadInvalid,
	core.SuspensionUnsupportedContext, core.HarnessSessionUnresolved, core.HarnessSubscriptionFailed,
	core.HarnessCorrelationFailed,
	core.HarnessPathAmbiguous, core.ChatMessageShapeInvalid, core.NodeException, core.EdgeException, core.ReducerError,
	core.RoutingError, core.StateValidationError, core.ProviderInvalidRequest, core.ProviderUnavailable,
	core.ProviderRateLimit,
}

// categoryNot: the failure has none of the listed categories, which must exist.
func categoryNot(r run) error {
	not := r.v.Texts()
	if len(not) == 0 {
		return errors.New("no category is listed")
	}
	for _, name := range not {
		if !slices.Contains(categories, core.Category(name)) {
			return fmt.Errorf("there is no category %q", name)
		}
	}
	return require(!slices.Contains(not, string(r.Category)), "its category is %s", r.Category)
}
