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
	return core.Message{
		Content: core.Text("Let me "),
		ToolCalls: []core.ToolCall{
			use("1", "note.add", `{"text":"rm -rf"}`), use("2", "demo.calc", `{"expression":"1"}`),
		},
	}
}

// broken is an answer whose last call is not whole.
func broken() core.Message {
	return core.Message{ToolCalls: []core.ToolCall{
		use("1", "note.add", `{"text":"rm -rf"}`), use("2", "demo.calc", `null`),
	}}
}

// An answer that is not whole is not acted upon: no call of it runs or is asked for, whoever stopped the model, and the
// turn ends with a sentence that the person can act on.
func TestLaw5_AnIncompleteAnswerRunsNothing(t *testing.T) {
	mute := cutOff()
	mute.Content = core.Content{}
	for stop, want := range map[llm.Finish]struct {
		answer   core.Message
		category core.Category
		says     string
		reason   string
		classes  string
	}{
		// max_tokens is admitted by the protocol policy, and every call has a typed error row: the turn is closed (§5,
		// §11).
		llm.FinishLength: {mute, core.ProviderInvalidResponse, "cut off at its length limit", "max_tokens", ""},
		// The others are left unmapped, so that they fail closed (§11).
		llm.FinishFilter: {
			cutOff(), core.ProviderInvalidRequest, "declined to answer", "content_filter",
			"protocol.stop_reason_unhandled",
		},
		llm.FinishUnknown: {
			broken(), core.ProviderInvalidResponse, "stopped early (error)", "error", "protocol.stop_reason_unhandled",
		},
		"brand_new": {
			broken(), core.ProviderInvalidResponse, "stopped early (brand_new)", "brand_new",
			"protocol.stop_reason_unhandled",
		},
		" ": {
			broken(), core.ProviderInvalidResponse, "stopped early (unknown)", "unknown",
			"protocol.stop_reason_unhandled",
		},
	} {
		r := newRoom(t, &script{lines: []core.Message{want.answer}, stops: []llm.Finish{stop}}, ask)
		e, ok := r.say("go").(core.Errored)
		if !ok || e.Bucket != core.UserCorrectable || e.Category != want.category ||
			!strings.Contains(e.Reply.Content.String(), want.says) {
			t.Errorf("%q: outcome %+v", stop, e)
		}
		r.ranNothing(string(stop), string(want.category), want.reason, want.classes)
	}
}

// ranNothing requires that two calls of an incomplete answer were discarded, as the evidence has it.
func (r *room) ranNothing(name, category, reason, want string) {
	r.t.Helper()
	if len(r.book.notes)+len(r.approvals)+len(r.intents) != 0 {
		r.t.Errorf("%q: it was acted upon: %v", name, r.book.notes)
	}
	in, report := r.lastEvidence()
	if got := classes(report); got != want ||
		in.Evidence.ProtocolState != (typestate.ProtocolState{StopReason: reason}) {
		r.t.Errorf("%q: %q, %+v", name, got, in.Evidence.ProtocolState)
	}
	for i, result := range in.Evidence.ToolResults {
		if result.Status != "error" || result.ErrorCode != category ||
			in.Evidence.ToolUse[i].Disposition != typestate.Discarded {
			r.t.Errorf("%q: %+v, %+v", name, result, in.Evidence.ToolUse[i])
		}
	}
	if len(in.Evidence.ToolRequests) != 2 || len(in.Evidence.ToolResults) != 2 {
		r.t.Errorf("%q: %d calls, %d results", name, len(in.Evidence.ToolRequests), len(in.Evidence.ToolResults))
	}
}

// The text of an answer that was cut at its limit is shown and stored, with the mark; its calls don't run, and the
// conversation goes on.
func TestACutAnswerIsShown(t *testing.T) {
	thinking := core.Blocks(core.Block{Type: core.ThinkingBlock, Text: "hm", Signature: "s"},
		core.Block{Type: core.TextBlock, Text: "Paris is\n"})
	for want, answer := range map[string]core.Message{
		"Let me\n\n(cut off at the model's limit)": cutOff(),
		"Paris is\n\n(cut off at the model's limit)": {
			Content: thinking, ToolCalls: cutOff().ToolCalls, Kept: &core.Kept{},
		},
	} {
		m := &script{
			lines: []core.Message{answer, {Content: core.Text("in France.")}},
			stops: []llm.Finish{llm.FinishLength, llm.FinishStop},
		}
		r := newRoom(t, m, ask)
		if got := texts(r.say("go")); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		r.ranNothing(want, "provider_invalid_response", "max_tokens", "")
		if got := texts(r.say("go on")); got != "in France." {
			t.Errorf("%q", got)
		}
	}
}

// A filter's cut is not shown, and the person does not get the error of an empty answer.
func TestAFilteredTextIsNotSent(t *testing.T) {
	for _, m := range []core.Message{{Content: core.Text("The capital of Fra")}, {}} {
		r := newRoom(t, &script{lines: []core.Message{m}, stops: []llm.Finish{llm.FinishFilter}}, ask)
		if e, ok := r.say("go").(core.Errored); !ok || e.Category != core.ProviderInvalidRequest {
			t.Errorf("%+v", e)
		}
	}
}

// What was done before stays done, and on record; what was cut afterwards does not run. Nobody is asked to repeat it.
func TestACutAnswerAfterAnApprovedCall(t *testing.T) {
	r := newRoom(t, &script{
		lines: []core.Message{{ToolCalls: []core.ToolCall{use("0", "note.add", `{"text":"milk"}`)}}, cutOff()},
		stops: []llm.Finish{llm.FinishCalls, llm.FinishLength},
	}, ask)
	if got := texts(r.decide(r.say("go"), core.Approved, "")); got != "Let me\n\n(cut off at the model's limit)" {
		t.Errorf("%q", got)
	}
	in, report := r.lastEvidence()
	var ends []string
	for i, result := range in.Evidence.ToolResults {
		ends = append(ends, result.Status+" "+in.Evidence.ToolUse[i].Disposition)
	}
	if want := []string{"ok consumed", "error discarded", "error discarded"}; !slices.Equal(ends, want) ||
		!report.JoinClosed || !slices.Equal(r.book.notes, []string{"milk"}) {
		t.Errorf("%v, %v, notes %v", ends, report.FailureClasses, r.book.notes)
	}
}

// After a decided change an answer without a word is the turn's good end: the person reads what became of the change,
// and the model is not asked again.
func TestAnEmptyAnswerAfterADecidedCall(t *testing.T) {
	const did = "Done: Add “milk” to the note book."
	for name, c := range map[string]struct {
		answer core.Message
		stop   llm.Finish
		state  core.ApprovalState
		want   string
	}{
		"nothing":   {core.Message{}, llm.FinishStop, core.Approved, did},
		"no reason": {core.Message{Content: core.Text(" \n")}, llm.FinishUnknown, core.Approved, did},
		"thinking alone": {
			core.Message{Content: core.Blocks(core.Block{Type: core.ThinkingBlock, Text: "ok"})},
			"", core.Approved, did,
		},
		"cut before a word": {
			core.Message{}, llm.FinishLength, core.Approved, did + "\n\n(cut off at the model's limit)",
		},
		"declined": {
			core.Message{}, llm.FinishFilter, core.Approved, did + "\n\n(the model declined to say more)",
		},
		"in the middle": {broken(), "eos", core.Approved, did + "\n\n(the model stopped early)"},
		"nothing, and denied": {
			core.Message{}, llm.FinishStop, core.Denied,
			"This was not done: Add “milk” to the note book. Denied by Bob: no",
		},
	} {
		m := &script{
			lines: []core.Message{
				{ToolCalls: []core.ToolCall{use("0", "note.add", `{"text":"milk"}`)}}, c.answer,
				{Content: core.Text("fine")},
			},
			stops: []llm.Finish{llm.FinishCalls, c.stop, llm.FinishStop},
		}
		r := newRoom(t, m, ask)
		if got := texts(r.decide(r.say("note milk"), c.state, "no")); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if got := texts(r.say("thanks")); got != "fine" {
			t.Errorf("%s: the next message is answered %q", name, got)
		}
	}
}

// An answer in which nothing can be used is asked for once more, in a request that differs; what the model is told for
// it is not stored.
func TestAnEmptyAnswerIsAskedForOnceMore(t *testing.T) {
	typed := core.Message{Content: core.Text("Let me see.")}
	for name, c := range map[string]struct {
		answers []core.Message
		typed   int // how many of them had calls that were written as text
		want    string
	}{
		"then a text":       {[]core.Message{{}, {Content: core.Text("yes")}}, 0, "yes"},
		"twice":             {[]core.Message{{}, {}}, 0, "error provider_unavailable: "},
		"a typed call":      {[]core.Message{typed, {Content: core.Text("yes")}}, 1, "yes"},
		"a typed call, too": {[]core.Message{typed, typed}, 2, "Let me see."},
	} {
		m := &script{lines: c.answers, typed: c.typed}
		r := newRoom(t, m, ask)
		got := r.say("well?")
		if e, failed := got.(core.Errored); failed && e.Bucket != core.RetryableTransient ||
			!strings.HasPrefix(texts(got), c.want) {
			t.Errorf("%s: %+v, want %q", name, got, c.want)
		}
		if len(m.asked) != 2 || len(m.asked[0]) != 1 || len(m.asked[1]) != 2 || m.asked[1][1].Role != core.User {
			t.Fatalf("%s: the model was shown %+v", name, m.asked)
		}
	}
}

// The reason that a server gives is not always one of its API's. What is whole is used: its text is shown, its calls
// run.
func TestACompleteAnswerIsUsed(t *testing.T) {
	// some report stop and request calls nevertheless
	for _, stop := range []llm.Finish{"", llm.FinishStop, llm.FinishCalls, llm.FinishUnknown, "eos"} {
		call := core.Message{ToolCalls: []core.ToolCall{use("1", "demo.calc", `{"expression":"1+1"}`)}}
		r := newRoom(t, &script{lines: []core.Message{call}, stops: []llm.Finish{stop, llm.FinishStop}}, ask)
		if got := texts(r.say("go")); got != "end" {
			t.Errorf("%q: %q", stop, got)
		}
		if in, report := r.lastEvidence(); !report.JoinClosed || in.Evidence.ToolResults[0].Status != "ok" ||
			in.Evidence.ProtocolState.StopReason != "end_turn" {
			t.Errorf("%q: %v, %+v", stop, report.FailureClasses, in.Evidence)
		}
	}
}
