package dispatch_test

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/dispatch"
	"gatehouse/core/tool"
)

// looks is a model that looks once, and then says what it saw, after it did then.
type looks struct {
	looked *atomic.Int64 // how often the tool ran
	then   func(context.Context) error
}

func newLooks(then func(context.Context) error) looks { return looks{new(atomic.Int64), then} }

// failsOnce fails its first call.
func failsOnce(c core.Category) func(context.Context) error {
	var asked atomic.Int64
	return func(context.Context) error {
		if asked.Add(1) == 1 {
			return core.Errorf(c, "The model is overloaded.")
		}
		return nil
	}
}

func (m looks) Next(ctx context.Context, h core.History, _ json.RawMessage) (agent.Answer, error) {
	tail, err := h.Tail(ctx, 1)
	if err != nil {
		return agent.Answer{}, err
	}
	switch tail[0].Content.String() {
	case "hello":
		return agent.Answer{Message: core.Message{Content: core.Text("Hello!")}}, nil
	case "a note, please":
		return asks("c0", "note.add", `{"text":"milk"}`), nil
	case "it is green":
		return agent.Answer{Message: core.Message{Content: core.Text("It is green.")}}, m.then(ctx)
	}
	return asks("c1", "room.look", `{}`), nil
}

func asks(id, tool, arguments string) agent.Answer {
	return agent.Answer{Message: core.Message{ToolCalls: []core.ToolCall{{
		ID: id, Name: tool, Arguments: json.RawMessage(arguments),
	}}}}
}

func (m looks) setup() setup {
	look := tool.Tool{Name: "room.look", Do: func(context.Context, string, json.RawMessage) (string, error) {
		m.looked.Add(1)
		return "it is green", nil
	}}
	return setup{model: m, tools: []tool.Tool{look}}
}

// done checks that the tool ran once, and that this is the conversation.
func (m looks) done(b *bench, want ...string) {
	b.t.Helper()
	if n := m.looked.Load(); n != 1 {
		b.t.Errorf("the tool ran %d times", n)
	}
	var got []string
	for _, row := range b.history("room:1@1") {
		text := row.Content.String()
		if len(row.ToolCalls) > 0 {
			text = row.ToolCalls[0].Name + "?"
		}
		got = append(got, text)
	}
	if strings.Join(got, ", ") != strings.Join(want, ", ") {
		b.t.Errorf("the conversation is %q, want %q", got, want)
	}
}

func TestTryAgainBeginsAfterTheFinishedRounds(t *testing.T) {
	m := newLooks(failsOnce(core.ProviderUnavailable))
	b := newBench(t, m.setup())
	failed := b.say("room:1", "what colour?")
	if d := b.expect("trouble"); d.Kind != core.PostError || d.Pressed {
		t.Errorf("the reply is %+v", d)
	}
	m.done(b, "what colour?", "room.look?", "it is green")
	b.accept(core.Event{Conversation: "room:1", Body: core.RetryEvent{Failed: failed.Seq}})
	b.expect("It is green.")
	m.done(b, "what colour?", "room.look?", "it is green", "It is green.")
	if e := b.ended(failed.Seq); e.Retries != 0 {
		t.Errorf("a failure of the model was retried %d times", e.Retries)
	}
}

// What another turn has added meanwhile stays before what goes on: the model answers what it was asked last.
func TestTryAgainAfterAnotherTurnGoesOnAtTheEnd(t *testing.T) {
	m := newLooks(failsOnce(core.ProviderUnavailable))
	b := newBench(t, m.setup())
	failed := b.say("room:1", "what colour?")
	b.expect("trouble")
	b.say("room:1", "hello")
	b.expect("Hello!")
	b.accept(core.Event{Conversation: "room:1", Body: core.RetryEvent{Failed: failed.Seq}})
	b.expect("It is green.")
	m.done(b, "hello", "Hello!", "what colour?", "room.look?", "it is green", "It is green.")
}

func TestAnAttemptAfterAStoreFailureBeginsAfterTheFinishedRounds(t *testing.T) {
	m := newLooks(failsOnce(core.StoreBusy))
	b := newBench(t, m.setup())
	r := b.say("room:1", "what colour?")
	b.expect("It is green.")
	m.done(b, "what colour?", "room.look?", "it is green", "It is green.")
	if e := b.ended(r.Seq); e.Retries != 1 {
		t.Errorf("%+v", e)
	}
}

// busySaves is a store whose first save during a turn fails.
type busySaves struct {
	dispatch.Store
	once sync.Once
}

func (s *busySaves) SaveSession(ctx context.Context, c core.Claim, rec *core.SessionRecord) (err error) {
	if s.once.Do(func() { err = busy() }); err != nil {
		return err
	}
	return s.Store.SaveSession(ctx, c, rec)
}

func TestARoundIsSavedAfterABusyStore(t *testing.T) {
	m := newLooks(func(context.Context) error { return nil })
	s := m.setup()
	s.options = func(o *dispatch.Options) { o.Store = &busySaves{Store: o.Store} }
	b := newBench(t, s)
	r := b.say("room:1", "what colour?")
	b.expect("It is green.")
	m.done(b, "what colour?", "room.look?", "it is green", "It is green.")
	if e := b.ended(r.Seq); e.Retries != 0 {
		t.Errorf("%+v", e)
	}
}

func TestAnotherProcessBeginsAfterTheFinishedRounds(t *testing.T) {
	asked, let := make(chan struct{}, 2), make(chan struct{})
	m := newLooks(func(ctx context.Context) error {
		asked <- struct{}{}
		select {
		case <-let:
		case <-ctx.Done():
		}
		return nil
	})
	dead := newBench(t, m.setup())
	r := dead.say("room:1", "what colour?")
	<-asked
	dead.expire()
	s := m.setup()
	s.path = dead.path
	b := newBench(t, s)
	<-asked
	close(let)
	b.ended(r.Seq) // whoever delivers the reply
	m.done(b, "what colour?", "room.look?", "it is green", "It is green.")
}

func TestAResumedTurnBeginsAfterItsFinishedRounds(t *testing.T) {
	m := newLooks(failsOnce(core.StoreBusy))
	b := newBench(t, m.setup())
	b.say("room:1", "a note, please")
	card := b.asked()
	b.click("room:1", card.Approval, "room:bob", core.Approve, "")
	b.expect("It is green.")
	if n := len(b.notes("room:1")); n != 1 {
		t.Errorf("%d notes", n)
	}
	history := b.history("room:1@1")
	m.done(b, "a note, please", "note.add?", history[2].Content.String(), "Added.", "room.look?", "it is green",
		"It is green.")
}
