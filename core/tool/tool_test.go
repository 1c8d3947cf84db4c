package tool_test

import (
	"context"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/tool"
	"gatehouse/core/typestate"
)

func TestCalc(t *testing.T) {
	for text, want := range map[string]string{
		"2+3*4":                   "14",
		"(2+3)*4":                 "20",
		"7/2":                     "3.5",
		"0.1+0.2":                 "0.3",
		"-5 % 3":                  "-2",
		"10÷4×2":                  "5",
		"1/3":                     "0.333333333333",
		"2*9223372036854775807":   "18446744073709551614",
		"1/0":                     "error:tool_arguments",
		"1 % 0.5":                 "error:tool_arguments",
		"2+":                      "error:tool_arguments",
		"os.Exit(1)":              "error:tool_arguments",
		"1e999999999":             "error:tool_arguments",
		`"a"+"b"`:                 "error:tool_arguments",
		"1<<70":                   "error:tool_arguments",
		strings.Repeat("(", 2000): "error:tool_arguments",
	} {
		args, _ := json.Marshal(map[string]string{"expression": text})
		got, err := tool.Calc().Do(context.Background(), "", args)
		if err != nil {
			got = "error:" + string(core.CategoryOf(err))
		}
		if got != want {
			t.Errorf("%.40s = %s, want %s", text, got, want)
		}
	}
}

func TestClock(t *testing.T) {
	noon := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	clock := tool.Clock(func() time.Time { return noon })
	if got, err := clock.Do(context.Background(), "", json.RawMessage(`{"zone":"Europe/Berlin"}`)); err != nil ||
		got != "Wednesday, 1 July 2026, 14:00:00 CEST" {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := clock.Do(context.Background(),
		"", json.RawMessage(`{"zone":"Mars/Phobos"}`)); core.CategoryOf(err) != core.ToolArguments {
		t.Errorf("an unknown zone: %v", err)
	}
}

func TestDigestBindsToolAndArguments(t *testing.T) {
	base, err := tool.Digest("bank.pay", json.RawMessage(`{"to":"bob","amount":10,"tags":["a","b"]}`))
	if err != nil {
		t.Fatal(err)
	}
	for text, same := range map[string]bool{
		`{ "amount": 10, "tags": ["a","b"], "to": "\u0062ob" }`: true,
		`{"to":"bob","amount":10.0,"tags":["a","b"]}`:           false,
		`{"to":"bob","amount":11,"tags":["a","b"]}`:             false,
		`{"to":"bob","amount":10,"tags":["b","a"]}`:             false,
		`{"to":"bob","amount":"10","tags":["a","b"]}`:           false,
		`{"to":"bob","amount":10,"tags":["a","b"],"x":null}`:    false,
	} {
		got, err := tool.Digest("bank.pay", json.RawMessage(text))
		if err != nil || (got == base) != same {
			t.Errorf("%s: same %v, want %v (%v)", text, got == base, same, err)
		}
	}
	if other, _ := tool.Digest("bank.refund",
		json.RawMessage(`{"to":"bob","amount":10,"tags":["a","b"]}`)); other == base {
		t.Error("another tool has the same digest")
	}
	if _, err := tool.Digest("bank.pay",
		json.RawMessage(`{"to":"bob","to":"eve"}`)); core.CategoryOf(err) != core.ToolArguments {
		t.Errorf("a repeated key: %v", err)
	}
}

// ledger is a ledger in memory that can fail on request.
type ledger struct {
	approvals map[core.ApprovalID]core.Approval
	intents   map[core.ApprovalID]core.IntentRecord
	steps     []string
	failAt    string
}

var errStore = core.Errorf(core.StoreBusy, "locked")

func (l *ledger) step(name string) error {
	l.steps = append(l.steps, name)
	if l.failAt == name {
		return errStore
	}
	return nil
}

func (l *ledger) Approval(_ context.Context, id core.ApprovalID) (core.Approval, error) {
	if err := l.step("approval"); err != nil {
		return core.Approval{}, err
	}
	a, ok := l.approvals[id]
	if !ok {
		return core.Approval{}, core.Errorf(core.NotFound, "no approval")
	}
	return a, nil
}

func (l *ledger) Remembered(context.Context, core.Call, core.Rule) (*core.Use, error) {
	return nil, nil
}

func (l *ledger) Recorded(ctx context.Context, id core.ApprovalID) (core.Approval, error) {
	return l.Approval(ctx, id)
}

func (l *ledger) Refuse(core.ApprovalID, core.ToolResult) {}

func (l *ledger) Keep(_ context.Context, id core.ApprovalID, progress string, _ bool) error {
	rec := l.intents[id]
	rec.Progress = progress
	l.intents[id] = rec
	return nil
}

func (l *ledger) Begin(_ context.Context, i core.Intent) (core.IntentRecord, error) {
	if err := l.step("begin"); err != nil {
		return core.IntentRecord{}, err
	}
	if rec, ok := l.intents[i.Approval]; ok {
		rec.Fresh = false
		return rec, nil
	}
	l.intents[i.Approval] = core.IntentRecord{Intent: i}
	return core.IntentRecord{Intent: i, Fresh: true}, nil
}

func (l *ledger) Finish(_ context.Context, id core.ApprovalID, r core.ToolResult) error {
	if err := l.step("settle"); err != nil {
		return err
	}
	rec := l.intents[id]
	rec.Result = &r
	l.intents[id] = rec
	return nil
}

// bench is an executor with one mutating tool that counts its runs.
type bench struct {
	*ledger
	exec tool.Executor
	runs int
	ran  json.RawMessage // with these arguments
	err  error           // of the tool
	keys []string
	tool tool.Tool // the mutating one
	ctx  context.Context
	call core.ToolCall

	before tool.Prefix
}

// before is the closed evidence of a turn that has done nothing yet.
func before() tool.Prefix {
	return tool.Prefix{Policy: "policy", Input: typestate.Input{Evidence: typestate.Evidence{
		CallSpec: typestate.CallSpec{
			CallID: "i1", ModelRef: "m", ActionMode: "json", ExecutionPattern: "chain", NormalizerID: "n",
			MutationPolicyDigest:   "policy",
			GovernancePolicyDigest: "g", ToolRenderProtocolDigest: "r", ReminderQueuePolicyDigest: "q",
			StateViewPolicyDigest: "s", DecompositionPolicyDigest: "d",
		},
		ProtocolState: typestate.ProtocolState{StopReason: "tool_use", ContinuationAllowed: true},
		ReminderQueue: []typestate.Queue{{QueueID: "q", ReducedDigest: "x", PolicyDigest: "q"}},
		StateViews:    []typestate.StateView{{ViewID: "v", ViewDigest: "x", PolicyDigest: "s"}},
		SessionRefs:   []string{"session://s"}, TrajectoryRefs: []string{"invocation://i1"},
	}}}
}

// pay changes the mutating tool.
func (b *bench) pay(change func(*tool.Tool)) {
	change(&b.tool)
	look := tool.Tool{Name: "bank.look", Do: func(context.Context, string, json.RawMessage) (string, error) {
		return "", errors.New("secret host db1")
	}}
	b.exec = tool.Executor{Tools: tool.NewRegistry(b.tool, look)}
}

func newBench(t *testing.T, state core.ApprovalState) *bench {
	t.Helper()
	b := &bench{ledger: &ledger{
		approvals: map[core.ApprovalID]core.Approval{}, intents: map[core.ApprovalID]core.IntentRecord{},
	}}
	b.tool = tool.Tool{Name: "bank.pay", Mutating: true, Summarize: func(json.RawMessage) string {
		return "Pay."
	}, Do: func(_ context.Context, key string, args json.RawMessage) (string, error) {
		b.ran = args
		b.keys = append(b.keys, key)
		b.runs++
		b.steps = append(b.steps, "run")
		return "paid", b.err
	}}
	b.pay(func(*tool.Tool) {})
	b.call = core.ToolCall{ID: "c1", Name: "bank.pay", Arguments: json.RawMessage(`{"amount":10}`)}
	digest, err := tool.Digest("bank.pay", b.call.Arguments)
	if err != nil {
		t.Fatal(err)
	}
	b.before = before()
	bound, err := b.before.Ask("")
	if err != nil {
		t.Fatal(err)
	}
	b.approvals["a1"] = core.Approval{
		ID: "a1", State: state, Reason: "too early", DecidedBy: core.Actor{Name: "Ann"},
		Call: core.Call{Tool: "bank.pay", Digest: digest, Bound: bound},
	}
	b.ctx = core.WithTurn(context.Background(),
		core.Turn{Ledger: b.ledger})
	return b
}

func TestLaw5_IntentBeforeRunBeforeResult(t *testing.T) {
	b := newBench(t, core.Approved)
	r, err := b.exec.Act(b.ctx, b.call, "a1", b.before)
	if err != nil || r.Content != "paid" || r.Category != "" {
		t.Fatalf("%+v, %v", r, err)
	}
	if got := strings.Join(b.steps, " "); got != "approval begin run settle" {
		t.Errorf("steps: %s", got)
	}
	again, err := b.exec.Act(b.ctx, b.call, "a1", b.before)
	if err != nil || !reflect.DeepEqual(again, r) || b.runs != 1 {
		t.Errorf("again: %+v, %v, %d runs", again, err, b.runs)
	}
}

func TestLaw5_FailsClosed(t *testing.T) {
	for name, c := range map[string]struct {
		state core.ApprovalState
		set   func(*bench)
		want  core.Category
	}{
		"open":        {core.Open, func(*bench) {}, core.ApprovalMissing},
		"refused":     {core.Denied, func(*bench) {}, core.ApprovalDenied},
		"expired":     {core.Expired, func(*bench) {}, core.ApprovalExpired},
		"cancelled":   {core.Cancelled, func(*bench) {}, core.ApprovalCanceled},
		"no approval": {core.Approved, func(b *bench) { delete(b.approvals, "a1") }, core.ApprovalMissing},
		"other arguments": {core.Approved, func(b *bench) {
			b.call.Arguments = json.RawMessage(`{"amount":1000}`)
		}, core.ApprovalMismatch},
		"no digest": {core.Approved, func(b *bench) {
			a := b.approvals["a1"]
			a.Call.Digest = ""
			b.approvals["a1"] = a
		}, core.ApprovalMismatch},
		"other tool": {core.Approved, func(b *bench) {
			a := b.approvals["a1"]
			a.Call.Tool = "bank.look"
			b.approvals["a1"] = a
		}, core.ApprovalMismatch},
		"unknown tool": {core.Approved, func(b *bench) { b.call.Name = "steal" }, core.ToolUnknown},
		"broken arguments": {core.Approved, func(b *bench) {
			b.call.Arguments = json.RawMessage("null")
		}, core.ToolArguments},
		"no evidence": {core.Approved, func(b *bench) { b.before = tool.Prefix{} }, core.NotAllowed},
		"an open prefix": {core.Approved, func(b *bench) {
			b.before.Evidence.ToolRequests = []typestate.ToolRequest{{ToolCallID: "c0", ToolName: "bank.look"}}
		}, core.NotAllowed},
		"another turn's evidence": {core.Approved, func(b *bench) {
			b.before.Evidence.CallSpec.CallID = "i2"
		}, core.NotAllowed},
		"no session": {core.Approved, func(b *bench) {
			b.before.Evidence.SessionRefs = nil
		}, core.NotAllowed},
		"a binding that is none": {core.Approved, func(b *bench) {
			a := b.approvals["a1"]
			a.Call.Bound = core.Binding{}
			b.approvals["a1"] = a
		}, core.NotAllowed},
		"the rules changed": {core.Approved, func(b *bench) { b.before.Policy = "other" }, core.ApprovalStale},
		"no rules":          {core.Approved, func(b *bench) { b.before.Policy = "" }, core.ApprovalStale},
		"the rules and the turn changed": {core.Approved, func(b *bench) {
			b.before.Policy, b.before.Evidence.ProtocolState.StopReason = "other", "refusal"
		}, core.NotAllowed},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, c.state)
			c.set(b)
			r, err := b.exec.Act(b.ctx, b.call, "a1", b.before)
			if err != nil || r.Category != c.want || b.runs != 0 || len(b.intents) != 0 {
				t.Errorf("%+v, %v, %d runs, %d intents; want %s", r, err, b.runs, len(b.intents), c.want)
			}
			if f, ok := tool.FailureOf(r.Content); !ok || f.Category != c.want || f.Message == "" {
				t.Errorf("the model reads %q", r.Content)
			}
		})
	}
}

// What runs is what an approver has put in place of the model's arguments, as it was approved, and the model is told.
func TestLaw5_ChangedArgumentsRunAsTheyWereApproved(t *testing.T) {
	b := newBench(t, core.Approved)
	a := b.approvals["a1"]
	changed := json.RawMessage(`{"amount":7}`)
	digest, err := tool.Digest(a.Call.Tool, changed)
	if err != nil {
		t.Fatal(err)
	}
	a.Requested, a.Call.Arguments, a.Call.Digest = a.Call.Digest, changed, digest
	for name, spoil := range map[string]func(*core.Approval){
		"other arguments than those approved": func(a *core.Approval) {
			a.Call.Arguments = json.RawMessage(`{"amount":9}`)
		},
		"another request of the model": func(a *core.Approval) { a.Requested = "sha256:other" },
	} {
		spoiled := a
		spoil(&spoiled)
		b.approvals["a1"] = spoiled
		if r, err := b.exec.Act(b.ctx, b.call, "a1", b.before); err != nil || r.Category != core.ApprovalMismatch ||
			b.runs != 0 {
			t.Errorf("%s: %+v, %v, %d runs", name, r, err, b.runs)
		}
	}
	b.approvals["a1"] = a
	r, err := b.exec.Act(b.ctx, b.call, "a1", b.before)
	if err != nil || !strings.HasPrefix(r.Content, "An approver changed the arguments to {\"amount\":7}.\n") ||
		string(b.ran) != string(changed) || b.runs != 1 {
		t.Errorf("%+v, %v, ran with %s", r, err, b.ran)
	}
}

// The model is told of it in every outcome of a call that was started.
func TestLaw5_EveryOutcomeOfAChangedCallSaysSo(t *testing.T) {
	const note = `An approver changed the arguments to {"amount":7}.`
	for name, c := range map[string]struct {
		set  func(*bench)
		want core.Category
	}{
		"it failed": {func(b *bench) { b.err = errors.New("no") }, core.ToolFailed},
		"its outcome is unknown": {func(b *bench) {
			b.failAt = "settle"
			if _, err := b.exec.Act(b.ctx, b.call, "a1", b.before); core.CategoryOf(err) != core.StoreBusy {
				t.Fatal(err)
			}
			b.failAt = ""
		}, core.OutcomeUnknown},
	} {
		b := newBench(t, core.Approved)
		a := b.approvals["a1"]
		a.Requested, a.Call.Arguments = a.Call.Digest, json.RawMessage(`{"amount":7}`)
		a.Call.Digest, _ = tool.Digest(a.Call.Tool, a.Call.Arguments)
		b.approvals["a1"] = a
		c.set(b)
		for range 2 { // the stored result says it too
			r, err := b.exec.Act(b.ctx, b.call, "a1", b.before)
			if f, ok := tool.FailureOf(r.Content); err != nil || !ok || f.Category != c.want || f.Changed != note ||
				strings.Contains(f.Message, note) {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
		}
	}
}

func TestLaw5_IntentWithoutResultIsUnknownAndNotRepeated(t *testing.T) {
	b := newBench(t, core.Approved)
	b.failAt = "settle"
	if _, err := b.exec.Act(b.ctx, b.call, "a1", b.before); core.CategoryOf(err) != core.StoreBusy {
		t.Fatalf("a lost result must end the turn: %v", err)
	}
	b.failAt = ""
	r, err := b.exec.Act(b.ctx, b.call, "a1", b.before)
	if err != nil || r.Category != core.OutcomeUnknown || b.runs != 1 {
		t.Errorf("%+v, %v, %d runs", r, err, b.runs)
	}
	if again, _ := b.exec.Act(b.ctx, b.call, "a1", b.before); !reflect.DeepEqual(again, r) || b.runs != 1 {
		t.Errorf("the unknown outcome must stand: %+v", again)
	}
}

func TestLaw5_StoreFailuresRunNothing(t *testing.T) {
	for _, at := range []string{"approval", "begin"} {
		b := newBench(t, core.Approved)
		b.failAt = at
		if _, err := b.exec.Act(b.ctx, b.call, "a1", b.before); core.CategoryOf(err) != core.StoreBusy || b.runs != 0 {
			t.Errorf("%s: %v, %d runs", at, err, b.runs)
		}
	}
	b := newBench(t, core.Approved)
	if _, err := b.exec.Act(context.Background(), b.call,
		"a1", b.before); core.CategoryOf(err) != core.ApprovalMissing || b.runs != 0 {
		t.Errorf("outside a turn: %v", err)
	}
}

func TestLaw5_ABegunCallReturnsItsResultAfterTheRulesChanged(t *testing.T) {
	b := newBench(t, core.Approved)
	done, err := b.exec.Act(b.ctx, b.call, "a1", b.before)
	if err != nil {
		t.Fatal(err)
	}
	a := b.approvals["a1"]
	a.Begun = true
	b.approvals["a1"] = a
	b.before.Policy = "other"
	if again, err := b.exec.Act(b.ctx, b.call, "a1", b.before); err != nil || !reflect.DeepEqual(again, done) ||
		b.runs != 1 {
		t.Errorf("%+v, %v, %d runs", again, err, b.runs)
	}
	delete(b.intents, "a1") // marked as begun, without an intent
	if r, err := b.exec.Act(b.ctx, b.call, "a1", b.before); err != nil || r.Category != core.ApprovalStale ||
		b.runs != 1 {
		t.Errorf("%+v, %v, %d runs", r, err, b.runs)
	}
}

func TestNoApprovalIsRequestedForACallThatCannotRun(t *testing.T) {
	p := before()
	if b, err := p.Ask("sha256:s"); err != nil || b.Schema != "sha256:s" || b.Policy != "policy" || b.CallSpec == "" ||
		b.Witness == "" {
		t.Errorf("%+v, %v", b, err)
	}
	p.Evidence.SessionRefs = nil
	if _, err := p.Ask(""); core.CategoryOf(err) != core.NotAllowed {
		t.Errorf("without a session: %v", err)
	}
}

func TestSchemaDigestIgnoresTheLayout(t *testing.T) {
	of := func(schema string) string { return tool.Tool{Schema: json.RawMessage(schema)}.SchemaDigest() }
	if of(`{"a":1,"b":2}`) != of(` {"b":2, "a":1}`) || of(`{"a":1}`) == of(`{"a":2}`) || of(`{`) == of(``) {
		t.Error("the digest does not follow the schema")
	}
}

func TestReadRunsNothingThatMutates(t *testing.T) {
	b := newBench(t, core.Approved)
	pay, _ := b.exec.Tools.Find(b.call)
	if _, err := b.exec.Read(b.ctx, pay, b.call, "k"); core.CategoryOf(err) != core.ApprovalMissing || b.runs != 0 {
		t.Errorf("%v, %d runs", err, b.runs)
	}
	look := core.ToolCall{ID: "c2", Name: "bank.look", Arguments: json.RawMessage(`{}`)}
	found, err := b.exec.Tools.Find(look)
	if err != nil {
		t.Fatal(err)
	}
	r, err := b.exec.Read(b.ctx, found, look, "k")
	if err != nil || r.Category != core.ToolFailed || strings.Contains(r.Content, "db1") {
		t.Errorf("a plain failure must show nothing of its cause: %+v, %v", r, err)
	}
}
