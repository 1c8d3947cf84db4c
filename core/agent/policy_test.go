package agent_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/tool"
)

// A rule may also refuse, or ask for, a call that only reads.
func TestLaw5_ARuleHoldsForCallsThatOnlyRead(t *testing.T) {
	r := newRoom(t, agent.Demo{}, ask)
	r.reads = core.Rule{Verdict: core.VerdictDeny, Why: "The book is closed."}
	if got := texts(r.say("note list")); !strings.Contains(got, "The book is closed.") {
		t.Errorf("denied: %q", got)
	}
	r.reads = ask
	asked := r.say("calc 1+1")
	if call := r.asked(asked).Call; call.Risk != core.ReadOnly || call.Summary != "Run demo.calc" {
		t.Errorf("asked: %+v", call)
	}
	if got := texts(r.decide(asked, core.Denied, "no sums")); strings.Contains(got, "= 2") {
		t.Errorf("denied by a person: %q", got)
	}
	if got := texts(r.decide(r.say("calc 1+1"), core.Approved, "")); got != "1+1 = 2" {
		t.Errorf("approved: %q", got)
	}
}

// A rule that remembers allows a call that was approved lately, with a recorded decision and no question.
func TestARememberedApprovalAllowsTheSameCall(t *testing.T) {
	rule := ask
	rule.Remember = time.Hour
	r := newRoom(t, agent.Demo{}, rule)
	var digest string
	next := &core.Use{Of: "a0", N: 2, Uses: 5, Until: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)}
	r.remembered = func(c core.Call) *core.Use {
		if c.Digest == digest {
			return next
		}
		return nil
	}
	first := r.say("note add milk")
	if got := r.asked(first).Rule.Verdict; got != core.VerdictAsk {
		t.Fatalf("the first call: %s", got)
	}
	digest = r.asked(first).Call.Digest
	r.decide(first, core.Approved, "")
	again := r.say("note add milk")
	want := "An approval of the same call is remembered here until 2026-11-21 12:00 UTC (approval a0, use 2 of 5)."
	if got := r.asked(again); got.Rule.Verdict != core.VerdictAllow || got.Rule.Why != want || *got.Use != *next {
		t.Errorf("the same call: %+v", got)
	}
	if got := texts(r.decide(again, core.Approved, "")); !strings.Contains(got, "Done") || len(r.book.notes) != 2 {
		t.Errorf("%q, %v", got, r.book.notes)
	}
	if got := r.asked(r.say("note add bread")).Rule.Verdict; got != core.VerdictAsk {
		t.Errorf("another call: %s", got)
	}
}

// Who decides reads which message a call belongs to, and how many calls of it wait for approval.
func TestARequestSaysWhichMessageItIsAbout(t *testing.T) {
	r := newRoom(t, &script{lines: []core.Message{{Role: core.Assistant, ToolCalls: []core.ToolCall{
		use("1", "note.add", `{"text":"milk"}`), use("2", "demo.calc", `{"expression":"1+1"}`),
		use("3", "no_such_tool", `{}`), use("4", "note.add", `{"text":"bread"}`),
	}}}}, ask)
	first := r.say("buy milk and bread " + strings.Repeat("x", 500))
	if got := r.asked(first).Asked; got.Place != 1 || got.Of != 2 ||
		!strings.HasPrefix(got.Message, "buy milk and bread xxx") || len([]rune(got.Message)) != 300 {
		t.Errorf("the first: %+v", got)
	}
	second := r.decide(first, core.Denied, "")
	if got := r.asked(second).Asked; got.Place != 2 || got.Of != 2 || !strings.HasPrefix(got.Message, "buy milk") {
		t.Errorf("the second: %+v", got)
	}
	r.decide(second, core.Approved, "")
	if len(r.book.notes) != 1 {
		t.Errorf("%v", r.book.notes)
	}
	alone := r.asked(newRoom(t, agent.Demo{}, ask).say("note add milk")).Asked
	if got := alone; got != (core.Asked{Message: "note add milk"}) {
		t.Errorf("one alone: %+v", got)
	}
}

// A call that a rule allows, or that was approved lately, is no part of the count, wherever it stands.
func TestACountHasOnlyWhatPeopleAreAskedFor(t *testing.T) {
	rule := ask
	rule.Remember = time.Hour
	r := newRoom(t, &script{lines: []core.Message{{Role: core.Assistant, ToolCalls: []core.ToolCall{
		use("1", "note.add", `{"text":"milk"}`), use("2", "note.add", `{"text":"bread"}`),
		use("3", "note.add", `{"text":"salt"}`), use("4", "note.add", `{"text":"oil"}`),
	}}}}, rule)
	r.judge = func(c core.Call) core.Rule {
		if strings.Contains(string(c.Arguments), "salt") {
			return core.Rule{Verdict: core.VerdictAllow}
		}
		return rule
	}
	known := []string{"bread"}
	r.remembered = func(c core.Call) *core.Use {
		if slices.ContainsFunc(known, func(text string) bool { return strings.Contains(string(c.Arguments), text) }) {
			return &core.Use{Of: "a0", N: 1, Uses: 5}
		}
		return nil
	}
	o := r.say("buy it all")
	if got := r.asked(o).Asked; got.Place != 1 || got.Of != 2 {
		t.Errorf("milk: %+v", got)
	}
	known = append(known, "milk") // from now on, as it is approved
	o = r.decide(o, core.Approved, "")
	for _, text := range []string{"bread", "salt"} {
		if got := r.asked(o); got.Rule.Verdict != core.VerdictAllow || got.Asked != (core.Asked{}) {
			t.Errorf("%s: %+v", text, got)
		}
		o = r.decide(o, core.Approved, "")
	}
	if got := r.asked(o).Asked; got.Place != 2 || got.Of != 2 {
		t.Errorf("oil: %+v", got)
	}
}

// An approver has put other arguments in place of the model's. They run only if today's policy says the same of both.
func TestLaw5_ChangedArgumentsAreJudgedByTodaysPolicy(t *testing.T) {
	for name, c := range map[string]struct {
		today func(core.Call) core.Rule
		runs  bool
	}{
		"as before": {func(core.Call) core.Rule { return ask }, true},
		"denied by now": {func(c core.Call) core.Rule {
			if strings.Contains(string(c.Arguments), "poison") {
				return core.Rule{Verdict: core.VerdictDeny, Why: "No poison."}
			}
			return ask
		}, false},
	} {
		r := newRoom(t, agent.Demo{}, ask)
		asked := r.say("note add milk")
		req := r.asked(asked)
		r.judge = c.today
		r.change = func(a *core.Approval) {
			a.Requested, a.Call.Arguments = req.Call.Digest, json.RawMessage(`{"text":"poison"}`)
			var err error
			if a.Call.Digest, err = tool.Digest("note.add", a.Call.Arguments); err != nil {
				t.Fatal(err)
			}
		}
		got := texts(r.decide(asked, core.Approved, ""))
		if c.runs &&
			(len(r.book.notes) != 1 || r.book.notes[0] != "poison" ||
				!strings.Contains(got, "An approver changed the arguments to {\"text\":\"poison\"}.")) {
			t.Errorf("%s: %q, %v", name, got, r.book.notes)
		}
		if !c.runs && (len(r.book.notes) != 0 || !strings.Contains(got, "The rules changed after the arguments were "+
			"changed")) {
			t.Errorf("%s: %q, %v", name, got, r.book.notes)
		}
	}
}

// What a card quotes of the message is masked before it is cut: a part of a secret does not look like one.
func TestLaw8_AQuotedMessageHidesSecretsThatAreCut(t *testing.T) {
	key := "-----BEGIN PRIVATE KEY-----\n" + strings.Repeat(strings.Repeat("Ab1+", 16)+"\n", 10) +
		"Zm9v==\n-----END PRIVATE KEY-----"
	r := newRoom(t, agent.Demo{}, ask)
	if got := r.asked(r.say("note add use " + key)).Asked.Message; strings.Contains(got, "Ab1+") ||
		!strings.Contains(got, "characters hidden") {
		t.Errorf("the card quotes %q", got)
	}
}
