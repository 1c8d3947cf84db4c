package agent_test

import (
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/typestate"
)

// cutOff is an answer that asks for a change and for a read.
func cutOff() core.Message {
	return core.Message{Content: core.Text("Let me "), ToolCalls: []core.ToolCall{use("1", "note.add", `{"text":"rm -rf"}`), use("2", "demo.calc", `{"expression":"1"}`)}}
}

// An answer that is not whole is not acted upon: no call of it runs or is asked for, whoever stopped the model, and the turn ends
// with a sentence that the person can act on.
func TestLaw5_AnIncompleteAnswerRunsNothing(t *testing.T) {
	for stop, want := range map[llm.Finish]struct {
		category core.Category
		says     string
		reason   string
		classes  string
	}{
		// max_tokens is admitted by the protocol policy, and every call has a typed error row: the turn is closed (§5, §11).
		llm.FinishLength: {core.ProviderInvalidResponse, "cut off at its length limit", "max_tokens", ""},
		// The others are left unmapped, so that they fail closed (§11).
		llm.FinishFilter:  {core.ProviderInvalidRequest, "declined to answer", "content_filter", "protocol.stop_reason_unhandled"},
		llm.FinishUnknown: {core.ProviderInvalidResponse, "stopped early (error)", "error", "protocol.stop_reason_unhandled"},
		"brand_new":       {core.ProviderInvalidResponse, "stopped early (brand_new)", "brand_new", "protocol.stop_reason_unhandled"},
		" ":               {core.ProviderInvalidResponse, "stopped early (unknown)", "unknown", "protocol.stop_reason_unhandled"},
	} {
		r := newRoom(t, &script{lines: []core.Message{cutOff()}, stops: []llm.Finish{stop}}, ask)
		e, ok := r.say("go").(core.Errored)
		if !ok || e.Bucket != core.UserCorrectable || e.Category != want.category || !strings.Contains(e.Reply.Content.String(), want.says) {
			t.Errorf("%q: outcome %+v", stop, e)
		}
		if len(r.book.notes)+len(r.approvals)+len(r.intents) != 0 {
			t.Errorf("%q: it was acted upon: %v", stop, r.book.notes)
		}
		in, report := r.lastEvidence()
		if got := classes(report); got != want.classes || in.Evidence.ProtocolState != (typestate.ProtocolState{StopReason: want.reason}) {
			t.Errorf("%q: %q, %+v", stop, got, in.Evidence.ProtocolState)
		}
		for i, result := range in.Evidence.ToolResults {
			if result.Status != "error" || result.ErrorCode != string(want.category) || in.Evidence.ToolUse[i].Disposition != typestate.Discarded {
				t.Errorf("%q: %+v, %+v", stop, result, in.Evidence.ToolUse[i])
			}
		}
		if len(in.Evidence.ToolRequests) != 2 || len(in.Evidence.ToolResults) != 2 {
			t.Errorf("%q: %d calls, %d results", stop, len(in.Evidence.ToolRequests), len(in.Evidence.ToolResults))
		}
	}
}

// A cut text without calls is not used either, and the person does not get the error of an empty answer.
func TestACutTextIsNotSent(t *testing.T) {
	for _, m := range []core.Message{{Content: core.Text("The capital of Fra")}, {}} {
		r := newRoom(t, &script{lines: []core.Message{m}, stops: []llm.Finish{llm.FinishFilter}}, ask)
		if e, ok := r.say("go").(core.Errored); !ok || e.Category != core.ProviderInvalidRequest {
			t.Errorf("%+v", e)
		}
	}
}

// What was done before stays done, and on record; what was cut afterwards does not run.
func TestACutAnswerAfterAnApprovedCall(t *testing.T) {
	r := newRoom(t, &script{
		lines: []core.Message{{ToolCalls: []core.ToolCall{use("0", "note.add", `{"text":"milk"}`)}}, cutOff()},
		stops: []llm.Finish{llm.FinishCalls, llm.FinishLength},
	}, ask)
	if e, ok := r.decide(r.say("go"), core.Approved, "").(core.Errored); !ok || e.Bucket != core.UserCorrectable {
		t.Errorf("%+v", e)
	}
	in, report := r.lastEvidence()
	var ends []string
	for i, result := range in.Evidence.ToolResults {
		ends = append(ends, result.Status+" "+in.Evidence.ToolUse[i].Disposition)
	}
	if want := []string{"ok consumed", "error discarded", "error discarded"}; !slices.Equal(ends, want) || !report.JoinClosed || !slices.Equal(r.book.notes, []string{"milk"}) {
		t.Errorf("%v, %v, notes %v", ends, report.FailureClasses, r.book.notes)
	}
}

func TestACompleteAnswerIsUsed(t *testing.T) {
	for _, stop := range []llm.Finish{"", llm.FinishStop, llm.FinishCalls} { // some report stop and request calls nevertheless
		call := core.Message{ToolCalls: []core.ToolCall{use("1", "demo.calc", `{"expression":"1+1"}`)}}
		r := newRoom(t, &script{lines: []core.Message{call}, stops: []llm.Finish{stop, llm.FinishStop}}, ask)
		if got := texts(r.say("go")); got != "end" {
			t.Errorf("%q: %q", stop, got)
		}
		if in, report := r.lastEvidence(); !report.JoinClosed || in.Evidence.ToolResults[0].Status != "ok" || in.Evidence.ProtocolState.StopReason != "end_turn" {
			t.Errorf("%q: %v, %+v", stop, report.FailureClasses, in.Evidence)
		}
	}
}
