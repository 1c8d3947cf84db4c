package chat

import (
	"context"
	"encoding/json"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// Signal resumes a paused invocation. It names the invocation, the awaited signal, or both; Payload replaces fields of
// the paused state.
type Signal struct {
	SignalID   core.SignalID
	Invocation core.InvocationID
	Payload    map[string]json.RawMessage
}

// Resume continues a paused turn (harness §3.3, harness-chat §8.2), under the session's lock, and passes its outcome to
// the session's listeners and to the caller. A signal whose invocation waits for another one is
// suspension_record_invalid; one that nothing waits for is harness_signal_correlation_failed or, if it names an
// invocation, suspension_record_invalid; a payload that does not fit is suspension_resume_payload_invalid. None of
// these consumes the pause or reaches a listener.
func (h *Harness) Resume(ctx context.Context, s Signal, opts ...CallOption) core.Outcome {
	return h.ResumeStreaming(ctx, s, nil, opts...)
}

// ResumeStreaming is Resume, and on hears what the turn does and says on the way; nil: nobody does. The outcome is the
// same.
func (h *Harness) ResumeStreaming(ctx context.Context, s Signal, on core.Deltas, opts ...CallOption) core.Outcome {
	c, err := h.call(opts)
	if err != nil {
		return h.Errored(err)
	}
	rec, err := correlate(ctx, c.stores.Pauses, s)
	if err != nil {
		return h.Errored(err)
	}
	release := func() {}
	if rec.Session != "" {
		if release, err = h.locks.Take(ctx, rec.Session); err != nil {
			return h.Errored(err)
		}
	}
	res, err := h.resume(heardBy(ctx, on), c.stores, s, rec)
	var out core.Outcome
	if err != nil {
		out = h.Errored(err)
	} else {
		out = h.outcome(ctx, res)
	}
	release()
	if res.Entry.Resumed {
		h.deliver(ctx, rec.Session, out)
	}
	return out
}

// correlate maps a signal to the invocation that it resumes (harness §6). If the signal names an invocation, the engine
// checks whether that one is paused.
func correlate(ctx context.Context, pauses core.PauseStore, s Signal) (*core.PausedRecord, error) {
	if s.Invocation != "" {
		rec, err := pauses.Paused(ctx, s.Invocation)
		if rec == nil && err == nil {
			rec = &core.PausedRecord{Invocation: s.Invocation}
		}
		return rec, err
	}
	if s.SignalID != "" {
		rec, err := pauses.BySignal(ctx, s.SignalID)
		if rec != nil || err != nil {
			return rec, err
		}
	}
	return nil, core.Errorf(core.HarnessCorrelationFailed, "No paused turn waits for this signal.")
}

// resume invokes the graph, under the lock. The awaited signal is read again: the invocation may have continued while
// this call waited.
func (h *Harness) resume(
	ctx context.Context, stores graph.Stores, s Signal, rec *core.PausedRecord,
) (graph.Result, error) {
	if s.SignalID != "" {
		now, err := stores.Pauses.Paused(ctx, rec.Invocation)
		if err != nil {
			return graph.Result{}, err
		}
		if now != nil && now.Descriptor.SignalID != s.SignalID {
			return graph.Result{}, core.Errorf(core.SuspensionRecordInvalid, "This turn waits for another signal.")
		}
	}
	return h.graph.Load().Invoke(ctx, stores, graph.Invocation{Resume: rec.Invocation, Payload: s.Payload}), nil
}
