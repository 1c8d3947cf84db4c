package view_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/core"
	"gatehouse/core/llm/llmtest"
	"gatehouse/core/llm/view"
)

const (
	waits = "This call has not run yet: it waits for a person's approval. Its result will follow. Do not repeat " +
		"it."
	waitsOther = "This call has not run yet: a call before it waits for a person's approval. Its result will follow. " +
		"Do not repeat it."
	cameFirst = "[Not written by a person. The result of "
	cameRest  = " came at this point; it stands above, next to its call. What follows is about it.]"
	goOn      = "user: [Not written by a person. Please go on.]"
)

func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		history []core.Message
		options view.Options
		want    []string
	}{
		"a system prompt": {
			[]core.Message{user("hi")}, view.Options{System: "Be kind."},
			[]string{"system: Be kind.", "user: hi"},
		},
		"system messages of the history are not shown": {
			[]core.Message{
				user("hello"), {Role: core.System, Content: core.Text("Obey me.")}, user("hi"),
				{Role: core.System, Content: core.Text("Now.")},
			}, view.Options{},
			[]string{"user: hello", "user: hi"},
		},
		"a call that was approved: the pending message is over": {
			[]core.Message{user("add milk"), calls("c1 add"), says("I need an approval first."), result("c1", "added")},
			view.Options{},
			[]string{"user: add milk", "assistant: c1 add", "tool c1: added"},
		},
		"a call that waits, and the pending message after it": {
			[]core.Message{user("add milk"), calls("c1 add"), says("I need an approval first."), user("well?")},
			view.Options{},
			[]string{
				"user: add milk", "assistant: c1 add", "tool c1: " + waits, "assistant: I need an approval first.",
				"user: well?",
			},
		},
		"several calls: one has its result, one waits, one is behind it": {
			[]core.Message{
				user("do it"), calls("c1 read", "c2 add", "c3 add"), result("c1", "read"),
				says("I need an approval first."), user("well?"),
			}, view.Options{},
			[]string{
				"user: do it", "assistant: c1 read c2 add c3 add", "tool c1: read", "tool c2: " + waits,
				"tool c3: " + waitsOther, "assistant: I need an approval first.", "user: well?",
			},
		},
		"several calls, approved one after the other": {
			[]core.Message{
				user("do it"), calls("c1 add", "c2 add"), says("I need an approval first."), result("c1", "1"),
				says("I need an approval first."), result("c2", "2"),
			}, view.Options{},
			[]string{"user: do it", "assistant: c1 add c2 add", "tool c1: 1", "tool c2: 2"},
		},
		"images of results": {
			[]core.Message{
				user("look"), calls("c1 see", "c2 read"), withImage(result("c1", "seen")), result("c2", "2"),
				says("A cat."),
			}, view.Options{},
			[]string{
				"user: look", "assistant: c1 see c2 read", "tool c1: seen", "tool c2: 2",
				"user: [Not written by a person. The images that see gave:] | <image>", "assistant: A cat.", goOn,
			},
		},
		"images of results, for a model of texts": {
			[]core.Message{user("look"), calls("c1 see"), withImage(result("c1", "seen"))},
			view.Options{TextOnly: true},
			[]string{
				"user: look", "assistant: c1 see", "tool c1: seen",
				"user: [Not written by a person. The images that see gave:] | [An image (image/png) was sent here. " +
					"This model can't be shown images.]",
			},
		},
		"results in another order": {
			[]core.Message{user("do it"), calls("c1 read", "c2 read"), result("c2", "2"), result("c1", "1")},
			view.Options{},
			[]string{"user: do it", "assistant: c1 read c2 read", "tool c1: 1", "tool c2: 2"},
		},
		"a result after interim turns, to be answered now": {
			[]core.Message{
				user("add milk"), calls("c1 add"), says("I need an approval first."), user("well?"), says("It waits."),
				user("and now?"), says("Still."), result("c1", "added"),
			}, view.Options{},
			[]string{
				"user: add milk", "assistant: c1 add", "tool c1: added", "assistant: I need an approval first.",
				"user: well?", "assistant: It waits.", "user: and now?", "assistant: Still.",
				"user: " + cameFirst + "add" + cameRest,
			},
		},
		"a result after an interim turn, answered": {
			[]core.Message{
				user("add milk"), calls("c1 add"), user("well?"), says("It waits."), result("c1", "added"),
				says("Done."), user("thanks"),
			}, view.Options{},
			[]string{
				"user: add milk", "assistant: c1 add", "tool c1: added", "user: well?", "assistant: It waits.",
				"user: " + cameFirst + "add" + cameRest, "assistant: Done.", "user: thanks",
			},
		},
		"an interim turn with a call of its own, under the same id": {
			[]core.Message{
				user("add milk"), calls("c1 add"), user("read"), calls("c1 read"), result("c1", "read"), says("Read."),
				result("c1", "added"),
			}, view.Options{},
			[]string{
				"user: add milk", "assistant: c1 add", "tool c1: added", "user: read", "assistant: c1_1 read",
				"tool c1_1: read", "assistant: Read.", "user: " + cameFirst + "add" + cameRest,
			},
		},
		"the turn that went on calls again": {
			[]core.Message{
				user("add milk"), calls("c1 add"), user("well?"), says("It waits."), result("c1", "added"),
				calls("c2 read"), result("c2", "milk"),
			}, view.Options{},
			[]string{
				"user: add milk", "assistant: c1 add", "tool c1: added", "user: well?", "assistant: It waits.",
				"user: " + cameFirst + "add" + cameRest, "assistant: c2 read", "tool c2: milk",
			},
		},
		"its second call waits": {
			[]core.Message{
				user("do it"), calls("c1 add", "c2 add"), user("well?"), says("It waits."), result("c1", "1"),
				says("I need an approval first."), user("hm"),
			}, view.Options{},
			[]string{
				"user: do it", "assistant: c1 add c2 add", "tool c1: 1", "tool c2: " + waits, "user: well?",
				"assistant: It waits.", "user: " + cameFirst + "add" + cameRest, "assistant: I need an approval first.",
				"user: hm",
			},
		},
		"an unknown outcome, as stored": {
			[]core.Message{
				user("add"), calls("c1 add"),
				result("c1", `{"error":{"category":"outcome_unknown","message":"Please check."}}`),
			}, view.Options{},
			[]string{
				"user: add", "assistant: c1 add",
				`tool c1: {"error":{"category":"outcome_unknown","message":"Please check."}}`,
			},
		},
		"a result without a call": {
			[]core.Message{user("hi"), result("c9", "?"), says("Hello."), user("hi")}, view.Options{},
			[]string{
				"user: hi", "user: [Not written by a person. The result of an earlier call, which is left out here, " +
					"came at this point.]", "assistant: Hello.", "user: hi",
			},
		},
		"ids that are used again, in one message and in another": {
			[]core.Message{
				user("a"), calls("0 read", "0 read"), result("0", "1"), result("0", "2"), user("b"), calls("0 read"),
				result("0", "3"),
			}, view.Options{},
			[]string{
				"user: a", "assistant: 0 read 0_1 read", "tool 0: 1", "tool 0_1: 2", "user: b", "assistant: 0_2 read",
				"tool 0_2: 3",
			},
		},
		"ids that a vendor refuses": {
			[]core.Message{
				user("a"), calls("functions.read:0 read", "functions_read_0_1 read", strings.Repeat("x", 50)+" read"),
				result("functions.read:0", "1"),
			}, view.Options{},
			[]string{
				"user: a",
				"assistant: functions_read_0_2 read functions_read_0_1 read " + strings.Repeat("x", 30) + "_1 read",
				"tool functions_read_0_2: 1", "tool functions_read_0_1: " + waits,
				"tool " + strings.Repeat("x", 30) + "_1: " + waitsOther,
			},
		},
		"what comes before the first message of a person": {
			[]core.Message{says("Welcome."), result("c0", "?"), user("hi")}, view.Options{},
			[]string{"system: 2 earlier messages of this conversation are not shown here.", "user: hi"},
		},
		"empty messages": {
			[]core.Message{
				user(" \n"), {Role: core.Assistant}, says(" "), {Role: core.User, Content: core.Blocks()},
				calls("c1 read"), result("c1", ""),
			}, view.Options{},
			[]string{
				"user: [An empty message.]", "user: [An empty message.]", "assistant: c1 read", "tool c1: [No output.]",
			},
		},
		"nothing is asked": {
			[]core.Message{user("hi"), says("Hello.")}, view.Options{},
			[]string{"user: hi", "assistant: Hello.", goOn},
		},
		"malformed arguments": {
			[]core.Message{
				user("hi"),
				{
					Role: core.Assistant,
					ToolCalls: []core.ToolCall{
						{ID: "c1", Name: "t", Arguments: json.RawMessage("null")},
						{ID: "c2", Name: "t", Arguments: json.RawMessage(`{"a":`)},
					},
				}, result("c1", "bad"), result("c2", "bad"),
			}, view.Options{},
			[]string{"user: hi", "assistant: c1 t c2 t", "tool c1: bad", "tool c2: bad"},
		},
		"a person's message of a conversation of several people": {
			[]core.Message{{Role: core.User, Content: core.Said(core.Speaker{Name: "Bob", ID: "x:1"}, "hi", nil)}},
			view.Options{},
			[]string{`user: {"name":"Bob","id":"x:1"} says: | > hi`},
		},
		"images": {
			[]core.Message{{
				Role: core.User,
				Content: core.Blocks(core.StoredImage("image/png", core.Digest([]byte("x")), 1),
					core.Block{Type: core.TextBlock, Text: "what is it?"}),
			}}, view.Options{},
			[]string{"user: <image> | what is it?"},
		},
		"images for a model of texts": {
			[]core.Message{{
				Role: core.User,
				Content: core.Blocks(core.StoredImage("image/png", core.Digest([]byte("x")), 1),
					core.Block{Type: core.TextBlock, Text: "what is it?"}),
			}}, view.Options{TextOnly: true},
			[]string{"user: [An image (image/png) was sent here. This model can't be shown images.] | what is it?"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, _ := json.Marshal(c.history)
			v, err := view.Of(c.history, c.options)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, lines(v.Messages)); diff != "" {
				t.Error(diff)
			}
			if err := llmtest.Rules(v.Messages); err != nil {
				t.Error(err)
			}
			if after, _ := json.Marshal(c.history); string(before) != string(after) {
				t.Errorf("the history was changed: %s", after)
			}
		})
	}
}

func TestNobodyAsked(t *testing.T) {
	for name, history := range map[string][]core.Message{"empty": nil, "no person": {says("Welcome.")}} {
		if _, err := view.Of(history, view.Options{System: "x"}); core.CategoryOf(err) != core.ProviderInvalidRequest ||
			core.MessageOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := view.OfHistory(t.Context(), core.History{}.Append(history...),
			view.Options{Budget: 100}); core.CategoryOf(err) != core.ProviderInvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func user(text string) core.Message {
	return core.Message{Role: core.User, Content: core.Text(text)}
}

func says(text string) core.Message {
	return core.Message{Role: core.Assistant, Content: core.Text(text)}
}

// calls is an assistant's message with calls, each as "id tool".
func calls(all ...string) core.Message {
	m := core.Message{Role: core.Assistant}
	for _, c := range all {
		id, tool, _ := strings.Cut(c, " ")
		m.ToolCalls = append(m.ToolCalls, core.ToolCall{ID: id, Name: tool, Arguments: json.RawMessage(`{}`)})
	}
	return m
}

func result(id, text string) core.Message {
	return core.Message{Role: core.ToolRole, ToolCallID: id, Content: core.Text(text)}
}

// withImage is a tool message with an image beside it.
func withImage(m core.Message) core.Message {
	m.Kept = &core.Kept{Images: []core.Block{core.StoredImage("image/png", core.Digest(nil), 1)}}
	return m
}

// lines shows messages as lines.
func lines(msgs []core.Message) []string {
	var all []string
	for _, m := range msgs {
		line := string(m.Role)
		if m.Role == core.ToolRole {
			line += " " + m.ToolCallID
		}
		var parts []string
		for _, b := range m.Content.Blocks() {
			part := b.Text
			if b.Type != core.TextBlock {
				part = "<" + string(b.Type) + b.Text + b.Data + ">"
			}
			if b.Signature != "" {
				part += " signed " + b.Signature
			}
			parts = append(parts, part)
		}
		line += ": " + strings.Join(parts, " | ")
		for i, c := range m.ToolCalls {
			if i > 0 || len(parts) > 0 {
				line += " "
			}
			line += c.ID + " " + c.Name
			if c.Signature != "" {
				line += " signed " + c.Signature
			}
		}
		all = append(all, line)
	}
	return all
}
