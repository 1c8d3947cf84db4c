package chat

import (
	"context"
	"encoding/json"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// Path is an inbound dispatch path, named by its section of harness.
type Path string

// The paths.
const (
	PathStateless Path = "3.0"
	PathNew       Path = "3.1"
	PathExisting  Path = "3.2"
	PathSignal    Path = "3.3"
)

// Intent is what the transport says that a transmission is for; "" leaves it to the ids that the transmission carries.
type Intent string

// The intents.
const (
	NewSession      Intent = "new_session"
	ExistingSession Intent = "existing_session"
	SignalResume    Intent = "signal_resume"
)

// Transmission is anything that comes in, as the abstract harness sees it (harness §3).
type Transmission struct {
	Intent  Intent
	Session core.SessionID
	Signal  Signal
	Initial graph.Update
}

// Shape is what kind of answer goes out (harness §5).
type Shape string

// The shapes.
const (
	CompletionResponse Shape = "completion_response"
	ErrorResponse      Shape = "error_response"
	SuspendedAck       Shape = "suspended_acknowledgment"
)

// Response is the answer to a transmission.
type Response struct {
	Path     Path
	Shape    Shape
	Status   graph.Status // how the turn ended; errored too where the graph was never invoked
	Result   graph.Result // of the invocation; zero where there was none
	Category core.Category
	Bucket   core.Bucket
	Err      error
	Body     map[string]any // what the transport sends: the final state, the error, or what is awaited
}

// Transmit classifies a transmission and runs its turn (harness §3–§5). The path follows from the transmission alone: the mode,
// then the intent, then the ids. An intent and ids that contradict each other, or ids of two paths without an intent, are
// harness_path_classification_ambiguous. The answer goes to the caller alone: listeners are for Resume.
func (h *Harness) Transmit(ctx context.Context, t Transmission) Response {
	path, err := h.classify(t)
	if err != nil {
		return h.refuse(path, err)
	}
	signal := t.Signal.Invocation != "" || t.Signal.SignalID != "" || t.Intent == SignalResume
	if path == PathSignal || path == PathStateless && signal {
		return h.transmitSignal(ctx, t.Signal, path)
	}
	in := graph.Invocation{Initial: t.Initial}
	if path != PathStateless {
		if in.Session = t.Session; in.Session == "" {
			in.Session = core.SessionID(h.newID())
		}
		release, err := h.locks.take(ctx, in.Session)
		if err != nil {
			return h.refuse(path, err)
		}
		defer release()
	}
	return h.respond(ctx, path, h.invoke(ctx, in, always(path)))
}

func (h *Harness) classify(t Transmission) (Path, error) {
	signal := t.Signal.Invocation != "" || t.Signal.SignalID != ""
	ambiguous := core.Errorf(core.HarnessPathAmbiguous, "This could be a message or a signal.")
	switch {
	case h.mode == Stateless:
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
		return PathExisting, core.Errorf(core.HarnessSessionUnresolved, "This continues a conversation but does not say which one.")
	case t.Intent == "", t.Intent == ExistingSession:
		return PathExisting, nil
	}
	return "", core.Errorf(core.HarnessPathAmbiguous, "Unknown intent %q.", t.Intent)
}

func (h *Harness) transmitSignal(ctx context.Context, s Signal, path Path) Response {
	rec, err := h.correlate(ctx, s)
	if err != nil {
		return h.refuse(path, err)
	}
	release, err := h.lockFor(ctx, rec)
	if err != nil {
		return h.refuse(path, err)
	}
	defer release()
	res, err := h.resume(ctx, s, rec, path)
	if err != nil {
		return h.refuse(path, err)
	}
	return h.respond(ctx, path, res)
}

// respond maps an invocation's end to what goes out.
func (h *Harness) respond(ctx context.Context, path Path, res graph.Result) Response {
	r := Response{Path: path, Status: res.Status, Result: res}
	switch res.Status {
	case graph.Completed:
		state, err := res.State.Encode()
		if err != nil {
			return h.refuse(path, err)
		}
		r.Shape, r.Body = CompletionResponse, body(state)
		return r
	case graph.Suspended:
		if err := h.subscribe(ctx, core.Suspended{Descriptor: res.Descriptor, Invocation: res.Invocation}); err != nil {
			refused := h.refuse(path, err)
			refused.Result = res
			return refused
		}
		r.Shape = SuspendedAck
		r.Body = map[string]any{
			"invocation_id": res.Invocation, "signal_id": res.Descriptor.SignalID, "metadata": res.Descriptor.Metadata,
		}
		return r
	}
	refused := h.refuse(path, res.Err)
	refused.Result = res
	return refused
}

// refuse is the answer to an error (harness §7): what it is, and what can be done about it.
func (h *Harness) refuse(path Path, err error) Response {
	c := core.CategoryOf(err)
	r := Response{Path: path, Shape: ErrorResponse, Status: graph.Errored, Category: c, Bucket: core.BucketOf(c), Err: err}
	r.Body = map[string]any{"category": c, "bucket": r.Bucket}
	switch r.Bucket {
	case core.SessionTerminating:
		r.Body["intervention_required"] = true
	case core.RetryableTransient:
		r.Body["retry_safe"] = true
	case core.UserCorrectable:
		r.Body["user_action_required"] = true
		r.Body["diagnostic_message"] = diagnostic(err)
	}
	return r
}

func body(state map[string]json.RawMessage) map[string]any {
	out := make(map[string]any, len(state))
	for k, v := range state {
		out[k] = v
	}
	return out
}
