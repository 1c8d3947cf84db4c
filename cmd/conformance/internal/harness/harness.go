// Package harness is the abstract harness of the specification (harness §2–§7), on which the fixtures of that suite
// run: any graph, with sessions or stateless, a transmission in and a response out. The product has only the chat
// harness (core/chat).
//
// Transmissions run one at a time, since a fixture's are in order, so nothing here locks.
package harness

import (
	"cmp"
	"context"
	"fmt"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// Mode is fixed when a harness is made (harness §2).
type Mode string

// Path is an inbound dispatch path, named by its section of harness.
type Path string

// Intent is the transport's purpose of a transmission; "" leaves it to the ids in the transmission.
type Intent string

// Shape is the kind of an answer (harness §5).
type Shape string

// The modes, paths, intents and shapes.
const (
	Sessioned Mode = "sessioned" // every turn is bound to a session
	Stateless Mode = "stateless" // no turn is; the session store is never called

	PathStateless Path = "3.0"
	PathNew       Path = "3.1"
	PathExisting  Path = "3.2"
	PathSignal    Path = "3.3"

	NewSession      Intent = "new_session"
	ExistingSession Intent = "existing_session"
	SignalResume    Intent = "signal_resume"

	CompletionResponse Shape = "completion_response"
	ErrorResponse      Shape = "error_response"
	SuspendedAck       Shape = "suspended_acknowledgment"
)

// Transmission is any inbound message (harness §3).
type Transmission struct {
	Intent  Intent
	Session core.SessionID
	Signal  chat.Signal
}

// Response is the answer to a transmission.
type Response struct {
	Path     Path
	Shape    Shape
	Status   graph.Status // how the turn ended; errored too where the graph was never invoked
	Category core.Category
	Bucket   core.Bucket
	Err      error
	Body     map[string]any // what the transport sends: the final state, the error, or what is awaited
}

// Harness runs transmissions over a graph.
type Harness struct {
	Graph     *graph.Graph
	Mode      Mode
	Stores    graph.Stores
	Observers []graph.Observer
	// Register informs the runtime that a signal is awaited (harness §6). If it fails, the pause is withdrawn and the
	// turn ends with harness_signal_subscription_failed.
	Register func(ctx context.Context, s core.Suspended) error
	// Invoked is called after every call of Graph.Invoke.
	Invoked func(graph.Invocation, graph.Result)
}

// Transmit classifies a transmission and runs its turn (harness §3–§5). The path depends only on the transmission: the
// mode, then the intent, then the ids. An intent that contradicts the ids, or ids of two paths without an intent, are
// harness_path_classification_ambiguous.
func (h *Harness) Transmit(ctx context.Context, t Transmission) Response {
	path, err := h.classify(t)
	if err != nil {
		return refuse(path, err)
	}
	signal := t.Signal.Invocation != "" || t.Signal.SignalID != "" || t.Intent == SignalResume
	if path == PathSignal || path == PathStateless && signal {
		return h.resume(ctx, t.Signal, path)
	}
	in := graph.Invocation{}
	if path != PathStateless {
		if in.Session = t.Session; in.Session == "" {
			in.Session = core.SessionID(graph.NewID())
		}
	}
	return h.invoke(ctx, in, path)
}

func (h *Harness) classify(t Transmission) (Path, error) {
	signal := t.Signal.Invocation != "" || t.Signal.SignalID != ""
	ambiguous := core.Errorf(core.HarnessPathAmbiguous, "This could be a message and it could be a signal.")
	switch {
	case h.Mode == Stateless:
		return PathStateless, nil
	case t.Intent == SignalResume:
		return PathSignal, nil
	case signal && (t.Intent != "" || t.Session != ""):
		return "", ambiguous
	case signal:
		return PathSignal, nil
	case t.Intent == NewSession, t.Intent == "" && t.Session == "":
		return PathNew, nil
	case t.Session == "":
		return PathExisting, core.Errorf(core.HarnessSessionUnresolved, "This continues a conversation but does not "+
			"name it.")
	case t.Intent == "", t.Intent == ExistingSession:
		return PathExisting, nil
	}
	return "", core.Errorf(core.HarnessPathAmbiguous, "Unknown intent %q.", t.Intent)
}

// resume maps a signal to the invocation that waits for it (harness §6) and resumes it. A named invocation is not
// checked here; the engine decides whether it waits.
func (h *Harness) resume(ctx context.Context, s chat.Signal, path Path) Response {
	if s.SignalID != "" {
		var rec *core.PausedRecord
		var err error
		if s.Invocation != "" {
			rec, err = h.Stores.Pauses.Paused(ctx, s.Invocation)
		} else {
			rec, err = h.Stores.Pauses.BySignal(ctx, s.SignalID)
		}
		switch {
		case err != nil:
			return refuse(path, err)
		case rec != nil && rec.Descriptor.SignalID != s.SignalID:
			return refuse(path, core.Errorf(core.SuspensionRecordInvalid, "This turn waits for another signal."))
		case rec != nil:
			s.Invocation = rec.Invocation
		}
	}
	if s.Invocation == "" {
		return refuse(path, core.Errorf(core.HarnessCorrelationFailed, "Nothing waits for this signal (any more)."))
	}
	return h.invoke(ctx, graph.Invocation{Resume: s.Invocation, Payload: s.Payload}, path)
}

// invoke runs the graph and maps the invocation's end to a response.
func (h *Harness) invoke(ctx context.Context, in graph.Invocation, path Path) Response {
	in.Observers = h.Observers
	res := h.Graph.Invoke(ctx, h.Stores, in)
	if h.Invoked != nil {
		h.Invoked(in, res)
	}
	r := Response{Path: path, Status: res.Status}
	switch res.Status {
	case graph.Completed:
		state, err := res.State.Encode()
		if err != nil {
			return refuse(path, err)
		}
		r.Shape, r.Body = CompletionResponse, fixture.PlainFields(state)
		return r
	case graph.Suspended:
		if err := h.register(ctx, core.Suspended{Descriptor: res.Descriptor, Invocation: res.Invocation}); err != nil {
			return refuse(path, err)
		}
		r.Shape = SuspendedAck
		r.Body = map[string]any{
			"invocation_id": res.Invocation, "signal_id": res.Descriptor.SignalID, "metadata": res.Descriptor.Metadata,
		}
		return r
	}
	return refuse(path, res.Err)
}

// register registers the awaited signal. If that fails, the paused record is withdrawn: nothing may wait for a signal
// that can't arrive (harness §6).
func (h *Harness) register(ctx context.Context, s core.Suspended) error {
	if h.Register == nil {
		return nil
	}
	err := h.Register(ctx, s)
	if err == nil {
		return nil
	}
	if _, undo := h.Stores.Pauses.Consume(ctx, s.Invocation); undo != nil {
		return core.Wrap(core.HarnessSubscriptionFailed, undo,
			"What this turn waits for could be neither registered nor withdrawn.")
	}
	return core.Wrap(core.HarnessSubscriptionFailed, err, "What this turn waits for could not be registered.")
}

// refuse returns the response to an error (harness §7): what it is, and what can be done about it.
func refuse(path Path, err error) Response {
	c := core.CategoryOf(err)
	r := Response{
		Path: path, Shape: ErrorResponse, Status: graph.Errored, Category: c, Bucket: core.BucketOf(c), Err: err,
	}
	r.Body = map[string]any{"category": c, "bucket": r.Bucket}
	switch r.Bucket {
	case core.SessionTerminating:
		r.Body["intervention_required"] = true
	case core.RetryableTransient:
		r.Body["retry_safe"] = true
	case core.UserCorrectable:
		r.Body["user_action_required"] = true
		r.Body["diagnostic_message"] = cmp.Or(core.MessageOf(err), fmt.Sprintf("it was refused (%s)", c))
	}
	return r
}
