package dispatch_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/dispatch"
	"gatehouse/core/tool"
)

// two asks for a mutating call and, in the same message, for a slow read-only one.
type two struct{}

func (two) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	tail, err := h.Tail(ctx, 1)
	if err == nil && tail[0].Content.String() == "go" {
		return agent.Answer{Message: core.Message{ToolCalls: []core.ToolCall{
			{ID: "c1", Name: "note.add", Arguments: json.RawMessage(`{"text":"milk"}`)},
			{ID: "c2", Name: "slow.read", Arguments: json.RawMessage(`{}`)},
		}}}, nil
	}
	return agent.Answer{Message: core.Message{Content: core.Text("said")}}, err
}

func TestOpenCallDoesNotGetTheResultOfAnother(t *testing.T) {
	began := make(chan struct{}, 1)
	slowread := tool.Tool{
		Name: "slow.read", Do: func(ctx context.Context, _ string, _ json.RawMessage) (string, error) {
			began <- struct{}{}
			<-ctx.Done()
			return "", ctx.Err()
		},
	}
	b := newBench(t, setup{model: two{}, tools: []tool.Tool{slowread}})
	b.say("room:1", "go")
	card := b.asked()
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	<-began
	b.ended(b.word("room:1", "stop").Seq)
	for range 2 {
		b.heard()
	}
	for i := 0; i < 1000 && len(core.OpenCalls(b.history("room:1@1"))) > 0; i++ {
		settle()
	}
	for _, m := range b.history("room:1@1") {
		t.Logf("%s %s %q", m.Role, m.ToolCallID, m.Content.String())
		if m.ToolCallID == "c2" && !strings.Contains(m.Content.String(), "error") {
			t.Errorf("the stopped call c2 (slowread) is answered with c1's result: %q", m.Content.String())
		}
	}
}

func TestMessageLimitDoesNotApplyToDecisions(t *testing.T) {
	b := newBench(t, setup{options: func(o *dispatch.Options) { o.MaxMessage = 200 }})
	b.say("room:1", "note add milk")
	card := b.asked()
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	d := b.heard()
	if !strings.Contains(d.Text, "Done") {
		t.Errorf("the approved turn died: %q; notes %v", d.Text, b.notes("room:1"))
	}
}

// flaky is a store that can fail one call of each kind.
type flaky struct {
	dispatch.Store
	paused, approval, settle atomic.Int32
	voidEnds                 atomic.Bool
}

func busy() error { return core.Errorf(core.StoreBusy, "busy") }

func (f *flaky) LoadPaused(ctx context.Context, id core.InvocationID, s core.SignalID) (*core.PausedRecord, error) {
	if f.paused.Add(-1) >= 0 {
		return nil, busy()
	}
	return f.Store.LoadPaused(ctx, id, s)
}

func (f *flaky) LoadApproval(ctx context.Context, id core.ApprovalID) (core.Approval, error) {
	if f.approval.Add(-1) >= 0 {
		return core.Approval{}, busy()
	}
	return f.Store.LoadApproval(ctx, id)
}

func (f *flaky) FinishIntent(ctx context.Context, c core.Claim, id core.ApprovalID, r core.ToolResult) error {
	if f.settle.Add(-1) >= 0 {
		return busy()
	}
	return f.Store.FinishIntent(ctx, c, id, r)
}

func (f *flaky) Release(ctx context.Context, c core.Claim) error {
	if f.voidEnds.Load() {
		return core.Errorf(core.ClaimLost, "dead")
	}
	return f.Store.Release(ctx, c)
}

type modelFunc func(ctx context.Context, h core.History) (agent.Answer, error)

func (m modelFunc) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	return m(ctx, h)
}

func TestLaw2_FailedReadLeavesNoTurnPaused(t *testing.T) {
	var f *flaky
	var once sync.Once
	model := modelFunc(func(ctx context.Context, h core.History) (agent.Answer, error) {
		tail, err := h.Tail(ctx, 1)
		if err == nil && tail[0].Role == core.ToolRole {
			once.Do(func() { f.paused.Store(1) }) // the next read of the paused record fails
			return agent.Answer{}, core.Errorf(core.ProviderInvalidRequest, "too long")
		}
		return agent.Demo{}.Next(ctx, h, nil)
	})
	b := newBench(t, setup{model: model, options: func(o *dispatch.Options) {
		f = &flaky{Store: o.Store}
		o.Store = f
	}})
	b.say("room:1", "note add milk")
	card := b.asked()
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	b.heard()
	events, _ := b.store.Events(t.Context(), core.EventFilter{Conversation: "room:1"})
	for _, e := range events {
		t.Logf("%s %+v", e.Kind(), e.End)
	}
	rec, err := b.store.LoadPaused(t.Context(), "", core.SignalID(card.Approval))
	if rec != nil || err != nil {
		t.Errorf("every event ended, but the paused turn still waits: %v %v", rec.Invocation, err)
	}
}

func TestResumedTurnActsForTheRequester(t *testing.T) {
	var f *flaky
	model := modelFunc(func(ctx context.Context, h core.History) (agent.Answer, error) {
		tail, err := h.Tail(ctx, 1)
		if err == nil && tail[0].Role == core.ToolRole {
			return agent.Answer{Message: core.Message{ToolCalls: []core.ToolCall{{
				ID: "x", Name: "note.add", Arguments: json.RawMessage(`{"text":"more"}`),
			}}}}, nil
		}
		return agent.Demo{}.Next(ctx, h, nil)
	})
	b := newBench(t, setup{model: model, options: func(o *dispatch.Options) {
		f = &flaky{Store: o.Store}
		o.Store = f
	}})
	b.say("room:1", "note add milk")
	card := b.asked()
	f.approval.Store(1)
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	second := b.asked()
	if second.Requester != "Ann" {
		t.Errorf("the second approval was asked for by %q, not by Ann", second.Requester)
	}
}

func TestLaw5_ResultIsStoredAfterABusyStore(t *testing.T) {
	var f *flaky
	b := newBench(t, setup{options: func(o *dispatch.Options) { f = &flaky{Store: o.Store}; o.Store = f }})
	b.say("room:1", "note add milk")
	card := b.asked()
	f.settle.Store(1)
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	d := b.heard()
	if !strings.Contains(d.Text, "Done") {
		t.Errorf("the tool succeeded once, the store was busy once, the process lived: %q", d.Text)
	}
}

type parser struct {
	*room
	began chan struct{}
}

func (p parser) Parse(ctx context.Context, e core.Event) (core.Input, error) {
	select {
	case p.began <- struct{}{}:
		<-ctx.Done() // as an HTTP request or a database query does
		return core.Input{}, ctx.Err()
	default:
		return p.room.Parse(ctx, e)
	}
}

func TestDrainDuringParseReleasesTheEvent(t *testing.T) {
	began := make(chan struct{}, 1)
	b := newBench(t, setup{options: func(o *dispatch.Options) {
		o.Drain = time.Millisecond
		o.Platforms = []core.Platform{parser{o.Platforms[0].(*room), began}}
	}})
	r := b.say("room:1", "hello")
	for len(began) == 0 {
		settle()
	}
	b.stop()
	again := newBench(t, setup{path: b.path})
	again.expect("Hello")
	if e := again.ended(r.Seq); e.Retries != 0 {
		t.Errorf("handed back at a graceful stop, but retries = %d (cause %q)", e.Retries, e.End.Cause)
	}
}

func TestStopDuringParse(t *testing.T) {
	began := make(chan struct{}, 1)
	var f *flaky
	b := newBench(t, setup{options: func(o *dispatch.Options) {
		o.Platforms = []core.Platform{parser{o.Platforms[0].(*room), began}}
		f = &flaky{Store: o.Store}
		o.Store = f
	}})
	r := b.say("room:1", "hello")
	for len(began) == 0 {
		settle()
	}
	b.word("room:1", "stop")
	b.expect("Stopped.")
	if e := b.ended(r.Seq); e.End.Kind != core.EndWithdrawn {
		t.Errorf("stopped, and yet %+v; retries %d", e.End, e.Retries)
	}
}

// A decision whose turn has failed can't be retried. If a retry were accepted, it would have to end visibly.
func TestRetryOfADecisionWhoseTurnEndedIsRefused(t *testing.T) {
	model := modelFunc(func(ctx context.Context, h core.History) (agent.Answer, error) {
		tail, err := h.Tail(ctx, 1)
		if err == nil && tail[0].Role == core.ToolRole {
			return agent.Answer{}, core.Errorf(core.ProviderInvalidRequest, "too long")
		}
		return agent.Demo{}.Next(ctx, h, nil)
	})
	b := newBench(t, setup{model: model})
	b.say("room:1", "note add milk")
	card := b.asked()
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	var failed core.EventRecord
	for failed.Seq == 0 {
		events, _ := b.store.Events(t.Context(), core.EventFilter{Ends: []core.EndKind{core.EndErrored}})
		if len(events) > 0 {
			failed = events[0]
		}
		settle()
	}
	r, err := b.store.Retry(t.Context(), failed.Seq)
	if core.CategoryOf(err) == core.Invalid {
		return // refused with a message
	}
	if err != nil {
		t.Fatal(err)
	}
	b.disp.Nudge()
	e := b.ended(r.Seq)
	posts, _ := b.store.ListPosts(t.Context(), nil, "room:1", 0)
	n := 0
	for _, p := range posts {
		if p.Event == r.Seq {
			n++
		}
	}
	if e.End.Kind == core.EndIgnored && n == 0 {
		t.Errorf("the retry was accepted and silently did nothing: %+v", e.End)
	}
}

func TestLaw8_SecretsAreMaskedInEveryPostAboutACall(t *testing.T) {
	b := newBench(t, setup{})
	b.say("room:1", "note add ghp_0123456789abcdefghij0123456789ABCDEF")
	card := b.heard()
	b.word("room:1", "status")
	status := b.heard()
	if strings.Contains(card.Card.Summary, "ghp_01234") {
		t.Error("card", card.Card.Summary)
	}
	if strings.Contains(status.Text, "ghp_01234") {
		t.Error("status:", status.Text)
	}
	b.click("room:1", card.Card.Approval, "room:bob", core.Deny, "leaks ghp_0123456789abcdefghij0123456789ABCDEF")
	if d := b.redrawn(); strings.Contains(d.Card.Reason, "ghp_01234") {
		t.Error("card's reason:", d.Card.Reason)
	}
}

// A tool has run, the model is down and the signal waits for its retry. "New conversation" then ends the turn and must
// report what was done.
func TestNewConversationReportsWhatWasDone(t *testing.T) {
	model := modelFunc(func(ctx context.Context, h core.History) (agent.Answer, error) {
		tail, err := h.Tail(ctx, 1)
		if err == nil && tail[0].Role == core.ToolRole {
			return agent.Answer{}, core.Errorf(core.StoreBusy, "down")
		}
		return agent.Demo{}.Next(ctx, h, nil)
	})
	b := newBench(t, setup{model: model, options: func(o *dispatch.Options) { o.Jitter = func() float64 { return 1 } }})
	b.say("room:1", "note add milk")
	card := b.asked()
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	for len(b.notes("room:1")) == 0 {
		settle()
	}
	settle()
	r := b.accept(core.Event{Conversation: "room:1", Body: core.ResetEvent{}})
	b.ended(r.Seq)
	settle()
	posts, _ := b.store.ListPosts(t.Context(), nil, "room:1", 0)
	told := false
	for _, p := range posts {
		t.Logf("%s %q %s", p.Kind, p.Text, p.Approval)
		told = told || strings.Contains(p.Text, "done")
	}
	if !told {
		t.Error("the note was written, its turn was closed, and nobody was told")
	}
	st, _ := b.store.Stop(t.Context(), "room:1", core.Actor{})
	t.Logf("%+v", st)
}
