package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
	"gatehouse/core/llm"
	"gatehouse/core/question"
	"gatehouse/core/tool"
)

// book is a note book in memory.
type book struct{ notes []string }

func (b *book) AddNote(_ context.Context, _, text string) error {
	b.notes = append(b.notes, text)
	return nil
}

func (b *book) Notes(context.Context, string) ([]string, error) { return b.notes, nil }

// policy gives every call the same rule, which may change.
// policy is one rule for all calls that change something; reads is the rule for others, if it is set.
type policy struct {
	rule, reads *core.Rule
	judge       *func(core.Call) core.Rule
	asks        *asks
}

// asks is the rule for a question.
type asks func(core.Turn, core.Call, tool.Asking) core.Rule

func (p policy) Asks(turn core.Turn, c core.Call, a tool.Asking) core.Rule {
	if *p.asks == nil {
		return core.Rule{Verdict: core.VerdictDeny, Why: "Nobody can be asked here."}
	}
	return (*p.asks)(turn, c, a)
}

func (p policy) Rule(_ core.Turn, c core.Call) core.Rule {
	switch {
	case *p.judge != nil:
		return (*p.judge)(c)
	case c.Risk != core.ReadOnly:
		return *p.rule
	case p.reads.Verdict != "":
		return *p.reads
	}
	return core.Rule{Verdict: core.VerdictAllow}
}

// room is a conversation with the loop and the demo's tools; the test decides its approvals.
type room struct {
	t         *testing.T
	harness   *chat.Harness
	book      *book
	approvals map[core.ApprovalID]core.Approval
	intents   map[core.ApprovalID]*core.IntentRecord
	outcomes  []core.Outcome
	ctx       context.Context

	rule     *core.Rule
	evidence []byte              // what the turn handed over last
	spoil    func(*core.Binding) // changes what the stored approval is bound to

	judge      func(core.Call) core.Rule // nil: rule and reads
	change     func(*core.Approval)      // changes an approval as it is decided
	asks       asks                      // nil: nobody can be asked
	question   *question.Question        // that the turn waits for
	reads      core.Rule                 // for calls that only read; "" = they are allowed
	remembered func(core.Call) *core.Use
}

func (r *room) Approval(_ context.Context, id core.ApprovalID) (core.Approval, error) {
	a, ok := r.approvals[id]
	if !ok {
		return a, core.Errorf(core.NotFound, "no approval")
	}
	return a, nil
}

func (r *room) Remembered(_ context.Context, c core.Call, _ core.Rule) (*core.Use, error) {
	return r.remembered(c), nil
}

func (r *room) Added([]core.Message) {}

func (r *room) Evidence(text json.RawMessage) { r.evidence = text }

func (r *room) Recorded(ctx context.Context, id core.ApprovalID) (core.Approval, error) {
	return r.Approval(ctx, id)
}

func (r *room) Refuse(core.ApprovalID, core.ToolResult) {}

func (r *room) Begin(_ context.Context, i core.Intent) (core.IntentRecord, error) {
	if rec := r.intents[i.Approval]; rec != nil {
		return *rec, nil
	}
	r.intents[i.Approval] = &core.IntentRecord{Intent: i}
	return core.IntentRecord{Intent: i, Fresh: true}, nil
}

func (r *room) Finish(_ context.Context, id core.ApprovalID, result core.ToolResult) error {
	r.intents[id].Result = &result
	return nil
}

func newRoom(t *testing.T, m agent.Model, rule core.Rule, more ...tool.Tool) *room {
	t.Helper()
	return newRoomOf(t, m, rule, agent.Limits{}, nil, more...)
}

// changingTools are a source whose tools change.
type changingTools func() []tool.Tool

func (f changingTools) Tools() []tool.Tool          { return f() }
func (changingTools) Missing(string) error          { return nil }
func (changingTools) Await(context.Context, string) {}

// newRoomOf is newRoom with limits, and with tools that change.
func newRoomOf(
	t *testing.T, m agent.Model, rule core.Rule, limits agent.Limits, changing func() []tool.Tool, more ...tool.Tool,
) *room {
	t.Helper()
	r := &room{
		t: t, rule: &rule, book: &book{}, approvals: map[core.ApprovalID]core.Approval{},
		intents: map[core.ApprovalID]*core.IntentRecord{},
	}
	noon := func() time.Time { return time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC) }
	tools := tool.NewRegistry(
		append(more, tool.Calc(), tool.Clock(noon), tool.NoteAdd(r.book.AddNote), tool.NoteList(r.book.Notes))...)
	if changing != nil {
		tools = tools.With(changingTools(changing))
	}
	ids := 0
	r.remembered = func(core.Call) *core.Use { return nil }
	compiled, err := agent.Loop{
		Name: "demo", Model: m, Limits: limits, Executor: &tool.Executor{Tools: tools},
		Policy: policy{r.rule, &r.reads, &r.judge, &r.asks},
		NewID:  func() string { ids++; return fmt.Sprintf("a%d", ids) },
	}.Graph()
	if err != nil {
		t.Fatal(err)
	}
	if got := compiled.StoredFields(); !slices.Equal(got, []string{"messages"}) {
		t.Fatalf("the session keeps %v, want messages alone", got)
	}
	mem := graph.NewMemory()
	if r.harness, err = chat.New(
		chat.Options{Graph: compiled, Stores: graph.Stores{Sessions: mem, Pauses: mem}}); err != nil {
		t.Fatal(err)
	}
	r.harness.Subscribe("s@1", func(o core.Outcome) { r.outcomes = append(r.outcomes, o) })
	r.ctx = core.WithTurn(context.Background(), core.Turn{
		Ledger: r, Progress: r, Actor: core.Actor{ID: "x:ann"},
	})
	return r
}

func (r *room) say(text string) core.Outcome {
	return r.harness.Send(r.ctx, "s@1", core.Message{Role: core.User, Content: core.Text(text)})
}

func (r *room) asked(o core.Outcome) core.ApprovalRequest {
	r.t.Helper()
	s, ok := o.(core.Suspended)
	if !ok {
		r.t.Fatalf("outcome %+v, want suspended", o)
	}
	if s.Descriptor.Approval == nil {
		r.t.Fatalf("%+v asks for no approval", s.Descriptor)
	}
	return *s.Descriptor.Approval
}

func (r *room) bound(o core.Outcome) core.Binding { return r.asked(o).Call.Bound }

// decide settles what a suspended outcome waits for and resumes it.
func (r *room) decide(o core.Outcome, state core.ApprovalState, reason string) core.Outcome {
	r.t.Helper()
	req := r.asked(o)
	s := o.(core.Suspended)
	if r.spoil != nil {
		r.spoil(&req.Call.Bound)
	}
	a := core.Approval{
		ID: core.ApprovalID(s.Descriptor.SignalID), Invocation: s.Invocation, Call: req.Call, State: state,
		Reason: reason, DecidedBy: core.Actor{ID: "x:bob", Name: "Bob"},
	}
	if r.change != nil {
		r.change(&a)
	}
	r.approvals[a.ID] = a
	var p core.SignalPayload
	if err := json.Unmarshal(a.Signal().Payload, &p); err != nil {
		r.t.Fatal(err)
	}
	return r.harness.Resume(r.ctx, chat.Signal{SignalID: p.SignalID, Invocation: p.Invocation, Payload: p.Payload})
}

// texts are the assistant's texts in an outcome.
func texts(o core.Outcome) string {
	var msgs []core.Message
	switch o := o.(type) {
	case core.Completed:
		msgs = o.Replies
	case core.Suspended:
		msgs = o.Pending
	case core.Errored:
		return "error " + string(o.Category) + ": " + o.Reply.Content.String()
	}
	var all []string
	for _, m := range msgs {
		if s := m.Content.String(); m.Role == core.Assistant && s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, " | ")
}

var ask = core.Rule{Verdict: core.VerdictAsk}

func TestDemo(t *testing.T) {
	r := newRoom(t, agent.Demo{}, ask)
	for _, c := range [][2]string{
		{"hello there", "Hello!"},
		{"How are you?", "I am well"},
		{"thanks!", "welcome"},
		{"help", "note add milk"},
		{"calc 2+3*4", "2+3*4 = 14"},
		{"calc 1/0", "Division by zero."},
		{"calc", "What should I calculate?"},
		{`call demo.calc {"expression": "2+3"}`, "5"},
		{`call demo.calc {“expression”: “2+3”}`, "5"},
		{
			`call demo.calc {"expression": 2}`,
			"The arguments of demo.calc do not fit its schema: expression: this is a JSON number, not string.",
		},
		{"call demo.calc", "The arguments of demo.calc do not fit its schema: missing expression."},
		{"call demo.calc 2+3", "The arguments are not a JSON object."},
		{"call no.such {}", `There is no tool "no.such".`},
		{"call me later", "I am only the demo agent"},
		{"time", "It is Saturday, 21 November 2026, 12:00:00 UTC."},
		{"time in Europe/Berlin", "13:00:00 CET"},
		{"note list", "The note book is empty."},
		{"note add", "What should I add?"},
		{"note burn", "I know two note commands"},
		{"xyzzy", "did not understand"},
	} {
		if got := texts(r.say(c[0])); !strings.Contains(got, c[1]) {
			t.Errorf("%s: %q, want %q in it", c[0], got, c[1])
		}
	}
}

func TestDemoCallsAreStoredLikeAModelsCalls(t *testing.T) {
	r := newRoom(t, agent.Demo{}, ask)
	done, ok := r.say("calc 2+3*4").(core.Completed)
	if !ok || len(done.Replies) != 3 {
		t.Fatalf("%+v", done)
	}
	call, result, text := done.Replies[0], done.Replies[1], done.Replies[2]
	if len(call.ToolCalls) != 1 || call.ToolCalls[0].Name != "demo.calc" || !call.Content.IsZero() {
		t.Errorf("call: %+v", call)
	}
	if result.Role != core.ToolRole || result.ToolCallID != call.ToolCalls[0].ID || result.Content.String() != "14" {
		t.Errorf("result: %+v", result)
	}
	if text.Role != core.Assistant || text.Content.String() != "2+3*4 = 14" {
		t.Errorf("text: %+v", text)
	}
}

func TestApprovedDeniedExpiredCancelled(t *testing.T) {
	for state, want := range map[core.ApprovalState]string{
		core.Approved:  "Done: “milk” is in the note book.",
		core.Denied:    "I did not add it. Denied by Bob: too early",
		core.Expired:   "I did not add it. The approval expired without a decision.",
		core.Cancelled: "I did not add it. Cancelled: too early",
	} {
		r := newRoom(t, agent.Demo{}, ask)
		asked := r.say("note add milk")
		if got := texts(asked); got != "I need an approval first: Add “milk” to the note book." {
			t.Errorf("pending: %q", got)
		}
		if len(r.book.notes) != 0 {
			t.Fatal("the tool ran before it was approved")
		}
		reason := ""
		if state != core.Approved && state != core.Expired {
			reason = "too early"
		}
		if got := texts(r.decide(asked, state, reason)); got != want {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
		if len(r.outcomes) != 1 || (len(r.book.notes) == 1) != (state == core.Approved) {
			t.Errorf("%s: %d outcomes, notes %v", state, len(r.outcomes), r.book.notes)
		}
	}
}

func TestLaw6_MessagesDuringAPauseAreKept(t *testing.T) {
	r := newRoom(t, agent.Demo{}, ask)
	asked := r.say("note add milk")
	if got := texts(r.say("calc 1+1")); got != "1+1 = 2" {
		t.Fatalf("while it waits: %q", got)
	}
	if got := texts(r.decide(asked, core.Approved, "")); got != "Done: “milk” is in the note book." {
		t.Errorf("resumed: %q", got)
	}
	if got := texts(r.say("note list")); got != "In the note book:\n• milk" {
		t.Errorf("after: %q", got)
	}
}

func TestPolicyAllowsOrDeniesWithoutAPendingMessage(t *testing.T) {
	r := newRoom(t, agent.Demo{}, core.Rule{Verdict: core.VerdictDeny, Why: "Not on Sundays."})
	if got := texts(r.say("note add milk")); got != "I did not add it. Not on Sundays." {
		t.Errorf("deny: %q", got)
	}
	r = newRoom(t, agent.Demo{}, core.Rule{Verdict: core.VerdictAllow})
	asked := r.say("note add milk")
	if got := texts(asked); got != "" {
		t.Errorf("an allowed call says nothing while it is recorded: %q", got)
	}
	if got := texts(r.decide(asked, core.Approved, "")); !strings.Contains(got, "Done") || len(r.book.notes) != 1 {
		t.Errorf("allow: %q, %v", got, r.book.notes)
	}
	r = newRoom(t, agent.Demo{}, core.Rule{Verdict: "whatever"})
	if _, ok := r.say("note add milk").(core.Completed); !ok || len(r.book.notes) != 0 {
		t.Error("an unknown verdict must refuse")
	}
}

// script is a model that answers each question with the next of its lines.
type script struct {
	lines []core.Message
	stops []llm.Finish // why each of them stopped; none left: not reported
	typed int          // how many of the first had calls that were written as text
	asked [][]core.Message
}

func (s *script) Next(ctx context.Context, history core.History, _ json.RawMessage) (agent.Answer, error) {
	shown, err := history.From(ctx, 0)
	if err != nil {
		return agent.Answer{}, err
	}
	s.asked = append(s.asked, shown)
	if len(s.lines) == 0 {
		return agent.Answer{Message: core.Message{Content: core.Text("end")}}, nil
	}
	a := agent.Answer{Message: s.lines[0], Typed: s.typed > 0}
	s.lines = s.lines[1:]
	s.typed--
	if len(s.stops) > 0 {
		a.Finish, s.stops = s.stops[0], s.stops[1:]
	}
	return a, nil
}

func use(id, name, args string) core.ToolCall {
	return core.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(args)}
}

func TestSeveralCallsOfOneMessageRunOneAtATimeAndEachNeedsAnApproval(t *testing.T) {
	r := newRoom(t, &script{lines: []core.Message{{ToolCalls: []core.ToolCall{
		use("same", "note.add", `{"text":"one"}`), use("same", "demo.calc", `{"expression":"1+1"}`),
		use("same", "note.add", `{"text":"two"}`), use("x", "nothing_like_it", `{}`), use("y", "demo.calc", `null`),
	}}}}, ask)
	first := r.say("go")
	second := r.decide(first, core.Approved, "")
	if _, ok := second.(core.Suspended); !ok || !slices.Equal(r.book.notes, []string{"one"}) {
		t.Fatalf("after the first: %+v, notes %v", second, r.book.notes)
	}
	last, ok := r.decide(second, core.Denied, "enough").(core.Completed)
	if !ok || !slices.Equal(r.book.notes, []string{"one"}) {
		t.Fatalf("after the second: %+v, notes %v", last, r.book.notes)
	}
	var results []string
	for _, m := range last.Replies {
		if m.Role == core.ToolRole {
			f, _ := tool.FailureOf(m.Content.String())
			results = append(results, string(f.Category))
		}
	}
	if !slices.Equal(results, []string{"approval_denied", "tool_unknown", "tool_arguments"}) {
		t.Errorf("results: %v", results)
	}
	if len(r.outcomes) != 2 {
		t.Errorf("%d outcomes, want the second suspension and the end", len(r.outcomes))
	}
}

func TestASignalForAnotherPauseConsumesNothing(t *testing.T) {
	r := newRoom(t, agent.Demo{}, ask)
	asked := r.say("note add milk").(core.Suspended)
	other := r.harness.Resume(r.ctx, chat.Signal{SignalID: "somebody-else", Invocation: asked.Invocation})
	if e, ok := other.(core.Errored); !ok || e.Category != core.SuspensionRecordInvalid {
		t.Fatalf("%+v", other)
	}
	if got := texts(r.decide(asked, core.Approved, "")); !strings.Contains(got, "Done") {
		t.Errorf("the right signal: %q", got)
	}
	if e, ok := r.decide(asked, core.Approved, "").(core.Errored); !ok || len(r.book.notes) != 1 {
		t.Errorf("a second resume: %+v, notes %v", e, r.book.notes)
	}
}

func TestEcho(t *testing.T) {
	compiled, err := agent.Echo(0, nil)
	if err != nil {
		t.Fatal(err)
	}
	mem := graph.NewMemory()
	h, err := chat.New(chat.Options{Graph: compiled, Stores: graph.Stores{Sessions: mem, Pauses: mem}})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	if got := texts(h.Send(ctx, "s@1", core.Message{Role: core.User, Content: core.Text("hey")})); got != "echo: hey" {
		t.Errorf("%q", got)
	}
	slow, err := agent.Echo(time.Hour, nil)
	if err != nil {
		t.Fatal(err)
	}
	if h, err = chat.New(chat.Options{Graph: slow, Stores: graph.Stores{Sessions: mem, Pauses: mem}}); err != nil {
		t.Fatal(err)
	}
	if got := texts(
		h.Send(ctx,
			"s@1",
			core.Message{
				Role: core.User, Content: core.Text(agent.AtOnce + ", please"),
			})); got != "echo: at once, please" {
		t.Errorf("without the delay: %q", got)
	}
	ctx, cancel := context.WithCancel(ctx)
	cancel()
	if _, ok := h.Send(ctx, "s@1", core.Message{Role: core.User, Content: core.Text("hey")}).(core.Errored); !ok {
		t.Error("a cancelled turn must end")
	}
}
