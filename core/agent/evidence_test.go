package agent_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

// lastEvidence gives the evidence that the room's turn reported last, and its join check.
func (r *room) lastEvidence() (typestate.Input, *typestate.Report) {
	r.t.Helper()
	if r.evidence == nil {
		r.t.Fatal("the turn handed over no evidence")
	}
	in, err := typestate.Decode(r.evidence)
	if err != nil {
		r.t.Fatal(err)
	}
	report, err := typestate.JoinCheck(in)
	if err != nil {
		r.t.Fatal(err)
	}
	return in, report
}

func TestTheEvidenceOfEveryTurnCloses(t *testing.T) {
	for text, calls := range map[string]int{"hello": 0, "calc 1+1": 1, "calc 1/0": 1, "note burn": 0, "note list": 1} {
		r := newRoom(t, agent.Demo{}, ask)
		r.say(text)
		in, report := r.lastEvidence()
		if !report.JoinClosed || len(in.Evidence.ToolResults) != calls {
			t.Errorf("%s: %v, %d calls", text, report.FailureClasses, len(in.Evidence.ToolResults))
		}
		if in.Evidence.ProtocolState != (typestate.ProtocolState{StopReason: "end_turn"}) ||
			!slices.Equal(in.Evidence.SessionRefs, []string{"session://s@1"}) {
			t.Errorf("%s: %+v, %v", text, in.Evidence.ProtocolState, in.Evidence.SessionRefs)
		}
	}
}

func TestAPausedTurnIsOpenAndAResumedOneCloses(t *testing.T) {
	for state, status := range map[core.ApprovalState]string{
		core.Approved: "ok", core.Denied: "error", core.Expired: "error",
	} {
		r := newRoom(t, agent.Demo{}, ask)
		asked := r.say("note add milk")
		_, report := r.lastEvidence()
		// the model will be asked again
		waits := typestate.ProtocolState{StopReason: "pause_turn", ContinuationAllowed: true}
		if got := classes(report); got != "tool.join_incomplete tool.result_missing" ||
			report.Normalized.ProtocolState != waits {
			t.Errorf("paused: %s, %+v", got, report.Normalized.ProtocolState)
		}
		r.decide(asked, state, "")
		in, report := r.lastEvidence()
		if !report.JoinClosed || in.Evidence.ToolResults[0].Status != status {
			t.Errorf("%s: %v, %+v", state, report.FailureClasses, in.Evidence.ToolResults)
		}
		if !slices.Contains(in.Evidence.TrajectoryRefs, "approval://a1") {
			t.Errorf("%s: %v", state, in.Evidence.TrajectoryRefs)
		}
	}
}

func TestReusedAndBlankCallIDsAreMadeUnique(t *testing.T) {
	r := newRoom(t, &script{lines: []core.Message{{ToolCalls: []core.ToolCall{
		use("same", "demo.calc", `{"expression":"1+1"}`), use(" same ", "demo.calc", `{"expression":"1+2"}`),
		use("same#2", "nothing_like_it", `{}`),
		use("same", "demo.calc", `null`),
	}}, {ToolCalls: []core.ToolCall{use("same", "demo.calc", `{"expression":"1+3"}`)}}}}, ask)
	r.say("go")
	in, report := r.lastEvidence()
	if !report.JoinClosed || len(report.Normalized.ToolResults) != 5 {
		t.Fatalf("%v, %+v", report.FailureClasses, report.Normalized.ToolResults)
	}
	var ids []string
	for _, q := range in.Evidence.ToolRequests {
		ids = append(ids, q.ToolCallID)
	}
	if !slices.Equal(ids, []string{"same", "same#2", "same#2#2", "same#3", "same#4"}) {
		t.Errorf("ids %v", ids)
	}
	if in.Evidence.ToolResults[2].ErrorCode != "tool_unknown" ||
		in.Evidence.ToolResults[3].ErrorCode != "tool_arguments" {
		t.Errorf("%+v", in.Evidence.ToolResults)
	}
}

func TestLaw5_TheApprovalIsBoundToWhatTheTurnDid(t *testing.T) {
	r := newRoom(t,
		&script{lines: []core.Message{{ToolCalls: []core.ToolCall{
			use("1", "demo.calc", `{"expression":"1+1"}`), use("2", "note.add", `{"text":"x"}`),
		}}}}, ask)
	asked := r.say("go")
	bound := r.bound(asked)
	if bound.Schema == "" || bound.CallSpec == "" || bound.Policy == "" ||
		!strings.HasPrefix(bound.Witness, "witness://join/sha256:") {
		t.Fatalf("%+v", bound)
	}
	in, _ := r.lastEvidence()
	if in.Evidence.CallSpec.MutationPolicyDigest != bound.Policy {
		t.Errorf("the turn is bound to %s, the approval to %s", in.Evidence.CallSpec.MutationPolicyDigest, bound.Policy)
	}
	r.spoil = func(b *core.Binding) { b.Witness = "witness://join/sha256:other" }
	r.decide(asked, core.Approved, "")
	if len(r.book.notes) != 0 {
		t.Error("it ran on another turn's witness")
	}
	if in, report := r.lastEvidence(); !report.JoinClosed || in.Evidence.ToolResults[1].ErrorCode != "not_allowed" {
		t.Errorf("%v, %+v", report.FailureClasses, in.Evidence.ToolResults)
	}
}

func TestLaw5_ChangedRulesAskAgainOnce(t *testing.T) {
	r := newRoom(t, agent.Demo{}, ask)
	asked := r.say("note add milk")
	first := r.bound(asked)
	r.rule.Quorum = 2
	again := r.decide(asked, core.Approved, "")
	if got := texts(again); got != "The rules for this have changed, so I need an approval again: Add “milk” to the "+
		"note book." || len(r.book.notes) != 0 {
		t.Fatalf("%q, notes %v", got, r.book.notes)
	}
	if second := r.bound(again); second.Policy == first.Policy || second.Witness == first.Witness ||
		r.asked(again).Rule.Quorum != 2 {
		t.Errorf("bound to %+v and again to %+v", first, second)
	}
	done := texts(r.decide(again, core.Approved, ""))
	if _, report := r.lastEvidence(); done != "Done: “milk” is in the note book." || len(r.book.notes) != 1 ||
		!report.JoinClosed {
		t.Errorf("under the new rules: %q, %v, %v", done, r.book.notes, report.FailureClasses)
	}

	r = newRoom(t, agent.Demo{}, ask)
	asked = r.say("note add milk")
	r.rule.Quorum = 2
	again = r.decide(asked, core.Approved, "")
	r.rule.Quorum = 3
	if _, ended := r.decide(again, core.Approved, "").(core.Completed); !ended || len(r.book.notes) != 0 {
		t.Errorf("a second change must refuse: %v", r.book.notes)
	}
	if in, report := r.lastEvidence(); !report.JoinClosed ||
		in.Evidence.ToolResults[0].ErrorCode != string(core.ApprovalStale) {
		t.Errorf("%v, %+v", report.FailureClasses, in.Evidence.ToolResults)
	}
}

// The second request has the model's own arguments, and says that the approver's are dropped.
func TestLaw5_AskingAgainSaysThatAChangeIsDropped(t *testing.T) {
	for name, called := range map[string]string{"Cid": "Cid", "": "An approver"} {
		r := newRoom(t, agent.Demo{}, ask)
		asked := r.say("note add milk")
		r.rule.Quorum = 2
		r.change = func(a *core.Approval) {
			a.Requested, a.Call.Arguments = a.Call.Digest, json.RawMessage(`{"text":"poison"}`)
			a.Call.Digest, _ = tool.Digest("note.add", a.Call.Arguments)
			a.Votes = []core.Vote{{Actor: core.Actor{ID: "x:cid", Name: name}, Choice: core.Edit}}
		}
		again := r.decide(asked, core.Approved, "")
		if got := texts(again); !strings.HasSuffix(got,
			"Add “milk” to the note book.\n"+called+" had changed the arguments. That change is dropped.") {
			t.Errorf("%q", got)
		}
		if req := r.asked(again); req.Asked.Dropped != called || string(req.Call.Arguments) != `{"text":"milk"}` ||
			req.Announced {
			t.Errorf("%+v", req)
		}
		r.change = nil
		if r.decide(again, core.Approved, ""); !slices.Equal(r.book.notes, []string{"milk"}) {
			t.Errorf("%v", r.book.notes)
		}
	}
}

func TestLaw5_RulesThatNowRefuseOrAllow(t *testing.T) {
	r := newRoom(t, agent.Demo{}, ask)
	asked := r.say("note add milk")
	*r.rule = core.Rule{Verdict: core.VerdictDeny, Why: "Not on Sundays."}
	if got := texts(r.decide(asked, core.Approved, "")); got != "I did not add it. Not on Sundays." ||
		len(r.book.notes) != 0 {
		t.Errorf("deny: %q", got)
	}
	r = newRoom(t, agent.Demo{}, ask)
	asked = r.say("note add milk")
	*r.rule = core.Rule{Verdict: core.VerdictAllow}
	recorded := r.decide(asked, core.Approved, "")
	if got := texts(recorded); got != "" || len(r.book.notes) != 0 {
		t.Errorf("allow is recorded first: %q", got)
	}
	if r.decide(recorded, core.Approved, ""); len(r.book.notes) != 1 {
		t.Error("allow: it did not run")
	}
	r = newRoom(t, agent.Demo{}, ask)
	asked = r.say("note add milk")
	r.rule.Quorum = 2
	if got := texts(r.decide(asked, core.Denied, "no")); got != "I did not add it. Denied by Bob: no" {
		t.Errorf("a refusal needs no second question: %q", got)
	}
}

func TestSeveralMutationsAreCoveredTogether(t *testing.T) {
	r := newRoom(t,
		&script{lines: []core.Message{{ToolCalls: []core.ToolCall{
			use("1", "note.add", `{"text":"x"}`), use("2", "note.add", `{"text":"y"}`),
		}}}}, ask)
	first := r.say("go")
	one := r.bound(first)
	second := r.decide(first, core.Approved, "")
	two := r.bound(second)
	if one.Policy == two.Policy || one.Witness == two.Witness {
		t.Errorf("the second is bound like the first: %+v", two)
	}
	r.decide(second, core.Approved, "")
	if _, report := r.lastEvidence(); !slices.Equal(r.book.notes, []string{"x", "y"}) || !report.JoinClosed {
		t.Errorf("%v, %v", r.book.notes, report.FailureClasses)
	}
}

func TestLaw8_EvidenceHoldsNoTextsOfTheTurn(t *testing.T) {
	const token = "ghp_0123456789abcdefghij0123456789ABCDEF"
	r := newRoom(t, &script{lines: []core.Message{
		{
			Content: core.Text("thinking of " + token),
			ToolCalls: []core.ToolCall{
				use("1", "note.add", `{"text":"`+token+`"}`),
				use("2", "demo.calc", `{"expression":"`+token+`"}`),
			},
		},
		{Content: core.Text(token + " it is")},
	}}, ask)
	asked := r.say("my password is " + token)
	paused := string(r.evidence)
	r.decide(asked, core.Denied, "because "+token)
	if all := paused + string(r.evidence); strings.Contains(all, token) {
		t.Errorf("a secret is in the evidence:\n%s", all)
	}
	if in, report := r.lastEvidence(); !report.JoinClosed ||
		!strings.Contains(in.Evidence.ToolResults[0].ErrorMessage, "••••••") {
		t.Errorf("%v, %+v", report.FailureClasses, in.Evidence.ToolResults)
	}
}

// What the arguments hold under the name of a secret (mask.JSON) is hidden as well as what looks like one, wherever the
// model or a tool repeats it: in a sentence, a call's id, a tool's name.
func TestLaw8_SecretsOfTheArgumentsAreMaskedAndTheEvidenceStillCloses(t *testing.T) {
	const named, looks = `swordfish "7`, "ghp_0123456789abcdefghij0123456789ABCDEF"
	login := tool.Tool{Name: "safe.login", Do: func(_ context.Context, _ string, args json.RawMessage) (string, error) {
		var a struct{ Password, Note string }
		if err := json.Unmarshal(args, &a); err != nil {
			return "", err
		}
		return "",
			core.Errorf(core.ToolFailed, "The password %s (%q) of %s does not fit.", a.Password, a.Password, a.Note)
	}}
	args, err := json.Marshal(
		map[string]any{"password": named, "note": looks, "api_keys": []string{"opensesame"}, "max_tokens": 5})
	if err != nil {
		t.Fatal(err)
	}
	r := newRoom(t,
		&script{lines: []core.Message{{ToolCalls: []core.ToolCall{
			use(looks, "safe.login", string(args)), use(looks, looks, `{}`),
		}}}}, ask, login)
	r.say("go")
	in, report := r.lastEvidence()
	for _, secret := range []string{"swordfish", "opensesame", looks} {
		if strings.Contains(string(r.evidence), secret) {
			t.Errorf("%s is in the evidence:\n%s", secret, r.evidence)
		}
	}
	if got := in.Evidence.ToolResults[0].ErrorMessage; got != "The password •••••• (\"••••••\") of •••••• does "+
		"not fit." {
		t.Errorf("the sentence is %q", got)
	}
	if !report.JoinClosed || len(report.Normalized.ToolResults) != 2 {
		t.Errorf("%v, %+v", report.FailureClasses, report.Normalized.ToolResults)
	}
}

func classes(r *typestate.Report) string {
	all := make([]string, len(r.FailureClasses))
	for i, c := range r.FailureClasses {
		all[i] = string(c)
	}
	return strings.Join(all, " ")
}
