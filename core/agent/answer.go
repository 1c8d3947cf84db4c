package agent

import (
	"context"
	"encoding/json"
	"strings"

	"gatehouse/core"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

// Answer is a model's answer, and why it stopped. Its role is always taken to be the assistant's.
type Answer struct {
	core.Message
	Stop   Stop
	Tokens int64           // that it took; 0 = not known
	Memory json.RawMessage // what the model is given at the next call in this turn; nil: nothing
}

// Stop is why a model stopped, in the words of llm-provider's finish_reason. A model that does not report one has the empty
// Stop; its answer is taken to be complete. An unknown reason fails closed.
type Stop string

// The reasons.
const (
	StopEnd     Stop = "stop"
	StopCalls   Stop = "tool_calls"
	StopLength  Stop = "length"         // cut off: the last call may lack half of its arguments, and still be JSON
	StopRefused Stop = "content_filter" // a filter's cut, or the model's own refusal
	StopError   Stop = "error"          // the provider could not parse the answer
	StopSilent  Stop = "silent"         // it has nothing to say: the turn ends without a reply; there are no calls
)

// complete reports whether the answer may be used.
func (s Stop) complete() bool { return s == "" || s == StopEnd || s == StopCalls || s == StopSilent }

// rows are the messages that the answer adds to the conversation. Error: provider_invalid_response, if it is malformed.
func (a Answer) rows() ([]core.Message, error) {
	if a.Stop == StopSilent {
		return nil, nil
	}
	if err := a.Validate(); err != nil {
		return nil, core.Wrap(core.ProviderInvalidResponse, err, "The model's answer is malformed.")
	}
	return []core.Message{a.Message}, nil
}

// evidence is the reason in the words of the protocol policy, which admits length but no other incomplete reason: those stay as they
// are, and fail the join check (protocol.stop_reason_unhandled).
func (s Stop) evidence() string {
	if s == StopLength {
		return "max_tokens"
	}
	if word := strings.TrimSpace(strings.ToValidUTF8(string(s), "\ufffd")); word != "" {
		return word
	}
	return "unknown"
}

// fault is the error of a turn whose answer is incomplete. It is user-correctable: the same request would end the same way.
func (s Stop) fault() error {
	switch s {
	case StopLength:
		return core.Errorf(core.ProviderInvalidResponse, "The model's answer was cut off at its length limit, so it was not used and no tools were run.")
	case StopRefused:
		return core.Errorf(core.ProviderInvalidRequest, "The model declined to answer, so no tools were run.")
	}
	return core.Errorf(core.ProviderInvalidResponse, "The model stopped early (%s), so its answer was not used and no tools were run.", s.evidence())
}

// discardAnswer ends a turn whose answer is incomplete. No call of the answer runs, not even a read-only one. In the evidence each is
// a request whose result is a typed error, discarded.
func (l Loop) discardAnswer(ctx context.Context, e *evidence, a Answer) error {
	fault := a.Stop.fault()
	if e != nil {
		turn, _ := core.TurnFrom(ctx)
		e.addRequests(a.Message, l.Executor.Tools, turn.Actor.ID, l.mask)
		for _, call := range a.ToolCalls {
			r := tool.Failed(fault)
			e.addResult(tool.Row(call.ID, r), r, typestate.Discarded, l.failureMessage(call, r))
		}
		e.Rows.ProtocolState = typestate.ProtocolState{StopReason: l.mask(a.Stop.evidence())}
		l.reportEvidence(ctx, e.Rows)
	}
	return fault
}
