package anthropic_test

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"

	"github.com/google/go-cmp/cmp"
)

func complete(t *testing.T, body string) (llm.Response, error) {
	t.Helper()
	_, p := open(t, llmtest.Answer{Body: []byte(body)})
	return p.Complete(t.Context(), hello())
}

func TestAnswers(t *testing.T) {
	for name, c := range map[string]struct {
		content, stop string
		message       string // as the spec's JSON
		finish        llm.Finish
	}{
		"text": {
			`[{"type":"text","text":"Hi."}]`, `"end_turn"`, `{"role":"assistant","content":"Hi."}`, llm.FinishStop,
		},
		"text in pieces": {
			`[{"type":"text","text":"Hi"},{"type":"text","text":""},{"type":"text","text":"."}]`, `"stop_sequence"`,
			`{"role":"assistant","content":"Hi."}`, llm.FinishStop,
		},
		"calls": {`[{"type":"text","text":"Hm."},{"type":"tool_use","id":"t1","name":"f",` +
			`"input":{"n":12345678901234567890}}]`,
			`"tool_use"`,
			`{"role":"assistant","content":"Hm.","tool_calls":[{"id":"t1","name":"f",` +
				`"arguments":{"n":12345678901234567890}}]}`,
			llm.FinishCalls},
		"thinking": {`[{"type":"thinking","thinking":"","signature":"s/+="},{"type":"redacted_thinking",` +
			`"data":"d="},{"type":"text","text":"Hi."}]`,
			`"max_tokens"`,
			`{"role":"assistant","content":[{"type":"thinking","signature":"s/+="},{"type":"redacted_thinking",` +
				`"data":"d="},{"type":"text","text":"Hi."}]}`,
			llm.FinishLength},
		"refusal":      {`[]`, `"refusal"`, `{"role":"assistant"}`, llm.FinishFilter},
		"context full": {`[]`, `"model_context_window_exceeded"`, `{"role":"assistant"}`, llm.FinishLength},
		"unknown reason": {
			`[{"type":"text","text":"Hi."}]`, `"whatever"`, `{"role":"assistant","content":"Hi."}`, llm.FinishUnknown,
		},
		"no reason": {
			`[{"type":"text","text":"Hi."}]`, `null`, `{"role":"assistant","content":"Hi."}`, llm.FinishUnknown,
		},
		"unknown block": {
			`[{"type":"server_tool_use","id":"x"},{"type":"text","text":"Hi."}]`, `"end_turn"`,
			`{"role":"assistant","content":"Hi."}`, llm.FinishStop,
		},
		"unknown reason, and a malformed call": {`[{"type":"tool_use","id":"t1","name":"f","input":"{"}]`, `"whatever"`,
			`{"role":"assistant","tool_calls":[{"id":"t1","name":"f","arguments":null}]}`, llm.FinishUnknown},
	} {
		body := `{"type":"message","role":"assistant","model":"claude-9","content":` + c.content +
			`,"stop_reason":` + c.stop + `,"usage":{"input_tokens":3,"output_tokens":4}}`
		res, err := complete(t, body)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := json.Marshal(res.Message)
		if err != nil || string(got) != c.message || res.Finish != c.finish {
			t.Errorf("%s: %s, %s; want %s, %s", name, got, res.Finish, c.message, c.finish)
		}
		if string(res.Raw) != body || res.Model != "claude-9" {
			t.Errorf("%s: model %q, raw %s", name, res.Model, res.Raw)
		}
		_, p := open(t, llmtest.Answer{Body: []byte(body)})
		r := hello()
		r.Stream = true
		streamed, err := p.Complete(t.Context(), r)
		got, _ = json.Marshal(streamed.Message)
		if err != nil || string(got) != c.message || streamed.Finish != c.finish || *streamed.Usage.Total != 7 ||
			streamed.Model != "claude-9" {
			t.Errorf("%s, streamed: %s, %s, %v; want %s, %s", name, got, streamed.Finish, err, c.message, c.finish)
		}
	}
}

func TestUsage(t *testing.T) {
	for usage, want := range map[string][3]any{
		`{"input_tokens":3,"output_tokens":4}`: {int64(
			3), int64(4), int64(7)},
		`{"input_tokens":"3","output_tokens":4}`: {
			nil, int64(4), nil,
		},
		`{"input_tokens":3,"output_tokens":-1}`: {int64(
			3), nil, nil},
		`{"input_tokens":3.5,"output_tokens":null}`: {
			nil, nil, nil,
		},
		`{"input_tokens":9223372036854775807,"output_tokens":1}`: {int64(
			9223372036854775807), int64(1), nil},
		`{"input_tokens":true,"output_tokens":99999999999999999999999999999}`: {
			nil, nil, nil,
		},
		`{"input_tokens":3,"cache_read_input_tokens":90,"cache_creation_input_tokens":7,"output_tokens":4}`: {int64(
			100), int64(4), int64(104)},
		`{"input_tokens":3,"cache_read_input_tokens":null,"cache_creation_input_tokens":"7","output_tokens":4}`: {int64(
			3), int64(4), int64(7)},
		`null`:  {nil, nil, nil},
		`"abc"`: {nil, nil, nil},
	} {
		res, err := complete(t, `{"content":[{"type":"text","text":"Hi."}],"stop_reason":"end_turn","usage":`+usage+`}`)
		if err != nil {
			t.Fatal(err)
		}
		got := [3]any{}
		for i, n := range []*int64{res.Usage.Prompt, res.Usage.Completion, res.Usage.Total} {
			if n != nil {
				got[i] = *n
			}
		}
		if got != want {
			t.Errorf("%s gives %v, want %v", usage, got, want)
		}
	}
}

func TestAnswersThatAreNone(t *testing.T) {
	for _, body := range []string{
		``, `{"content":[`, `<html>`, `[]`, `null`, `{}`, `{"content":"text"}`, `{"type":"error","error":{}}`,

		`{"stop_reason":"tool_use","content":[{"type":"tool_use","name":"f","input":{}}]}`,
		`{"stop_reason":"tool_use","content":[{"type":"tool_use","id":"t","input":{}}]}`,
		`{"stop_reason":"tool_use","content":[{"type":"tool_use","id":"t","name":"f","input":"{}"}]}`,
		`{"stop_reason":"end_turn","content":[]}`,
	} {
		if _, err := complete(t, body); core.CategoryOf(err) != core.ProviderInvalidResponse {
			t.Errorf("%s gives %v", body, err)
		}
	}
}

func TestAnAnswerGoesBackAsItWas(t *testing.T) {
	blocks := []map[string]any{
		{"type": "thinking", "thinking": "Let me <see> & \u2028 so.", "signature": "EuYBCkQYAiJA+/=="},
		{"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/="},
		{"type": "text", "text": "I look it up."},
		{"type": "tool_use", "id": "toolu_1", "name": "note__find", "input": map[string]any{"text": "x"}},
	}
	fake, p := open(t, llmtest.AnthropicAnswer("tool_use", blocks...), llmtest.AnthropicSay("Done."))
	r := hello()
	r.Tools = []llm.Tool{{Name: "note.find"}}
	first, err := p.Complete(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages, first.Message, result("toolu_1", "nothing"))
	if _, err := p.Complete(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	if refused := fake.Refused(); len(refused) > 0 {
		t.Fatal(refused)
	}
	second := decode(t,
		string(fake.Calls()[1].Body)).(map[string]any)["messages"].([]any)[1].(map[string]any)["content"]
	want, err := json.Marshal(blocks)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(decode(t, string(want)), second); diff != "" {
		t.Error(diff)
	}
}

// Arguments that are no object go back to the model as it wrote them, in the form that the API wants; null and an empty
// text are none.
func TestArgumentsThatAreNoObjectGoBack(t *testing.T) {
	for input, want := range map[string]string{
		`"{\"text\":\"line1\nline2\"}"`: `{"INVALID_JSON":"{\"text\":\"line1\nline2\"}"}`,
		`["a"]`:                         `{"INVALID_JSON":["a"]}`, `null`: `{}`, `""`: `{}`, `"null"`: `{}`,
	} {
		body := `{"content":[{"type":"tool_use","id":"t1","name":"note__add","input":` + input +
			`}],"stop_reason":"tool_use"}`
		fake, p := open(t, llmtest.Answer{Body: []byte(body)}, llmtest.AnthropicSay("Done."))
		r := hello()
		r.Tools = []llm.Tool{{Name: "note.add"}}
		first, err := llm.WithBadCalls(p).Complete(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		r.Messages = append(r.Messages, first.Message, result("t1", "They are no object."))
		if _, err := p.Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		if sent := string(fake.Calls()[1].Body); !strings.Contains(sent, `"input":`+want) {
			t.Errorf("%s goes back as %s", input, sent)
		}
	}
}

// A server of this API that is not Anthropic's may leave thinking and calls in a text.
func TestThinkingInAText(t *testing.T) {
	for text, want := range map[string]string{
		"<think>hm</think>Yes.": "Yes.", "Yes.\n<tool_call>{}</tool_call>": "Yes.",
	} {
		res, err := complete(t, `{"content":[{"type":"text","text":`+strconv.Quote(text)+`}],"stop_reason":"end_turn"}`)
		if got := res.Message.Content.String(); err != nil || got != want ||
			res.Typed != strings.Contains(text, "call") {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
}
