package agent

import (
	"cmp"
	"context"
	"strings"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

// Answer is a model's answer, and why it stopped. Its role is always taken to be the assistant's.
type Answer struct {
	core.Message
	Finish llm.Finish // "": the model does not say; the answer is taken to be complete
	Tokens int64      // that the call took; 0 = not known
}

// complete reports whether the answer may be used. A reason that is unknown fails closed.
func (a Answer) complete() bool {
	return a.Finish == "" || a.Finish == llm.FinishStop || a.Finish == llm.FinishCalls
}

// stopReason is why an incomplete answer ended, in the words of the protocol policy. That admits max_tokens, but no other incomplete reason:
// those stay as they are, and fail the join check (protocol.stop_reason_unhandled).
func (a Answer) stopReason() string {
	if a.Finish == llm.FinishLength {
		return "max_tokens"
	}
	return cmp.Or(strings.TrimSpace(strings.ToValidUTF8(string(a.Finish), "\ufffd")), "unknown")
}

// fault is the error of a turn whose answer is incomplete. It is user-correctable: the same request would end the same way.
func (a Answer) fault() error {
	switch a.Finish {
	case llm.FinishLength:
		return core.Errorf(core.ProviderInvalidResponse, "The model's answer was cut off at its length limit, so it was not used and no tools were run.")
	case llm.FinishFilter:
		return core.Errorf(core.ProviderInvalidRequest, "The model declined to answer, so no tools were run.")
	}
	return core.Errorf(core.ProviderInvalidResponse, "The model stopped early (%s), so its answer was not used and no tools were run.", a.stopReason())
}

// discardAnswer ends a turn whose answer is incomplete. No call of the answer runs, not even a read-only one. In the evidence each is
// a request whose result is a typed error, discarded.
func (l Loop) discardAnswer(ctx context.Context, e *evidence, a Answer) error {
	fault := a.fault()
	if e != nil {
		turn, _ := core.TurnFrom(ctx)
		e.addRequests(a.Message, l.Executor.Tools, turn.Actor.ID, l.mask)
		for _, call := range a.ToolCalls {
			r := tool.Failed(fault)
			e.addResult(tool.Row(call.ID, r), r, typestate.Discarded, l.failureMessage(call, r))
		}
		e.Rows.ProtocolState = typestate.ProtocolState{StopReason: l.mask(a.stopReason())}
		l.reportEvidence(ctx, e.Rows)
	}
	return fault
}
