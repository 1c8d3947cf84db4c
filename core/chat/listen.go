package chat

import (
	"context"
	"slices"

	"gatehouse/core"
)

// listener is a subscription; its address is its identity.
type listener struct{ on func(core.Outcome) }

// Subscribe calls on with the outcome of every resumed turn of the session, once each (harness-chat §8.2), never with
// that of a Send. Outcomes from before the first subscription are delivered to it at once. on runs on the goroutine
// that resumes (or subscribes), outside all locks, so it may use the harness; a panic in it affects no one else. cancel
// may be called more than once.
func (h *Harness) Subscribe(session core.SessionID, on func(core.Outcome)) (cancel func()) {
	l := &listener{on}
	h.mu.Lock()
	h.listeners[session] = append(h.listeners[session], l)
	kept := h.untaken[session]
	delete(h.untaken, session)
	h.mu.Unlock()
	for _, out := range kept {
		h.notify(context.Background(), session, l, out)
	}
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.listeners[session] = slices.DeleteFunc(slices.Clone(h.listeners[session]), func(o *listener) bool {
			return o == l
		})
		if len(h.listeners[session]) == 0 {
			delete(h.listeners, session)
		}
	}
}

// deliver passes an outcome to the subscribers, or keeps it for the next one.
func (h *Harness) deliver(ctx context.Context, session core.SessionID, out core.Outcome) {
	if session == "" {
		return // a stateless turn has no listeners: its outcome is what Resume returns
	}
	h.mu.Lock()
	to := h.listeners[session]
	if len(to) == 0 {
		h.untaken[session] = append(h.untaken[session], out)
	}
	h.mu.Unlock()
	for _, l := range to {
		h.notify(ctx, session, l, out)
	}
}

func (h *Harness) notify(ctx context.Context, session core.SessionID, l *listener, out core.Outcome) {
	defer func() {
		if p := recover(); p != nil {
			h.opt.Log.ErrorContext(ctx, "listener panicked", "session", session, "err", p)
		}
	}()
	l.on(out)
}
