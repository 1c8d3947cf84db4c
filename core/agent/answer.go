package agent

import (
	"context"
	"strings"

	"gatehouse/core"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

// Answer is what a model said, and why it stopped. Its role is the assistant's, whatever it says.
type Answer struct {
	core.Message
	Stop Stop
}

// Stop is why a model stopped, in the words of llm-provider's finish_reason. The empty Stop is that of a model which does not say;
// what it said is taken to be whole. A word that is not among these is a reason that nobody here has thought of: fail closed.
type Stop string

// The reasons.
const (
	StopEnd     Stop = "stop"
	StopCalls   Stop = "tool_calls"
	StopLength  Stop = "length"         // cut off: the last call may lack half of its arguments, and still be JSON
	StopRefused Stop = "content_filter" // a filter's cut, or the model's own refusal
	StopError   Stop = "error"          // the provider could not make sense of what came
)

// complete reports whether what was said may be acted upon.
func (s Stop) complete() bool { return s == "" || s == StopEnd || s == StopCalls }

// evidence is the reason in the words of the protocol policy. length alone of those that are not whole is admitted there; others
// stand as they are, and fail the join check (protocol.stop_reason_unhandled).
func (s Stop) evidence() string {
	if s == StopLength {
		return "max_tokens"
	}
	if word := strings.TrimSpace(strings.ToValidUTF8(string(s), "\ufffd")); word != "" {
		return word
	}
	return "unknown"
}

// fault is the turn's end where the answer is not whole. Each is one that the person can do something about: the same again would
// end the same way.
func (s Stop) fault() error {
	switch s {
	case StopLength:
		return core.Errorf(core.ProviderInvalidResponse, "The model's answer was cut off at its length limit, so it was not used, and nothing that it asked for was done.")
	case StopRefused:
		return core.Errorf(core.ProviderInvalidRequest, "The model declined to answer, so nothing was done.")
	}
	return core.Errorf(core.ProviderInvalidResponse, "The model stopped in the middle (%s), so its answer was not used, and nothing that it asked for was done.", s.evidence())
}

// discardAnswer ends a turn whose model did not come to an end. No call of such an answer is run, a read-only one no more than another. In
// the evidence each is a request with a typed error result that was discarded: no model is asked with it again.
func (l Loop) discardAnswer(ctx context.Context, e *evidence, a Answer) error {
	fault := a.Stop.fault()
	if e != nil {
		turn, _ := core.TurnFrom(ctx)
		e.addRequests(a.Message, l.Executor.Tools, turn.Actor.ID, l.mask)
		for _, call := range a.ToolCalls {
			r := tool.Failed(fault)
			e.addResult(tool.Row(call.ID, r), r, typestate.Discarded, l.failureMessage(call.Arguments, r))
		}
		e.Rows.ProtocolState = typestate.ProtocolState{StopReason: l.mask(a.Stop.evidence())}
		l.reportEvidence(ctx, e.Rows)
	}
	return fault
}
