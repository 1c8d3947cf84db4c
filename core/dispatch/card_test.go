package dispatch_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gatehouse/approvals"
	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/tool"
)

// shows waits for a card of an approval with that state of its call, and returns the states that its cards went
// through.
func (b *bench) shows(id core.ApprovalID, want core.CallState) (last core.Card, seen []core.CallState) {
	b.t.Helper()
	for {
		d := b.redrawn()
		if d.Card == nil || d.Card.Approval != id {
			continue
		}
		if seen = append(seen, d.Card.Run); d.Card.Run == want {
			return *d.Card, seen
		}
	}
}

func TestCardShowsThatTheCallRunsAndIsDone(t *testing.T) {
	began, let := make(chan struct{}), make(chan struct{})
	b := newBench(t, setup{model: puller{}, tools: []tool.Tool{lever(began, let)}})
	end := sync.OnceFunc(func() { close(let) })
	t.Cleanup(end)
	b.say("room:1", "pull")
	asked := b.asked()
	b.click("room:1", asked.Approval, "room:bob", core.Approve, "")
	<-began
	running, _ := b.shows(asked.Approval, core.CallRunning)
	if running.State != core.Approved || running.RunNote != "" || running.RunAt.IsZero() {
		t.Errorf("%+v", running)
	}
	end()
	done, _ := b.shows(asked.Approval, core.CallDone)
	if done.RunNote != "" || done.RunAt.Before(running.RunAt) {
		t.Errorf("%+v", done)
	}
	b.expect("said")
}

func TestCardShowsWhyTheCallFailed(t *testing.T) {
	broken := tool.Tool{Name: "lever.pull", Mutating: true, Summarize: func(json.RawMessage) string {
		return "Pull the lever."
	},
		Do: func(context.Context, string, json.RawMessage) (string, error) {
			return "",
				core.Errorf(core.ToolFailed, "The lever is stuck;\nask ghp_0123456789abcdefghij0123456789ABCDEF.")
		}}
	b := newBench(t, setup{model: puller{}, tools: []tool.Tool{broken}})
	b.say("room:1", "pull")
	asked := b.asked()
	b.click("room:1", asked.Approval, "room:bob", core.Approve, "")
	if c, _ := b.shows(asked.Approval,
		core.CallFailed); c.RunText() != "Failed: The lever is stuck; ask •••••• (40 characters hidden)." {
		t.Errorf("%+v", c)
	}
}

// The rules change after the approval was requested: the gate refuses the call, and the card says why. The new card is
// for the same call.
func TestCardShowsThatTheGateRefusedTheCall(t *testing.T) {
	var changed atomic.Bool
	policy := func(core.Turn, core.Call) core.Rule {
		rule := core.Rule{Name: "approvers", Verdict: core.VerdictAsk, Approvers: []string{"room:bob"}}
		if changed.Load() {
			rule.Approvers = append(rule.Approvers, "room:cat")
		}
		return rule
	}
	b := newBench(t, setup{policy: policy})
	b.say("room:1", "note add milk")
	first := b.asked()
	changed.Store(true)
	b.click("room:1", first.Approval, "room:bob", core.Approve, "")
	c, seen := b.shows(first.Approval, core.CallNotRun)
	if c.State != core.Approved ||
		c.RunText() != "Not run: The rules for this call changed after approval was requested, so nothing was done." ||
		c.RunAt.IsZero() || slices.Contains(seen, core.CallRunning) {
		t.Errorf("%+v after %v", c, seen)
	}
	b.expect("The rules for this have changed")
	second := b.heard()
	b.click("room:1", second.Card.Approval, "room:bob", core.Approve, "")
	b.shows(second.Card.Approval, core.CallDone)
	b.expect("Done: “milk” is in the note book.")
}

func TestCardShowsThatTheTurnEndedBeforeTheCall(t *testing.T) {
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
	if c, _ := again.shows(card.Approval, core.CallNotRun); !strings.HasPrefix(c.RunNote,
		"Its turn ended before it could run (the turn failed: ") {
		t.Errorf("%+v", c)
	}
}

// approvedIdle approves an open request while no dispatcher runs. With begin, a process begins the call and dies.
func (b *bench) approvedIdle(id core.ApprovalID, begin bool) {
	b.t.Helper()
	d, err := b.store.Decide(b.t.Context(),
		core.Decision{Approval: id, Vote: &core.Vote{Actor: core.Actor{ID: "room:bob"}, Choice: core.Approve}})
	if err != nil || !begin {
		b.noError(err)
		return
	}
	b.begun(d.Approval)
}

// begun has a process begin an approved call, and die.
func (b *bench) begun(a core.Approval) {
	b.t.Helper()
	claims, err := b.store.Claim(b.t.Context(),
		core.ClaimRequest{Owner: "gone", Limit: 1, Scopes: []core.Scope{{Platform: "room"}}})
	b.noError(err)
	_, err = b.store.BeginIntent(b.t.Context(), claims[0],
		core.Intent{Approval: a.ID, Invocation: a.Invocation, Tool: a.Call.Tool, Digest: a.Call.Digest})
	b.noError(err)
	b.expire()
}

func (b *bench) noError(err error) {
	b.t.Helper()
	if err != nil {
		b.t.Fatal(err)
	}
}

// A process dies while the tool runs. The card says that it runs, until another process has found out.
func TestCardShowsThatTheOutcomeIsUnknown(t *testing.T) {
	b := newBench(t, setup{})
	b.say("room:1", "note add milk")
	card := b.asked()
	b.stop()
	dead := newBench(t, setup{path: b.path, idle: true})
	dead.approvedIdle(card.Approval, true)
	if c, err := approvals.NewService(dead.store, dead.store).Card(t.Context(), card.Approval, false); err != nil ||
		c.RunText() != "Running" || c.RunAt.IsZero() {
		t.Errorf("%+v, %v", c, err)
	}
	dead.stop()
	again := newBench(t, setup{path: b.path})
	if c, _ := again.shows(card.Approval, core.CallUnknown); c.RunText() != "Outcome unknown" ||
		!strings.Contains(c.RunNote, "It will not run again") {
		t.Errorf("%+v", c)
	}
	again.expect("outcome of note.add is unknown")
}

// A dead letter ends its turn: from then on what was begun is unknown, and what was not is not run.
func TestCardOfADeadLetter(t *testing.T) {
	for want, note := range map[core.CallState]string{
		core.CallUnknown: "The outcome of note.add is unknown: it was started, but its result was not recorded. It " +
			"will not run again, but what it started may still be running. Please check whether it took effect.",
		core.CallNotRun: "Its turn ended before it could run (the turn failed for good).",
	} {
		b := newBench(t, setup{})
		b.say("room:1", "note add milk")
		card := b.asked()
		b.stop()
		dead := newBench(t, setup{path: b.path, idle: true})
		dead.approvedIdle(card.Approval, want == core.CallUnknown)
		attempts := map[core.CallState]int{core.CallUnknown: 4, core.CallNotRun: 5}[want]
		for range attempts {
			if claims := dead.die(1); len(claims) != 1 {
				t.Fatalf("%v", claims)
			}
		}
		dead.stop()
		again := newBench(t, setup{path: b.path})
		if c, _ := again.shows(card.Approval, want); c.RunNote != note {
			t.Errorf("%s: %+v", want, c)
		}
	}
}

// The model reads, in the row of a call that an ended turn had started, that its arguments were not its own.
func TestTheRowOfAnEndedTurnSaysThatTheArgumentsWereChanged(t *testing.T) {
	rule := core.Rule{Verdict: core.VerdictAsk, Approvers: []string{"room:bob"}, Edit: true}
	b := newBench(t, setup{policy: func(core.Turn, core.Call) core.Rule { return rule }})
	b.say("room:1", "note add milk")
	card := b.asked()
	b.stop()
	dead := newBench(t, setup{path: b.path, idle: true})
	a, err := dead.store.LoadApproval(t.Context(), card.Approval)
	dead.noError(err)
	call := a.Call
	call.Arguments = json.RawMessage(`{"text":"oil"}`)
	call.Digest, _ = tool.Digest(call.Tool, call.Arguments)
	_, err = dead.store.Decide(t.Context(),
		core.Decision{
			Approval: a.ID, Vote: &core.Vote{Actor: core.Actor{ID: "room:bob"}, Choice: core.Edit}, Edit: &call,
		})
	dead.noError(err)
	d, err := dead.store.Decide(t.Context(),
		core.Decision{
			Approval: a.ID, Vote: &core.Vote{Actor: core.Actor{ID: "room:bob"}, Choice: core.Approve, Edits: 1},
		})
	dead.noError(err)
	dead.begun(d.Approval)
	for range 4 {
		dead.die(1)
	}
	dead.stop()
	again := newBench(t, setup{path: b.path})
	again.shows(card.Approval, core.CallUnknown)
	rows := again.history("room:1@1")
	if f, _ := tool.FailureOf(rows[len(rows)-1].Content.String()); f.Category != core.OutcomeUnknown ||
		f.Changed != `An approver changed the arguments to {"text":"oil"}.` {
		t.Errorf("%+v", rows[len(rows)-1])
	}
}

// A call that is allowed by policy has no card, and nothing is added to the outbox for it.
func TestAnAllowedCallHasNoCard(t *testing.T) {
	b := newBench(t, setup{policy: allow{}.Rule})
	b.say("room:1", "note add milk")
	b.expect("Done: “milk”")
	posts, err := b.store.ListPosts(t.Context(), nil, "room:1", 0)
	if err != nil || len(posts) != 1 || posts[0].Kind != core.PostReply {
		t.Errorf("%+v, %v", posts, err)
	}
}

func TestLaw7_WhoAskedWithdrawsOneRequest(t *testing.T) {
	b := newBench(t, setup{})
	b.say("room:1", "note add milk")
	first := b.asked()
	b.say("room:1", "note add eggs")
	second := b.asked()
	payload, _ := json.Marshal(core.Click{Approval: first.Approval, Choice: core.Withdraw})
	press := core.Event{
		ID: "vote/1", Conversation: "room:1", Body: core.ClickEvent{Approval: first.Approval}, Payload: payload,
	}
	r := b.accept(press)
	if d := b.redrawn(); d.Card.Approval != first.Approval || d.Card.State != core.Cancelled ||
		d.Card.Reason != "withdrawn by Ann" || d.Card.DecidedBy != "Ann" || d.Card.Run != core.CallWaits {
		t.Errorf("%+v", d.Card)
	}
	b.expect("Cancelled: withdrawn by Ann")
	if e := b.ended(r.Seq); e.End.Kind != core.EndDecided {
		t.Errorf("%+v", e.End)
	}
	if again := b.accept(press); again.Fresh {
		t.Errorf("%+v", again)
	}
	press.ID = "vote/2"
	b.accept(press)
	if d := b.expect("This was cancelled at"); d.Kind != core.PostPrivate || d.Person != "room:ann" {
		t.Errorf("%+v", d)
	}
	stranger := b.click("room:1", second.Approval, "room:bob", core.Withdraw, "")
	if d := b.heard(); d.Kind != core.PostPrivate || d.Person != "room:bob" ||
		d.Text != "Only the person who asked can withdraw this request." {
		t.Errorf("an approver hears %+v", d)
	}
	if e := b.ended(stranger.Seq); e.End.Kind != core.EndIgnored || e.End.Category != core.NotAllowed {
		t.Errorf("%+v", e.End)
	}
	if a, err := b.store.LoadApproval(t.Context(), second.Approval); err != nil || a.State != core.Open {
		t.Errorf("the other approval is %s, %v", a.State, err)
	}
	if len(b.notes("room:1")) != 0 {
		t.Error("a withdrawn note was written")
	}
}

// A process dies after a withdrawal was committed and before its click had ended: the click is handled again.
func TestLaw2_AWithdrawalThatIsHandledAgainCountsOnce(t *testing.T) {
	b := newBench(t, setup{})
	b.say("room:1", "note add milk")
	card := b.asked()
	b.stop()
	again := newBench(t, setup{path: b.path, idle: true})
	payload, _ := json.Marshal(core.Click{Approval: card.Approval, Choice: core.Withdraw})
	r := again.accept(
		core.Event{Conversation: "room:1", Body: core.ClickEvent{Approval: card.Approval}, Payload: payload})
	d := core.Decision{
		Approval: card.Approval, Event: r.Seq,
		Vote: &core.Vote{Actor: core.Actor{ID: "room:ann", Name: "Ann"}, Choice: core.Withdraw},
	}
	if _, err := again.store.Decide(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	again.stop()
	third := newBench(t, setup{path: b.path})
	if e := third.ended(r.Seq); e.End.Kind != core.EndDecided {
		t.Errorf("%+v", e.End)
	}
	third.expect("Cancelled: withdrawn by Ann")
}
