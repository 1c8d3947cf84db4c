package openai_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"gatehouse/adapters/openai"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

var wires = map[string]struct {
	r    llm.Request
	want string
}{
	"a question": {question, `{"messages":[{"content":"hi","role":"user"}],"model":"gpt-test"}`},
	"names, arguments and thinking": {
		llm.Request{
			Messages: []core.Message{text(core.System, "s"), text(core.User, "q"),
				{
					Role: core.Assistant,
					Content: core.Blocks(core.Block{Type: core.ThinkingBlock, Text: "hm", Signature: "sig"},
						core.Block{Type: core.RedactedThinkingBlock, Data: "x"}),
					ToolCalls: []core.ToolCall{{
						ID: "c 1", Name: "note.add", Arguments: raw(`{ "b": 1.50, "a": 12345678901234567890 }`),
						Signature: "sig",
					}, {ID: "c2", Name: "gone", Arguments: raw(`null`)}},
				},
				{Role: core.ToolRole, ToolCallID: "c2", Content: core.Text(" ")},
				{Role: core.ToolRole, ToolCallID: "c 1", Content: core.Text("ok")},
				{
					Role: core.Assistant,
					Content: core.Blocks(core.Block{Type: core.ThinkingBlock, Text: "hm"},
						core.Block{Type: core.TextBlock, Text: "done", Signature: "sig"}),
				},
				{Role: core.Assistant, Content: core.Blocks(core.Block{Type: core.ThinkingBlock, Text: "only"})},
				text(core.User, "more")},
			Tools: []llm.Tool{{
				Name: "note.add", Description: "Adds <a> note.",
				Parameters: raw(`{"type":"object","properties":{"b":{"maximum":9007199254740993},"a":{}}}`),
			}, {Name: "now"}},
			Choice: llm.Choice{Mode: llm.ChooseTool, Tool: "note.add"},
		},
		`{"messages":[{"content":"s","role":"system"},{"content":"q","role":"user"},` +
			`{"content":null,"role":"assistant",` +
			`"tool_calls":[{"function":{"arguments":"{\"a\":12345678901234567890,\"b\":1.50}",` +
			`"name":"note__add"},"id":"c 1","type":"function"},{"function":{"arguments":"{}","name":"gone"},` +
			`"id":"c2","type":"function"}]},` +
			`{"content":" ","role":"tool","tool_call_id":"c2"},{"content":"ok","role":"tool","tool_call_id":"c ` +
			`1"},{"content":"done","role":"assistant"},{"content":"","role":"assistant"},{"content":"more",` +
			`"role":"user"}],"model":"gpt-test",` +
			`"tool_choice":{"function":{"name":"note__add"},"type":"function"},` +
			`"tools":[{"function":{"description":"Adds <a> note.","name":"note__add",` +
			`"parameters":{"properties":{"a":{},"b":{"maximum":9007199254740993}},"type":"object"}},` +
			`"type":"function"},{"function":{"name":"now","parameters":{"properties":{},"type":"object"}},` +
			`"type":"function"}]}`,
	},
	"images": {
		llm.Request{Messages: []core.Message{{Role: core.User, Content: core.Blocks(
			core.Block{
				Type:   core.ImageBlock,
				Source: &core.ImageSource{Type: core.SourceURL, URL: "https://example.org/a.png"}, Detail: "low",
			},
			core.Block{Type: core.TextBlock, Text: "what?"},
			core.Block{
				Type: core.ImageBlock, Source: &core.ImageSource{Type: core.SourceInline, Base64Data: "aGk="},
				MediaType: "image/png",
			})}}},
		`{"messages":[{"content":[{"image_url":{"detail":"low","url":"https://example.org/a.png"},` +
			`"type":"image_url"},{"text":"what?","type":"text"},{"image_url":{"url":"data:image/png;base64,aGk="},` +
			`"type":"image_url"}],"role":"user"}],"model":"gpt-test"}`,
	},
	"every setting": {
		llm.Request{
			Messages: question.Messages,
			Config: llm.Config{
				Temperature: ptr(0.0), MaxTokens: ptr(int64(64)), TopP: ptr(0.95), Seed: ptr(int64(9007199254740993)),
				FrequencyPenalty: ptr(-1.0), PresencePenalty: ptr(0.5),
				StopSequences: []string{"END"},
				Extra: map[string]json.RawMessage{
					"stop": raw(`"STOP"`), "user": raw(`"u"`), "seed": raw(`9007199254740993.0`),
					"metadata": raw(`{"b":"2","a":"1"}`), "stream": raw(`false`),
				},
			},
		},
		`{"frequency_penalty":-1,"max_tokens":64,"messages":[{"content":"hi","role":"user"}],"metadata":{"a":"1",` +
			`"b":"2"},"model":"gpt-test","presence_penalty":0.5,"seed":9007199254740993,"stop":["END","STOP"],` +
			`"temperature":0,"top_p":0.95,"user":"u"}`,
	},
	"arguments with a key twice": {
		llm.Request{Messages: []core.Message{
			text(core.User, "q"),
			{Role: core.Assistant, ToolCalls: []core.ToolCall{{ID: "1", Name: "x", Arguments: raw(`{"a":1,"a":2}`)}}},
			{Role: core.ToolRole, ToolCallID: "1", Content: core.Text("ok")},
		}},
		`{"messages":[{"content":"q","role":"user"},{"content":null,"role":"assistant",` +
			`"tool_calls":[{"function":{"arguments":"{\"a\":2}","name":"x"},"id":"1","type":"function"}]},` +
			`{"content":"ok","role":"tool","tool_call_id":"1"}],"model":"gpt-test"}`,
	},
	"a choice without tools": {
		llm.Request{Messages: question.Messages, Choice: llm.Choice{Mode: llm.ChooseAuto}},
		`{"messages":[{"content":"hi","role":"user"}],"model":"gpt-test"}`,
	},
}

func TestWhatIsSent(t *testing.T) {
	for name, c := range wires {
		fake, p := start(t, openai.Config{}, llmtest.OpenAISay("yes"))
		before, _ := json.Marshal(c.r.Messages)
		if _, err := p.Complete(t.Context(), c.r); err != nil {
			t.Errorf("%s: %v; %v", name, err, fake.Refused())
			continue
		}
		if diff := cmp.Diff(c.want, string(fake.Calls()[0].Body)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if after, _ := json.Marshal(c.r.Messages); !bytes.Equal(before, after) {
			t.Errorf("%s: the request was changed", name)
		}
	}
}

func TestWhatIsRefusedBeforeItIsSent(t *testing.T) {
	extra := func(key, value string) llm.Request {
		return llm.Request{
			Messages: question.Messages, Tools: []llm.Tool{{Name: "x"}}, Choice: llm.Choice{Mode: llm.ChooseAuto},
			Config: llm.Config{
				Temperature: ptr(0.5), StopSequences: []string{"A"}, Extra: map[string]json.RawMessage{key: raw(value)},
			},
		}
	}
	image := llm.Request{Messages: []core.Message{{
		Role: core.User,
		Content: core.Blocks(
			core.Block{
				Type:   core.ImageBlock,
				Source: &core.ImageSource{Type: core.SourceURL, URL: "https://example.org/a.png"},
			}),
	}}}
	fake, p := start(t, openai.Config{TextOnly: true})
	for name, c := range map[string]struct {
		r    llm.Request
		want core.Category
	}{
		"no messages":                 {llm.Request{}, core.ProviderInvalidRequest},
		"another model":               {extra("model", `"other"`), core.ProviderInvalidRequest},
		"other messages":              {extra("messages", `[]`), core.ProviderInvalidRequest},
		"other tools":                 {extra("tools", `[]`), core.ProviderInvalidRequest},
		"another choice":              {extra("tool_choice", `"none"`), core.ProviderInvalidRequest},
		"another temperature":         {extra("temperature", `0.7`), core.ProviderInvalidRequest},
		"a stream":                    {extra("stream", `true`), core.ProviderInvalidRequest},
		"an image for a text's model": {image, core.ProviderUnsupportedContent},
	} {
		if _, err := p.Complete(t.Context(), c.r); core.CategoryOf(err) != c.want {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := len(fake.Calls()); n > 0 {
		t.Errorf("%d requests were sent", n)
	}
}

// TestAnyValidHistoryIsAccepted: the API takes every request whose calls are answered, and equal requests are equal
// bytes.
func TestAnyValidHistoryIsAccepted(t *testing.T) {
	fake, p := start(t, openai.Config{})
	fake.Think(func(llmtest.Received) llmtest.Answer { return llmtest.OpenAISay("yes") })
	rapid.Check(t, func(rt *rapid.T) {
		r := histories.Draw(rt, "request")
		before := len(fake.Calls())
		for range 2 {
			if _, err := p.Complete(t.Context(), r); err != nil {
				rt.Fatalf("%v; %v", err, fake.Refused())
			}
		}
		if sent := fake.Calls()[before:]; !bytes.Equal(sent[0].Body, sent[1].Body) {
			rt.Fatalf("sent %s, then %s", sent[0].Body, sent[1].Body)
		}
	})
}

var histories = rapid.Custom(func(t *rapid.T) llm.Request {
	word := rapid.StringN(1, 20, 40)
	name := rapid.SampledFrom(
		[]string{
			"note.add", "note__add", "a.b", "a:_b", "plain",
			"server.a very long name of a tool that no vendor's API admits as it is, by far",
		})
	blocks := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) core.Block {
		return rapid.SampledFrom(
			[]core.Block{
				{Type: core.TextBlock, Text: "t"}, {Type: core.ThinkingBlock, Text: "t", Signature: "s"},
				{Type: core.RedactedThinkingBlock, Data: "d"},
			}).Draw(t, "block")
	}), 1, 4)
	r := llm.Request{Messages: []core.Message{text(core.User, word.Draw(t, "first"))}}
	for _, tool := range rapid.SliceOfNDistinct(name, 0, 4, rapid.ID[string]).Draw(t, "tools") {
		r.Tools = append(r.Tools,
			llm.Tool{
				Name: tool, Description: word.Draw(t, "description"),
				Parameters: raw(`{"type":"object","properties":{"z":{"type":"string"},"a":{}}}`),
			})
	}
	for round := range rapid.IntRange(0, 4).Draw(t, "rounds") {
		m := core.Message{Role: core.Assistant, Content: core.Blocks(blocks.Draw(t, "blocks")...)}
		for call := range rapid.IntRange(0, 3).Draw(t, "calls") {
			m.ToolCalls = append(m.ToolCalls,
				core.ToolCall{ID: fmt.Sprintf("c%d.%d", round, call), Name: name.Draw(t, "name"),
					Arguments: raw(
						rapid.SampledFrom([]string{`{"b":{"d":1,"c":"é\u0000<"},"a":[]}`, `null`, ``}).Draw(t,
							"arguments"))})
		}
		r.Messages = append(r.Messages, m)
		for _, c := range rapid.Permutation(m.ToolCalls).Draw(t, "results") {
			r.Messages = append(r.Messages,
				core.Message{Role: core.ToolRole, ToolCallID: c.ID, Content: core.Text(word.Draw(t, "result"))})
		}
		r.Messages = append(r.Messages, text(core.User, word.Draw(t, "said")))
	}
	return r
})
