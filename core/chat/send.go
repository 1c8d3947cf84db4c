package chat

import (
	"context"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// SendOption changes one Send.
type SendOption func(*graph.Invocation)

// WithInvocation fixes the invocation's id; without it the engine makes one.
func WithInvocation(id core.InvocationID) SendOption {
	return func(in *graph.Invocation) { in.ID = id }
}

// Send runs one turn (harness-chat §5): m is added to the session's history and the graph runs on it. It returns when the turn has
// completed, failed or suspended; it never waits for a signal. Turns of one session follow each other; where ctx ends before this
// one's turn has come, it is Errored and nothing was done. Errors: harness_session_id_unresolved without a session id,
// chat_message_shape_invalid for a malformed message, both before anything is read, and whatever the engine and the nodes report.
func (h *Harness) Send(ctx context.Context, session core.SessionID, m core.Message, opts ...SendOption) core.Outcome {
	if err := h.admit(session, m); err != nil {
		return h.errored(err)
	}
	release, err := h.locks.take(ctx, session)
	if err != nil {
		return h.errored(err)
	}
	defer release()
	in := graph.Invocation{Session: session, Initial: graph.Update{graph.Messages.Add(m)}}
	for _, o := range opts {
		o(&in)
	}
	res := h.invoke(ctx, in, func(res graph.Result) Path {
		switch {
		case res.Entry.State.IsZero():
			return ""
		case res.Entry.Messages == 0:
			return PathNew
		}
		return PathExisting
	})
	return h.outcome(ctx, res)
}

func (h *Harness) admit(session core.SessionID, m core.Message) error {
	if session == "" || h.mode == Stateless {
		return core.Errorf(core.HarnessSessionUnresolved, "This message belongs to no conversation.")
	}
	if !h.graph.KeepsMessages() {
		return core.Errorf(core.Invalid, "The graph %q keeps no messages, so it can't be used for a chat.", h.graph.Name())
	}
	return m.Validate()
}

// outcome maps an invocation's end (harness-chat §5.2, §7, §8.1).
func (h *Harness) outcome(ctx context.Context, res graph.Result) core.Outcome {
	if res.Status == graph.Errored {
		return h.errored(res.Err)
	}
	tail, err := graph.Messages.Get(res.State).From(ctx, res.Mark)
	if err != nil {
		return h.errored(err)
	}
	if tail == nil {
		tail = []core.Message{}
	}
	if res.Status == graph.Completed {
		return core.Completed{Replies: tail}
	}
	s := core.Suspended{Descriptor: res.Descriptor, Pending: tail, Invocation: res.Invocation}
	if err := h.subscribe(ctx, s); err != nil {
		return h.errored(err)
	}
	return s
}

// subscribe registers what is awaited. Where that fails, the paused record is withdrawn: nothing may wait for a signal that can't
// come (harness §6).
func (h *Harness) subscribe(ctx context.Context, s core.Suspended) error {
	if h.register == nil {
		return nil
	}
	err := h.register(ctx, s)
	if err == nil {
		return nil
	}
	if _, undo := h.stores.Pauses.Consume(context.WithoutCancel(ctx), s.Invocation); undo != nil {
		h.log.ErrorContext(ctx, "withdrawing a pause that no signal can reach failed", "invocation", s.Invocation, "err", undo)
	}
	return core.Wrap(core.HarnessSubscriptionFailed, err, "Can't register the signal that this turn waits for.")
}
