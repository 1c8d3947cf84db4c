package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/llm"
	"gatehouse/core/mask"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

// Answer is a model's answer, and why it stopped. Its role is always taken to be the assistant's.
type Answer struct {
	core.Message
	Finish llm.Finish      // "": the model does not say; the answer is taken to be complete
	Tokens int64           // that the call took; 0 = not known
	Memory json.RawMessage // what the model is given at the next call in this turn; nil: nothing
	Epoch  core.Epoch      // how the conversation was shown; Number 0: as before
	Silent bool            // there is nothing to say: the turn ends without a reply, and the message does not count
	Typed  bool            // it had calls that were written as a text, which are left out (llm.Response)

	by string // llm.Response.By
}

// What people read of an answer that is not whole.
const (
	cutMark     = "(cut off at the model's limit)"
	declineMark = "(the model declined to say more)"
	stopMark    = "(the model stopped early)"
)

// again is what a model is told whose answer has nothing in it that could be read or run. Anthropic documents that the
// same request would be answered the same way (platform.claude.com, handling stop reasons).
const again = "Your last answer could not be used: there was nothing in it that a person can read, " +
	"or a tool call that was written as text, which does not run. Please go on."

// done is what became of the calls of this turn that people or the policy decided, a sentence each.
var done = graph.Field("done", graph.Replace[[]string]())

// outcome is the sentence about a call that was decided.
func outcome(call core.Call, r core.ToolResult) string {
	summary := strings.TrimSuffix(call.Summary, ".") + "."
	f, failed := tool.FailureOf(r.Content)
	switch {
	case r.Category == "":
		return "Done: " + summary
	case failed && !refused(f):
		return f.Message
	}
	return strings.TrimSpace("This was not done: " + summary + " " + f.Message)
}

// next asks the model, and once more if nothing of its answer can be used, unless something was decided in this turn:
// then there may be nothing left to say. What the model is told for it is not stored.
func (l Loop) next(ctx context.Context, history core.History, memory json.RawMessage, decided bool) (Answer, error) {
	answer, err := l.Model.Next(ctx, history, memory)
	if err != nil || !answer.Typed && (decided || !answer.empty()) {
		return answer, err
	}
	first := answer
	answer, err = l.Model.Next(ctx, history.Append(core.Message{Role: core.User, Content: core.Text(again)}), memory)
	answer.Tokens, answer.Epoch = answer.Tokens+first.Tokens, first.Epoch
	return answer, err
}

// empty reports whether a complete answer has nothing that could be read or run.
func (a Answer) empty() bool { return !a.Silent && a.complete() && a.mute() && len(a.ToolCalls) == 0 }

func (a Answer) mute() bool { return strings.TrimSpace(a.Content.String()) == "" }

// complete reports whether the calls of the answer may run. Where the server gives a reason that nobody knows, or none,
// they may if each is whole.
func (a Answer) complete() bool {
	switch a.Finish {
	case "", llm.FinishStop, llm.FinishCalls:
		return true
	case llm.FinishLength, llm.FinishFilter:
		return false
	}
	return !slices.ContainsFunc(a.ToolCalls, func(c core.ToolCall) bool {
		object := strings.HasPrefix(strings.TrimSpace(string(c.Arguments)), "{") && json.Valid(c.Arguments)
		return c.ID == "" || c.Name == "" || !object
	})
}

// used is what of the answer is stored and shown. decided are the sentences about what was decided in this turn: an
// answer without a word after it is the turn's good end. Of an answer that is not complete no call is used, and its
// text only if it was cut off at a limit. Error: nothing is used, and why.
func (a Answer) used(decided []string) (Answer, error) {
	complete, mark := a.complete(), ""
	switch {
	case a.Silent || complete && !a.empty():
		return a, nil
	case complete:
	case a.Finish == llm.FinishLength:
		mark = cutMark
	case a.Finish == llm.FinishFilter:
		mark = declineMark
	default:
		mark = stopMark
	}
	text := strings.Join(decided, " ")
	switch {
	case a.Finish == llm.FinishLength && !a.mute():
		a.Content = marked(a.Content, mark)
	case text != "":
		a.Content = core.Text(strings.TrimSpace(text + "\n\n" + mark))
		a.Kept = nil
	default:
		return a, a.fault()
	}
	if len(a.ToolCalls) > 0 {
		a.ToolCalls, a.Kept = nil, nil // what is kept has the calls in it
	}
	return a, nil
}

// marked is content with a mark behind its last text.
func marked(c core.Content, mark string) core.Content {
	mark = "\n\n" + mark
	if !c.IsList() {
		return core.Text(strings.TrimRight(c.String(), " \n") + mark)
	}
	blocks := slices.Clone(c.Blocks())
	for i := len(blocks) - 1; i >= 0; i-- {
		if b := &blocks[i]; b.Type == core.TextBlock && strings.TrimSpace(b.Text) != "" {
			b.Text = strings.TrimRight(b.Text, " \n") + mark
			break
		}
	}
	return core.Blocks(blocks...)
}

// rows are the messages that the answer adds to the conversation. Error: provider_invalid_response, if it is malformed.
func (a Answer) rows() ([]core.Message, error) {
	if a.Silent {
		return nil, nil
	}
	if err := a.Validate(); err != nil {
		return nil, core.Wrap(core.ProviderInvalidResponse, err, "The model's answer is malformed.")
	}
	return []core.Message{a.Message}, nil
}

// stopReason is why an incomplete answer ended, in the words of the protocol policy. That admits max_tokens, but no
// other incomplete reason: those stay as they are, and fail the join check (protocol.stop_reason_unhandled).
func (a Answer) stopReason() string {
	if a.Finish == llm.FinishLength {
		return "max_tokens"
	}
	return cmp.Or(strings.TrimSpace(strings.ToValidUTF8(string(a.Finish), "\ufffd")), "unknown")
}

// fault is the error of a turn of whose answer nothing is used.
func (a Answer) fault() error {
	switch {
	case a.Finish == llm.FinishLength:
		const cut = "The model's answer was cut off at its length limit before it said anything."
		return core.Errorf(core.ProviderInvalidResponse, cut).Because(core.AnswerCutOff)
	case a.Finish == llm.FinishFilter:
		return core.Errorf(core.ProviderInvalidRequest, "The model declined to answer.").Because(core.AnswerDeclined)
	case a.empty():
		return core.Errorf(core.ProviderUnavailable,
			"The model gave an answer with nothing in it, twice.").Because(core.AnswerEmpty)
	}
	return core.Errorf(core.ProviderInvalidResponse, "The model stopped early (%s) in the middle of a call.",
		a.stopReason())
}

// discard records an answer whose calls don't run, not even one that only reads, and why: each is a request whose
// result is a typed error, discarded.
func (l Loop) discard(ctx context.Context, e *evidence, a Answer, why error) {
	if e == nil {
		return
	}
	turn, _ := core.TurnFrom(ctx)
	e.addRequests(a.Message, l.Executor.Tools, turn.Actor.ID)
	for _, call := range a.ToolCalls {
		r := tool.Failed(why)
		e.addResult(tool.Row(call.ID, r), r, typestate.Discarded, l.failureMessage(call, r))
	}
	if !a.complete() {
		e.Rows.ProtocolState = typestate.ProtocolState{StopReason: mask.Text(a.stopReason())}
	}
	l.reportEvidence(ctx, e.judged(e.Rows))
}
