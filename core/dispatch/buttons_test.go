package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/tool"
)

// press accepts the event of a button below the reply to a failed event.
func (b *bench) press(body core.EventBody) core.Receipt {
	b.t.Helper()
	kind, subject := core.Event{Body: body}.Kind(), core.Event{Body: body}.Subject()
	return b.accept(core.Event{ID: fmt.Sprintf("%s/%s", kind, subject), Conversation: "room:1", Body: body})
}

func TestRetryButtonAddsOneEventAndIsRemoved(t *testing.T) {
	b := newBench(t, setup{model: failing(1, core.ProviderUnavailable)})
	r := b.say("room:1", "hello")
	if d := b.expect("I had trouble responding"); d.Bucket != core.RetryableTransient || d.Event != r.Seq || d.Pressed {
		t.Fatalf("%+v", d)
	}
	again := core.RetryEvent{Failed: r.Seq}
	first := b.press(again)
	b.expect("Hello!")
	if d := b.redrawn(); !d.Pressed || !strings.Contains(d.Text, "I had trouble") {
		t.Errorf("the button stays: %+v", d)
	}
	if e := b.ended(first.Seq); e.End.Kind != core.EndDecided {
		t.Errorf("%+v", e.End)
	}
	if second := b.press(again); second.Fresh || second.Seq != first.Seq {
		t.Errorf("a second press is another event: %+v", second)
	}
	if d := b.say("room:1", "thanks"); d.Seq != first.Seq+2 { // between them is the one event that the button added
		t.Errorf("%d events after event %d", d.Seq, first.Seq)
	}
	b.expect("You are welcome.")
}

func TestRetryOfAnEventThatDidNotFailIsRefusedPrivately(t *testing.T) {
	b := newBench(t, setup{})
	r := b.say("room:1", "hello")
	b.expect("Hello!")
	for _, seq := range []int64{r.Seq, 999} {
		press := b.press(core.RetryEvent{Failed: seq})
		if d := b.heard(); d.Kind != core.PostPrivate || d.Text == "" {
			t.Errorf("%+v", d)
		}
		if e := b.ended(press.Seq); e.End.Kind != core.EndIgnored {
			t.Errorf("%+v", e.End)
		}
	}
	if e := b.ended(b.press(core.RetryEvent{}).Seq); e.End.Kind != core.EndIgnored {
		t.Errorf("%+v", e.End)
	}
}

func TestNewConversationButtonOfAFailedTurn(t *testing.T) {
	b := newBench(t, setup{model: failing(1, core.SessionLoadFailed)})
	r := b.say("room:1", "hello")
	if d := b.expect("can't continue"); d.Bucket != core.SessionTerminating {
		t.Fatalf("%+v", d)
	}
	b.press(core.ResetEvent{Failed: r.Seq})
	b.expect("new conversation")
	if d := b.redrawn(); !d.Pressed {
		t.Errorf("the button stays: %+v", d)
	}
	next := b.say("room:1", "hello")
	b.expect("Hello!")
	if e := b.ended(next.Seq); e.Session != "room:1@2" {
		t.Errorf("it is said in %s", e.Session)
	}
}

func TestToolsAreListedInOnePostThatIsEdited(t *testing.T) {
	began, let := make(chan struct{}), make(chan struct{})
	slow := lever(began, let)
	slow.Mutating, slow.Name = false, "lever.look"
	b := newBench(t, setup{model: looker{}, tools: []tool.Tool{slow}})
	r := b.say("room:1", "look")
	<-began
	first := b.next(b.room.steps, "the line of tools")
	if first.Text != "lever.look" || first.Key != fmt.Sprintf("steps/%d", r.Seq) {
		t.Errorf("%+v", first)
	}
	let <- struct{}{}
	<-began
	if d := b.next(b.room.steps, "the line redrawn"); d.Text != "lever.look ×2" || d.Key != first.Key {
		t.Errorf("%+v", d)
	}
	let <- struct{}{}
	b.expect("said")
}

// looker is a model that calls its tool twice, one call after the other.
type looker struct{}

func (looker) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	tail, err := h.Tail(ctx, 4)
	if err != nil {
		return agent.Answer{}, err
	}
	results := 0
	for _, m := range tail {
		if m.Role == core.ToolRole {
			results++
		}
	}
	if results == 2 {
		return agent.Answer{Message: core.Message{Content: core.Text("said")}}, nil
	}
	return agent.Answer{Message: core.Message{ToolCalls: []core.ToolCall{{
		ID: fmt.Sprint("c", results), Name: "lever.look", Arguments: json.RawMessage(`{}`),
	}}}}, nil
}

// silent is a model that calls the lever once, and is down from then on.
type silent struct{ puller }

func (m silent) Next(ctx context.Context, h core.History, state json.RawMessage) (agent.Answer, error) {
	a, err := m.puller.Next(ctx, h, state)
	if err == nil && len(a.ToolCalls) == 0 {
		err = core.Errorf(core.ProviderUnavailable, "The model is down.")
	}
	return a, err
}

// A resumed turn that failed has ended, with the call that was approved: nothing can try it again, so there is no
// button that says so.
func TestAResumedTurnThatFailedHasNoButtonToTryItAgain(t *testing.T) {
	began, let := make(chan struct{}, 1), make(chan struct{})
	close(let)
	b := newBench(t, setup{model: silent{}, tools: []tool.Tool{lever(began, let)}})
	b.say("room:1", "pull")
	card := b.asked()
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	for {
		d := b.heard()
		if d.Kind != core.PostError {
			continue
		}
		if d.Bucket != core.RetryableTransient || !d.Pressed {
			t.Errorf("the reply to the failure is %+v", d)
		}
		return
	}
}
