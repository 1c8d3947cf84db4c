package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/approvals"
	"gatehouse/approvals/policy"
	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/dispatch"
	"gatehouse/core/graph"
	"gatehouse/core/schedule"
	"gatehouse/core/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRepeatedMessageIsAnsweredOnce(t *testing.T) {
	b := newBench(t, setup{})
	for range 3 {
		b.accept(
			core.Event{ID: "same", Conversation: "room:1", Body: core.MessageEvent{}, Payload: []byte(`"calc 2+3*4"`)})
	}
	b.expect("2+3*4 = 14")
	last := b.say("room:1", "thanks")
	b.expect("You are welcome.")
	if e := b.ended(last.Seq); e.End.Kind != core.EndReplied || e.Session != "room:1@1" || e.Attempt != 1 {
		t.Errorf("%+v", e)
	}
	if got := len(b.history("room:1@1")); got != 6 {
		t.Errorf("%d messages in the history, want 6", got)
	}
}

func TestTurnWithoutReplyEndsAsNothingToSay(t *testing.T) {
	quiet, err := graph.New("quiet", "1").Fields(graph.Messages).Session("messages").Entry("n").
		Node("n", func(context.Context, graph.State) (graph.Update, error) {
			return nil, nil
		}).Edge("n", graph.END).Compile()
	if err != nil {
		t.Fatal(err)
	}
	b := newBench(t, setup{compiled: quiet})
	if e := b.ended(b.say("room:1", "hm").Seq); e.End.Kind != core.EndNothing {
		t.Errorf("%+v", e.End)
	}
}

func TestApprovalFromMessageToReply(t *testing.T) {
	b := newBench(t, setup{})
	first := b.say("room:1", "note add milk")
	card := b.asked()
	if card.Summary != "Add “milk” to the note book." || !strings.Contains(card.Arguments, `"text": "milk"`) ||
		card.Requester != "Ann" {
		t.Errorf("card: %+v", card)
	}
	if e := b.ended(first.Seq); e.End.Kind != core.EndSuspended {
		t.Errorf("%+v", e.End)
	}
	t.Run("Law4_SuspendedMeansGone", func(t *testing.T) {
		q, err := b.store.Queue(t.Context(), 0)
		if err != nil || len(q.Entries) != 0 || q.Approvals != 1 {
			t.Errorf("queue while suspended: %+v, %v", q, err)
		}
	})
	stranger := b.click("room:1", card.Approval, "room:eve", core.Approve, "")
	if d := b.heard(); d.Kind != core.PostPrivate || d.Person != "room:eve" ||
		!strings.Contains(d.Text, "not an approver") {
		t.Errorf("a stranger hears %+v", d)
	}
	if e := b.ended(stranger.Seq); e.End.Kind != core.EndIgnored || e.End.Category != core.NotAllowed ||
		len(b.notes("room:1")) != 0 {
		t.Errorf("%+v", e.End)
	}
	click := b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	if d := b.redrawn(); d.Card == nil || d.Card.State != core.Approved || d.Card.DecidedBy != "room:bob" {
		t.Errorf("the card after the decision: %+v", d.Card)
	}
	b.expect("Done: “milk” is in the note book.")
	if e := b.ended(click.Seq); e.End.Kind != core.EndDecided {
		t.Errorf("%+v", e.End)
	}
	b.click("room:1", card.Approval, "room:bob", core.Deny, "")
	b.expect("approved by room:bob")
	if got := b.notes("room:1"); len(got) != 1 {
		t.Errorf("notes: %v", got)
	}
}

func TestReplyContainsTheReasonOfARefusal(t *testing.T) {
	b := newBench(t, setup{})
	b.say("room:1", "note add milk")
	card := b.asked()
	b.click("room:1", card.Approval, "room:bob", core.Deny, "too early")
	b.expect("Denied by room:bob: too early")
	if len(b.notes("room:1")) != 0 {
		t.Error("a refused note was written")
	}
}

func TestPolicyAllowStoresDecisionAndSignalTogether(t *testing.T) {
	b := newBench(t, setup{policy: allow{}.Rule})
	b.say("room:1", "note add milk")
	b.expect("Done: “milk”")
	all, err := b.store.ListApprovals(t.Context(), core.ApprovalFilter{})
	if err != nil || len(all) != 1 || all[0].State != core.Approved || all[0].DecidedBy.ID != "policy" ||
		!all[0].Begun {
		t.Errorf("%+v, %v", all, err)
	}
}

type allow struct{}

func (allow) Rule(core.Turn, core.Call) core.Rule {
	return core.Rule{Name: "test", Verdict: core.VerdictAllow}
}

// fails is a model that fails a number of times with a category.
type fails struct {
	times    *atomic.Int64
	category core.Category
}

func (f fails) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	if f.times.Add(-1) >= 0 {
		return agent.Answer{}, core.Wrap(f.category, errors.New("host db1 refused"), "the context is too long")
	}
	return agent.Demo{}.Next(ctx, h, nil)
}

func failing(times int64, c core.Category) fails {
	f := fails{times: new(atomic.Int64), category: c}
	f.times.Store(times)
	return f
}

func TestErrorsEndInTheirBucket(t *testing.T) {
	for name, c := range map[string]struct {
		model   fails
		want    string
		end     core.EndKind
		retries int
		bucket  core.Bucket
	}{
		"a transient fault heals": {failing(2, core.StoreBusy), "Hello!", core.EndReplied, 2, ""},
		"a model that does not answer": {
			failing(1, core.ProviderUnavailable), "I had trouble responding", core.EndErrored, 0,
			core.RetryableTransient,
		},
		"a transient fault that stays": {
			failing(99, core.Internal), "I had trouble responding", core.EndErrored, 3, core.RetryableTransient,
		},
		"a request that can't be served": {
			failing(99, core.ProviderInvalidRequest), "the context is too long", core.EndErrored, 0,
			core.UserCorrectable,
		},
		"a session that is broken": {
			failing(99, core.SessionLoadFailed), "can't continue", core.EndErrored, 0, core.SessionTerminating,
		},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, setup{model: c.model})
			r := b.say("room:1", "hello")
			d := b.expect(c.want)
			e := b.ended(r.Seq)
			if e.End.Kind != c.end || e.Retries != c.retries || e.Attempt != 1 || d.Bucket != c.bucket ||
				strings.Contains(d.Text, "db1") {
				t.Errorf("%+v retries %d attempt %d; said %q in %q", e.End, e.Retries, e.Attempt, d.Text, d.Bucket)
			}
			if kept := len(b.history("room:1@1")); c.end == core.EndErrored && kept != 0 {
				t.Errorf("an errored turn left %d messages", kept)
			}
		})
	}
}

func TestMalformedAndOversizedEventsAreAnswered(t *testing.T) {
	b := newBench(t, setup{options: func(o *dispatch.Options) { o.MaxMessage = 100 }})
	b.accept(core.Event{Conversation: "room:1", Body: core.MessageEvent{}, Payload: []byte(`{}`)})
	b.expect("That is no text.")
	b.say("room:1", strings.Repeat("x", 200))
	b.expect("too large. The limit is 100 bytes")
	b.accept(core.Event{Conversation: "room:1", Body: core.MessageEvent{}, Payload: []byte(`""`)})
	b.expect("adjust your message")
}

func TestDeadLetterAfterFiveAttempts(t *testing.T) {
	b := newBench(t, setup{idle: true})
	r := b.say("room:1", "hello")
	for range 5 { // five processes that begin the turn and crash
		if claims := b.die(1); len(claims) != 1 {
			t.Fatalf("%v", claims)
		}
	}
	b.stop()
	again := newBench(t, setup{path: b.path})
	again.expect("the program crashed each time")
	if e := again.ended(r.Seq); e.End.Kind != core.EndDead || !strings.Contains(e.End.Cause, "5 attempts") ||
		!strings.Contains(e.End.Cause, "gatehouse itself ended 5 times") {
		t.Errorf("%+v", e.End)
	}
	again.say("room:1", "hello")
	again.expect("Hello!")
}

// slow is a model that answers "think" only once its context ends.
type slow struct{ began chan struct{} }

func (s slow) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	tail, err := h.Tail(ctx, 1)
	if err == nil && tail[0].Content.String() == "think" {
		s.began <- struct{}{}
		<-ctx.Done()
		return agent.Answer{}, ctx.Err()
	}
	return agent.Demo{}.Next(ctx, h, nil)
}

func TestLaw3_ClickAndStopDoNotWaitBehindATurnAndMessagesDo(t *testing.T) {
	s := slow{began: make(chan struct{}, 1)}
	b := newBench(t, setup{model: s, options: func(o *dispatch.Options) { o.Workers = 1 }})
	b.say("room:1", "note add milk")
	card := b.asked()
	long := b.say("room:1", "think")
	<-s.began
	after := b.say("room:1", "hello")
	click := b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	if d := b.redrawn(); d.Card.State != core.Approved {
		t.Errorf("the click: %+v", d.Card)
	}
	if e := b.ended(click.Seq); e.End.Kind != core.EndDecided {
		t.Errorf("%+v", e.End)
	}
	if e := b.event(after.Seq); !e.EndedAt.IsZero() {
		t.Error("the message overtook the turn")
	}
	asked := time.Now()
	stop := b.word("room:1", "stop")
	e := b.ended(long.Seq)
	if took := e.EndedAt.Sub(asked); took > time.Second || e.End.Kind != core.EndWithdrawn ||
		e.End.Category != core.Stopped {
		t.Errorf("stop took %v: %+v", took, e.End)
	}
	b.ended(stop.Seq)
	b.ended(after.Seq)
	got := map[string]bool{}
	for range 3 {
		got[b.heard().Text] = true
	}
	for _, want := range []string{
		"Stopped.", "Done: “milk” is in the note book.",
		"Hello! I am gatehouse's demo agent. Say help to see what I can do.",
	} {
		if !got[want] {
			t.Errorf("heard %v, missing %q", got, want)
		}
	}
	signal, err := b.store.Events(t.Context(), core.EventFilter{Conversation: "room:1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range signal {
		if x.Kind() == core.KindSignal && x.EndedAt.After(b.event(after.Seq).EndedAt) {
			t.Error("the signal did not overtake the waiting message")
		}
	}
}

// lever is a mutating tool that runs until it is released.
func lever(began, let chan struct{}) tool.Tool {
	return tool.Tool{Name: "lever.pull", Mutating: true, Summarize: func(json.RawMessage) string {
		return "Pull the lever."
	},
		Do: func(ctx context.Context, _ string, _ json.RawMessage) (string, error) {
			began <- struct{}{}
			<-let
			return "pulled", ctx.Err()
		}}
}

// puller is a model that calls the lever once.
type puller struct{}

func (puller) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	tail, err := h.Tail(ctx, 1)
	if err == nil && tail[0].Content.String() == "pull" {
		return agent.Answer{Message: core.Message{ToolCalls: []core.ToolCall{{
			ID: "c", Name: "lever.pull", Arguments: json.RawMessage(`{}`),
		}}}}, nil
	}
	return agent.Answer{Message: core.Message{Content: core.Text("said")}}, err
}

// hearing is a store that reports when a turn has read the stop request.
type hearing struct {
	dispatch.Store
	heard chan struct{}
}

func (h *hearing) Holds(ctx context.Context, owner string, stops bool) ([]core.Hold, error) {
	all, err := h.Store.Holds(ctx, owner, stops)
	if slices.ContainsFunc(all, func(h core.Hold) bool { return h.Stop }) {
		select {
		case h.heard <- struct{}{}:
		default:
		}
	}
	return all, err
}

func TestLaw5_StopDoesNotCutAMutatingTool(t *testing.T) {
	began, let, heard := make(chan struct{}), make(chan struct{}), make(chan struct{})
	b := newBench(t, setup{model: puller{}, tools: []tool.Tool{lever(began, let)}, options: func(o *dispatch.Options) {
		o.Store = &hearing{Store: o.Store, heard: heard}
	}})
	b.say("room:1", "pull")
	card := b.asked()
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	<-began
	stop := b.word("room:1", "stop")
	b.expect(
		"This call has begun and goes on; its result will be posted here, and nothing else will be done after it: " +
			"Pull the lever.")
	b.ended(stop.Seq)
	signals, err := b.store.Events(t.Context(), core.EventFilter{Conversation: "room:1", Waiting: true})
	if err != nil || len(signals) != 1 {
		t.Fatalf("the turn must go on until the tool is done: %+v, %v", signals, err)
	}
	<-heard
	<-heard // the first stop was processed
	close(let)
	b.expect("This was done before: Pull the lever.\nIts result: pulled")
	if e := b.ended(signals[0].Seq); e.End.Kind != core.EndWithdrawn {
		t.Errorf("%+v", e.End)
	}
	intent, err := b.store.LoadIntent(t.Context(), card.Approval)
	if err != nil || intent == nil || intent.Result == nil || intent.Result.Content != "pulled" ||
		intent.Result.Category != "" {
		t.Errorf("%+v, %v", intent, err)
	}
	said := b.history("room:1@1")
	if last := said[len(said)-1]; last.Role != core.ToolRole || last.Content.String() != "pulled" {
		t.Errorf("the history must tell what was done: %+v", last)
	}
}

func TestLaw7_ExpiryDiffersFromRefusal(t *testing.T) {
	b := newBench(t, setup{policy: policy.Defaults{Approvers: []string{"room:bob"}, Timeout: time.Nanosecond}.Rule})
	b.say("room:1", "note add milk")
	card := b.heard().Card
	late := b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	b.expect("This approval expired at ")
	b.ended(late.Seq)
	clock := schedule.New(
		schedule.Options{Store: b.store, Approvals: approvals.NewService(b.store, b.store), Turns: b.disp})
	if err := clock.Due(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.expect("The approval expired without a decision.")
	if d := b.redrawn(); d.Card.State != core.Expired {
		t.Errorf("%+v", d.Card)
	}
}

func TestStopWithoutARunningTurn(t *testing.T) {
	b := newBench(t, setup{})
	b.word("room:1", "stop")
	b.expect("Nothing is running.")
	b.word("room:1", "status")
	b.expect("Nothing is waiting.")
	b.word("room:1", "help")
	b.expect("!new starts a new conversation, !stop stops")
	if e := b.ended(b.word("room:1", "dance").Seq); e.End.Kind != core.EndIgnored {
		t.Errorf("%+v", e.End)
	}
}

func TestStatusSaysWhatRunsAndWhatWaits(t *testing.T) {
	const running, message, decided, approval = "I am working on a message.", "Messages waiting: 2.",
		"Decided requests waiting to go on: 1.",
		"Waiting for an approval: Add “bread” to the note book. (expires in 2 hours)"
	s := slow{began: make(chan struct{}, 1)}
	b := newBench(t,
		setup{
			model: s, policy: policy.Defaults{Approvers: []string{"room:bob"}, Timeout: 3*time.Hour - time.Minute}.Rule,
		})
	status := func(want ...string) {
		t.Helper()
		b.word("room:1", "status")
		if got := b.heard().Text; got != strings.Join(want, "\n") {
			t.Errorf("status says %q, want %q", got, want)
		}
	}
	status("Nothing is waiting.")
	b.say("room:1", "note add milk")
	milk := b.asked()
	b.say("room:1", "note add bread")
	b.asked()
	long := b.say("room:1", "think")
	<-s.began
	status(running, approval, strings.ReplaceAll(approval, "bread", "milk"))
	b.ended(b.click("room:1", milk.Approval, "room:bob", core.Approve, "").Seq)
	status(running, decided, approval)
	b.say("room:1", "hello")
	b.accept(core.Event{Conversation: "room:1", Body: core.ResetEvent{}})
	status(running, message, decided, approval)
	b.word("room:2", "status")
	b.expect("Nothing is waiting.")
	b.word("room:1", "stop")
	b.ended(long.Seq)
}

func TestStatusSaysThatADecidedRequestGoesOn(t *testing.T) {
	began, let := make(chan struct{}), make(chan struct{})
	b := newBench(t, setup{model: puller{}, tools: []tool.Tool{lever(began, let)}})
	b.say("room:1", "pull")
	b.click("room:1", b.asked().Approval, "room:bob", core.Approve, "")
	<-began
	b.word("room:1", "status")
	if d := b.heard(); d.Text != "I am going on with a request that was decided." {
		t.Errorf("status says %q", d.Text)
	}
	close(let)
	b.expect("said")
}

// TestManyOpenApprovals: however many wait in a conversation, a control word holds few of them at a time, and shows
// the latest.
func TestManyOpenApprovals(t *testing.T) {
	b := newBench(t, setup{policy: policy.Defaults{Approvers: []string{"room:bob"}}.Rule})
	for i := range 25 {
		payload, _ := json.Marshal(fmt.Sprintf("note add %d", i))
		who := core.Actor{ID: fmt.Sprintf("room:%d", i), Name: "Someone"}
		b.accept(core.Event{Conversation: "room:1", Actor: who, Body: core.MessageEvent{}, Payload: payload})
		b.asked()
	}
	b.word("room:1", "status")
	text := b.heard().Text
	for want, n := range map[string]int{
		"Waiting for an approval": 20, "“24”": 1, "“5”": 1, "“4”": 0, "Further requests that wait here: 5.": 1,
	} {
		if got := strings.Count(text, want); got != n {
			t.Errorf("status says %q %d times, want %d:\n%s", want, got, n, text)
		}
	}
	b.accept(core.Event{
		Conversation: "room:1", Actor: core.Actor{ID: "room:bob"}, Body: core.ControlEvent{Word: "cancel all"},
	})
	for b.heard().Text != "Approvals cancelled: 25." { // the cancelled turns say so too
	}
}

func TestStatusAndCancel(t *testing.T) {
	b := newBench(t, setup{})
	b.say("room:1", "note add milk")
	b.asked()
	b.word("room:1", "status")
	if d := b.expect("Waiting for an approval: Add “milk”"); strings.Contains(d.Text, "Nothing") {
		t.Errorf("status says %q", d.Text)
	}
	b.accept(
		core.Event{
			Conversation: "room:1", Body: core.ControlEvent{Word: "cancel"},
			Actor: core.Actor{ID: "room:eve", Name: "Eve"},
		})
	b.expect("There is no open approval that you can cancel.")
	b.word("room:1", "cancel")
	got := b.heard().Text + "|" + b.heard().Text
	if !strings.Contains(got, "Approvals cancelled: 1.") || !strings.Contains(got, "Cancelled: withdrawn by Ann") {
		t.Errorf("heard %q", got)
	}
}

// A person who may cancel several approvals says which.
func TestCancelListsSeveral(t *testing.T) {
	b := newBench(t, setup{})
	var ids []core.ApprovalID
	for _, what := range []string{"milk", "bread", "salt"} {
		b.say("room:1", "note add "+what)
		ids = append(ids, b.asked().Approval)
	}
	word := func(s string) {
		b.accept(
			core.Event{
				Conversation: "room:1", Body: core.ParseControl(s), Actor: core.Actor{ID: "room:ann", Name: "Ann"},
			})
	}
	word("cancel")
	list := b.expect("Several requests wait for an approval.").Text
	for i, what := range []string{"milk", "bread", "salt"} {
		if !strings.Contains(list, string(ids[i][:8])) || !strings.Contains(list, what) ||
			!strings.HasSuffix(list, "or !cancel all.") {
			t.Errorf("the list is %q", list)
		}
	}
	word("cancel ffffffff")
	b.expect("No approval that you can cancel begins with ffffffff.")
	word("cancel " + string(ids[1]))
	if got := b.heard().Text + "|" + b.heard().Text; !strings.Contains(got, "Approvals cancelled: 1.") ||
		!strings.Contains(got, "withdrawn by Ann") {
		t.Errorf("heard %q", got)
	}
	word("cancel all")
	if got := b.heard().Text + "|" + b.heard().Text +
		"|" + b.heard().Text; !strings.Contains(got, "Approvals cancelled: 2.") {
		t.Errorf("heard %q", got)
	}
}

func TestNewConversationEndsPausedTurns(t *testing.T) {
	b := newBench(t, setup{})
	b.say("room:1", "note add milk")
	card := b.asked()
	b.accept(core.Event{Conversation: "room:1", Body: core.ResetEvent{}})
	b.expect("This is a new conversation.")
	if d := b.redrawn(); d.Card.State != core.Cancelled || !strings.Contains(d.Card.Reason, "new conversation") {
		t.Errorf("its card: %+v", d.Card)
	}
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	b.expect("cancelled")
	r := b.say("room:1", "note list")
	b.expect("The note book is empty.")
	if e := b.ended(r.Seq); e.Session != "room:1@2" {
		t.Errorf("session %s", e.Session)
	}
	if open := core.OpenCalls(b.history("room:1@1")); len(open) != 0 {
		t.Errorf("calls that still wait in the old history: %v", open)
	}
	if open := len(b.history("room:1@2")); open != 4 {
		t.Errorf("the new history has %d messages, want its own 4", open)
	}
}

func TestDrainReleasesTheEventUnchanged(t *testing.T) {
	s := slow{began: make(chan struct{}, 1)}
	b := newBench(t, setup{model: s, options: func(o *dispatch.Options) { o.Drain = time.Millisecond }})
	r := b.say("room:1", "think")
	<-s.began
	b.stop()
	again := newBench(t, setup{path: b.path})
	again.expect("I am only the demo agent")
	if e := again.ended(r.Seq); e.Attempt != 1 || e.Retries != 0 {
		t.Errorf("attempt %d, retries %d", e.Attempt, e.Retries)
	}
}

// TestOnePersonsTurnsLeavePlacesForOthers: a person has as many turns as may wait of one person, and they take their
// time. Another's is answered at once, and so are control words.
func TestOnePersonsTurnsLeavePlacesForOthers(t *testing.T) {
	const many = 100
	s := slow{began: make(chan struct{}, many)}
	b := newBench(t, setup{model: s})
	for i := range many {
		b.say(core.ConversationID(fmt.Sprintf("room:%d", i)), "think")
	}
	for range many {
		<-s.began
	}
	if load := b.disp.Load(); load.Running != many || load.Workers != 512 || load.Full() != "" {
		t.Errorf("%+v", load)
	}
	payload, _ := json.Marshal("hello")
	other := b.accept(
		core.Event{
			Conversation: "room:other", Body: core.MessageEvent{}, Payload: payload, Actor: core.Actor{ID: "room:bob"},
		})
	if e := b.ended(other.Seq); e.End.Kind != core.EndReplied {
		t.Errorf("%+v", e.End)
	}
	b.ended(b.word("room:0", "status").Seq)
	for i := range many {
		b.word(core.ConversationID(fmt.Sprintf("room:%d", i)), "stop")
	}
	for deadline := time.Now().Add(patience); b.disp.Load().Running > 0 && time.Now().Before(deadline); {
		settle()
	}
	if load := b.disp.Load(); load.Running != 0 || load.Held != 0 {
		t.Errorf("after all were stopped: %+v", load)
	}
}

// TestLostClaimDiscardsTheTurn: the turn of a process that was silent for so long counts as one that ended its process,
// or two processes could take it from each other forever.
func TestLostClaimDiscardsTheTurn(t *testing.T) {
	s := slow{began: make(chan struct{}, 2)}
	b := newBench(t, setup{model: s})
	r := b.say("room:1", "think")
	<-s.began
	b.expire()
	<-s.began // it was claimed again
	b.word("room:1", "stop")
	if e := b.ended(r.Seq); e.End.Kind != core.EndWithdrawn || e.Attempt != 2 {
		t.Errorf("%+v, attempt %d, want 2", e.End, e.Attempt)
	}
}

func TestTurnThatCannotBeResumedEndsWithAReply(t *testing.T) {
	b := newBench(t, setup{})
	b.say("room:1", "note add milk")
	card := b.asked()
	b.stop()
	other, err := graph.New("another", "9").Fields(graph.Messages).Session("messages").Entry("n").
		Node("n", func(context.Context, graph.State) (graph.Update, error) {
			return nil, nil
		}).Edge("n", graph.END).Compile()
	if err != nil {
		t.Fatal(err)
	}
	again := newBench(t, setup{path: b.path, compiled: other})
	again.click("room:1", card.Approval, "room:bob", core.Approve, "")
	d := again.heard()
	if d.Kind != core.PostError || d.Bucket != core.UserCorrectable {
		t.Errorf("%+v", d)
	}
	if open := core.OpenCalls(again.history("room:1@1")); len(open) != 0 || len(again.notes("room:1")) != 0 {
		t.Errorf("open calls %v", open)
	}
	if rec, err := again.store.LoadPaused(t.Context(), "", core.SignalID(card.Approval)); rec != nil || err != nil {
		t.Errorf("the paused record is still there: %+v, %v", rec, err)
	}
}

func TestRemoteRequestIsRefusedWithoutConfiguredApprovers(t *testing.T) {
	b := newBench(t, setup{policy: policy.Defaults{}.Rule})
	b.say("room:1", "note add milk")
	b.expect("GATEHOUSE_APPROVERS")
}
