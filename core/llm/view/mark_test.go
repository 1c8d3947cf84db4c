package view_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
	"gatehouse/core/llm/view"
)

// answer is what a provider that thinks and signs answers.
func answer() core.Message {
	return core.Message{
		Role: core.Assistant,
		Content: core.Blocks(
			core.Block{Type: core.ThinkingBlock, Text: "hm", Signature: "s1"},
			core.Block{Type: core.RedactedThinkingBlock, Data: "d"},
			core.Block{Type: core.TextBlock, Text: "I will.", Signature: "s2"}),
		ToolCalls: []core.ToolCall{{ID: "c1", Name: "add", Arguments: json.RawMessage(`{}`), Signature: "s3"}},
	}
}

func TestThinkingAndSignaturesAreTheirProvidersAlone(t *testing.T) {
	const whole = "assistant: <thinkinghm> signed s1 | <redacted_thinkingd> | I will. signed s2 c1 add signed s3"
	for name, c := range map[string]struct{ from, to, want string }{
		"its own":                      {"one", "one", whole},
		"another's":                    {"one", "two", "assistant: I will. c1 add"},
		"another's with a longer name": {"one:b", "one", "assistant: I will. c1 add"},
		"its own with a colon":         {"one:b", "one:b", whole},
	} {
		history := []core.Message{user("hi"), view.Mark(c.from, answer()), result("c1", "done")}
		v, err := view.Of(history, view.Options{Provider: c.to})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"user: hi", c.want, "tool c1: done"}, lines(v.Messages)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	v, err := view.Of([]core.Message{user("hi"), answer(), result("c1", "done")}, view.Options{Provider: "one"})
	if diff := cmp.Diff([]string{"user: hi", "assistant: I will. c1 add", "tool c1: done"},
		lines(v.Messages)); err != nil || diff != "" {
		t.Errorf("without a mark: %v %s", err, diff)
	}
}

func TestThinkingWhereAVendorRefusesIt(t *testing.T) {
	thinking := core.Block{Type: core.ThinkingBlock, Text: "hm", Signature: "s"}
	said := core.Block{Type: core.TextBlock, Text: "Hello."}
	for name, c := range map[string]struct {
		history []core.Message
		want    []string
	}{
		"alone": {[]core.Message{user("hi"), blocks(thinking), user("well?")}, []string{"user: hi", "user: well?"}},
		"last": {
			[]core.Message{user("hi"), blocks(said, thinking), user("well?")},
			[]string{"user: hi", "assistant: Hello.", "user: well?"},
		},
		"after another message of the assistant": {
			[]core.Message{user("hi"), says("One moment."), blocks(thinking, said), user("well?")},
			[]string{
				"user: hi", "assistant: One moment.", goOn, "assistant: <thinkinghm> signed s | Hello.", "user: well?",
			},
		},
	} {
		v, err := view.Of(c.history, view.Options{Provider: "one"})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, lines(v.Messages)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if err := llmtest.Rules(v.Messages); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// blocks is a message of the provider "one".
func blocks(b ...core.Block) core.Message {
	return view.Mark("one", core.Message{Role: core.Assistant, Content: core.Blocks(b...)})
}

func TestMarkChangesACopy(t *testing.T) {
	m := answer()
	view.Mark("one", m)
	if diff := cmp.Diff(lines([]core.Message{answer()}), lines([]core.Message{m})); diff != "" {
		t.Error(diff)
	}
}

// recorder answers always the same, and keeps what it was asked.
type recorder struct{ asked []string }

func (r *recorder) Complete(_ context.Context, q llm.Request) (llm.Response, error) {
	r.asked = lines(q.Messages)
	return llm.Response{Message: answer()}, nil
}

func (r *recorder) Ready(context.Context) error { return nil }

func TestBoundProvidersOfOneRequest(t *testing.T) {
	one, two := &recorder{}, &recorder{}
	first, err := view.Bind("one", one).Complete(t.Context(), llm.Request{Messages: []core.Message{user("hi")}})
	if err != nil {
		t.Fatal(err)
	}
	v, err := view.Of([]core.Message{user("hi"), first.Message, result("c1", "done")}, view.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, p := range map[string]*recorder{"one": one, "two": two} {
		if _, err := view.Bind(name, p).Complete(t.Context(), llm.Request{Messages: v.Messages}); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(lines([]core.Message{user("hi"), answer(), result("c1", "done")}), one.asked); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"user: hi", "assistant: I will. c1 add", "tool c1: done"}, two.asked); diff != "" {
		t.Error(diff)
	}
}
