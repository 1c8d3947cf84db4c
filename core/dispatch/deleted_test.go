package dispatch_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/tool"
)

// sayAs says something as the event of an id, which a deletion can name.
func (b *bench) sayAs(id, text string) core.Receipt {
	b.t.Helper()
	payload, _ := json.Marshal(text)
	return b.accept(core.Event{ID: id, Conversation: "room:1", Body: core.MessageEvent{}, Payload: payload})
}

// deletes deletes a message, as its author or, without an id, as the platform.
func (b *bench) deletes(id string) core.Receipt {
	b.t.Helper()
	payload, _ := json.Marshal(core.Amendment{Revision: "deleted"})
	return b.accept(core.Event{Conversation: "room:1", Body: core.AmendEvent{Event: id}, Payload: payload})
}

// silent checks that the event was withdrawn because its message was deleted, and that nothing was posted before the
// answer to another message.
func (b *bench) silent(seq int64) {
	b.t.Helper()
	if e := b.ended(seq); e.End.Kind != core.EndWithdrawn || !strings.Contains(e.End.Cause, "deleted") {
		b.t.Errorf("the event ended %+v", e.End)
	}
	b.say("room:1", "note list")
	b.expect("The note book is empty.")
}

func TestMessageDeletedWhileItsTurnRuns(t *testing.T) {
	s := slow{began: make(chan struct{}, 1)}
	b := newBench(t, setup{model: s})
	r := b.sayAs("m", "think")
	<-s.began
	if e := b.event(b.deletes("m").Seq); e.End.Kind != core.EndApplied {
		t.Errorf("the deletion: %+v", e.End)
	}
	b.silent(r.Seq)
}

// The turn is over before it learns of the deletion: the store refuses its answer, also one that asks for an approval.
func TestMessageDeletedAsItsTurnEnds(t *testing.T) {
	for _, text := range []string{"hello", "note add milk"} {
		began, let := make(chan struct{}), make(chan struct{})
		model := modelFunc(func(ctx context.Context, h core.History) (agent.Answer, error) {
			if tail, err := h.Tail(ctx, 1); err == nil && tail[0].Content.String() == text {
				began <- struct{}{}
				<-let
				ctx = context.WithoutCancel(ctx)
			}
			return agent.Demo{}.Next(ctx, h, nil)
		})
		b := newBench(t, setup{model: model})
		r := b.sayAs("m", text)
		<-began
		b.deletes("m")
		close(let)
		b.silent(r.Seq)
		if all, err := b.store.ListApprovals(t.Context(), core.ApprovalFilter{}); err != nil || len(all) > 0 {
			t.Errorf("approvals %+v, %v", all, err)
		}
	}
}

func TestMessageDeletedWhileItsApprovalIsOpen(t *testing.T) {
	b := newBench(t, setup{})
	b.sayAs("m", "note add milk")
	card := b.asked()
	d := b.deletes("m")
	if now := b.redrawn(); now.Card.State != core.Cancelled || !strings.Contains(now.Card.Reason, "deleted") {
		t.Errorf("its card: %+v", now.Card)
	}
	if e := b.ended(d.Seq); e.End.Kind != core.EndApplied {
		t.Errorf("the deletion: %+v", e.End)
	}
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	b.expect("cancelled")
	if rec, err := b.store.LoadPaused(t.Context(), "", core.SignalID(card.Approval)); rec != nil || err != nil {
		t.Errorf("the paused turn is still there: %v, %v", rec, err)
	}
	if open := core.OpenCalls(b.history("room:1@1")); len(open) != 0 || len(b.notes("room:1")) != 0 {
		t.Errorf("open calls %v, notes %v", open, b.notes("room:1"))
	}
	b.say("room:1", "note list")
	b.expect("The note book is empty.")
}

// A decision that waits for a turn of its conversation does not count any more.
func TestMessageDeletedAfterItsApprovalBeforeTheCall(t *testing.T) {
	s := slow{began: make(chan struct{}, 1)}
	b := newBench(t, setup{model: s})
	b.sayAs("m", "note add milk")
	card := b.asked()
	long := b.say("room:1", "think")
	<-s.began
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	if now := b.redrawn(); now.Card.State != core.Approved {
		t.Fatalf("its card: %+v", now.Card)
	}
	b.deletes("m")
	if now := b.redrawn(); now.Card.State != core.Cancelled {
		t.Errorf("its card: %+v", now.Card)
	}
	b.word("room:1", "stop")
	b.expect("Stopped.")
	b.ended(long.Seq)
	b.say("room:1", "note list")
	b.expect("The note book is empty.")
}

// A call that has begun goes on, and its author alone learns what it did.
func TestMessageDeletedWhileItsCallRuns(t *testing.T) {
	began, let := make(chan struct{}), make(chan struct{})
	b := newBench(t, setup{model: puller{}, tools: []tool.Tool{lever(began, let)}})
	b.sayAs("m", "pull")
	card := b.asked()
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	<-began
	signals, err := b.store.Events(t.Context(), core.EventFilter{Conversation: "room:1", Waiting: true})
	if err != nil || len(signals) != 1 {
		t.Fatalf("%+v, %v", signals, err)
	}
	b.deletes("m")
	close(let)
	d := b.heard()
	if d.Kind != core.PostPrivate || d.Person != "room:ann" || !strings.Contains(d.Text, "Pull the lever.") {
		t.Errorf("heard %+v", d)
	}
	if e := b.ended(signals[0].Seq); e.End.Kind != core.EndWithdrawn {
		t.Errorf("%+v", e.End)
	}
	b.say("room:1", "hello")
	b.expect("said")
}

// The same, if the call's turn waits for a retry when the message is deleted.
func TestMessageDeletedAfterItsCall(t *testing.T) {
	called := make(chan struct{}, 1)
	model := modelFunc(func(ctx context.Context, h core.History) (agent.Answer, error) {
		if tail, err := h.Tail(ctx, 1); err == nil && tail[0].Role == core.ToolRole {
			select {
			case called <- struct{}{}:
			default:
			}
			return agent.Answer{}, &core.Error{Category: core.DeliveryLater, RetryAfter: time.Minute}
		}
		return agent.Demo{}.Next(ctx, h, nil)
	})
	b := newBench(t, setup{model: model})
	b.sayAs("m", "note add milk")
	card := b.asked()
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	<-called
	for waiting := false; !waiting; settle() {
		events, err := b.store.Events(t.Context(), core.EventFilter{Conversation: "room:1", Waiting: true})
		waiting = err == nil && len(events) == 1 && events[0].Retries == 1
	}
	d := b.deletes("m")
	heard := b.heard()
	if heard.Kind != core.PostPrivate || heard.Person != "room:ann" || !strings.Contains(heard.Text, "milk") {
		t.Errorf("heard %+v", heard)
	}
	b.ended(d.Seq)
	if events, err := b.store.Events(t.Context(), core.EventFilter{Waiting: true}); err != nil || len(events) > 0 {
		t.Errorf("what still waits: %+v, %v", events, err)
	}
}
