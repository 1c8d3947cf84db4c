package chat

import (
	"context"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// Send runs one turn (harness-chat §5): m is added to the session's history and the graph runs on it. It returns when
// the turn has completed, failed or suspended; it never waits for a signal. Turns of one session run one after the
// other; if ctx ends while this one waits, it is Errored and nothing was done. Errors: harness_session_id_unresolved
// without a session id, chat_message_shape_invalid for a malformed message, both before anything is read, and whatever
// the engine and the nodes report.
func (h *Harness) Send(ctx context.Context, session core.SessionID, m core.Message, opts ...CallOption) core.Outcome {
	return h.SendStreaming(ctx, session, m, nil, opts...)
}

// SendStreaming is Send, and on hears what the turn does and says on the way (harness-chat §9); nil: nobody does. The
// outcome is the same.
func (h *Harness) SendStreaming(
	ctx context.Context, session core.SessionID, m core.Message, on core.Deltas, opts ...CallOption,
) core.Outcome {
	if session == "" {
		return h.Errored(core.Errorf(core.HarnessSessionUnresolved, "This message belongs to no conversation."))
	}
	if err := m.Validate(); err != nil {
		return h.Errored(err)
	}
	c, err := h.call(opts)
	if err != nil {
		return h.Errored(err)
	}
	release, err := h.locks.Take(ctx, session)
	if err != nil {
		return h.Errored(err)
	}
	defer release()
	in := graph.Invocation{ID: c.invocation, Session: session, Initial: graph.Update{graph.Messages.Add(m)}}
	return h.outcome(ctx, h.graph.Load().Invoke(heardBy(ctx, on), c.stores, in))
}

// heardBy has on hear the turn of a context.
func heardBy(ctx context.Context, on core.Deltas) context.Context {
	if on == nil {
		return ctx
	}
	return core.WithDeltas(ctx, on)
}

// outcome maps an invocation's result (harness-chat §5.2, §7, §8.1).
func (h *Harness) outcome(ctx context.Context, res graph.Result) core.Outcome {
	if res.Status == graph.Errored {
		return h.Errored(res.Err)
	}
	tail, err := graph.Messages.Get(res.State).From(ctx, res.FirstNew)
	if err != nil {
		return h.Errored(err)
	}
	if tail == nil {
		tail = []core.Message{}
	}
	if res.Status == graph.Completed {
		return core.Completed{Replies: tail}
	}
	return core.Suspended{Descriptor: res.Descriptor, Pending: tail, Invocation: res.Invocation}
}
