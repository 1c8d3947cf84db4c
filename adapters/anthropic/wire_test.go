package anthropic_test

import (
	"encoding/json"
	"testing"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"

	"github.com/google/go-cmp/cmp"
)

func image(mediaType, data string) core.Block {
	return core.Block{
		Type: core.ImageBlock, MediaType: mediaType,
		Source: &core.ImageSource{Type: core.SourceInline, Base64Data: data},
	}
}

func text(s string) core.Block { return core.Block{Type: core.TextBlock, Text: s} }

func TestMessagesOnTheWire(t *testing.T) {
	thinking := core.Block{Type: core.ThinkingBlock, Text: "Hm.", Signature: "sig+/=\u2028<&>"}
	hidden := core.Block{Type: core.ThinkingBlock, Signature: "sig-only"}
	redacted := core.Block{Type: core.RedactedThinkingBlock, Data: "EmwKAhgB/+="}
	foreign := core.Block{Type: core.ThinkingBlock, Text: "of another provider"}
	lookUp := call("c1", "look_up", `{"b":1,"a":12345678901234567890}`)
	for name, c := range map[string]struct {
		messages []core.Message
		want     string
	}{
		"text": {[]core.Message{user("Hi")}, `[{"role":"user","content":"Hi"}]`},
		"list of blocks": {[]core.Message{{Role: core.User, Content: core.Blocks(text("Hi"))}},
			`[{"role":"user","content":[{"type":"text","text":"Hi"}]}]`},
		"images": {[]core.Message{{Role: core.User, Content: core.Blocks(image("image/png", "aGk="),
			core.Block{
				Type: core.ImageBlock, Detail: "high",
				Source: &core.ImageSource{Type: core.SourceURL, URL: "https://example.com/x.png"},
			})}},
			`[{"role":"user","content":[
			{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aGk="}},
				{"type":"image","source":{"type":"url","url":"https://example.com/x.png"}}]}]`},
		"users in a row": {[]core.Message{user("one"), user("two")},
			`[{"role":"user","content":[{"type":"text","text":"one"},{"type":"text","text":"two"}]}]`},
		"assistants in a row": {[]core.Message{
			user("one"), assistant(core.Text("a")), assistant(core.Text("b")), user("two"),
		},
			`[{"role":"user","content":"one"},{"role":"assistant","content":[{"type":"text","text":"a"},` +
				`{"type":"text","text":"b"}]},{"role":"user","content":"two"}]`},
		"results are one turn, before the next text": {
			[]core.Message{
				user("go"), assistant(core.Text("Looking."), lookUp, call("c2", "add", `{}`)), result("c2", "2"),
				result("c1", "1"), user("thanks"),
			},
			`[{"role":"user","content":"go"},
			  {"role":"assistant","content":[{"type":"text","text":"Looking."},
				{"type":"tool_use","id":"c1","name":"look_up","input":{"a":12345678901234567890,"b":1}},
				{"type":"tool_use","id":"c2","name":"add","input":{}}]},
			  {"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","content":"2"},
				{"type":"tool_result","tool_use_id":"c1","content":"1"},
				{"type":"text","text":"thanks"}]}]`},
		"thinking keeps its place and its bytes": {
			[]core.Message{user("go"), assistant(core.Blocks(hidden, thinking, redacted, text("So."))), user("on")},
			`[{"role":"user","content":"go"},
			  {"role":"assistant","content":[{"type":"thinking","thinking":"","signature":"sig-only"},
				{"type":"thinking","thinking":"Hm.","signature":"sig+/=\u2028<&>"},
				{"type":"redacted_thinking","data":"EmwKAhgB/+="},{"type":"text","text":"So."}]},
			  {"role":"user","content":"on"}]`},
		"thinking before calls": {
			[]core.Message{user("go"), assistant(core.Blocks(thinking), call("c", "f", `{}`)), result("c", "1")},
			`[{"role":"user","content":"go"},
			  {"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"sig+/=\u2028<&>"},
				{"type":"tool_use","id":"c","name":"f","input":{}}]},
				{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"1"}]}]`},
		"thinking without a signature, or with nothing after it, is left out": {
			[]core.Message{
				user("go"), assistant(core.Blocks(foreign, text("So."), thinking)), user("on"),
				assistant(core.Blocks(thinking)), user("on?"),
			},
			`[{"role":"user","content":"go"},{"role":"assistant","content":[{"type":"text","text":"So."}]},
			  {"role":"user","content":[{"type":"text","text":"on"},{"type":"text","text":"on?"}]}]`},
		"what is not visible is left out": {
			[]core.Message{
				user(" \n"), assistant(core.Text(" ")), user("two"), assistant(core.Text("a"), call("c", "f", `null`)),
				result("c", " "),
			},
			`[{"role":"user","content":"two"},
			{"role":"assistant","content":[{"type":"text","text":"a"},
			{"type":"tool_use","id":"c","name":"f","input":{}}]},
			  {"role":"user","content":[{"type":"tool_result","tool_use_id":"c"}]}]`},
		"a blank turn": {[]core.Message{user("\t")}, `[{"role":"user","content":"(blank message)"}]`},
		"ids used twice, and ids with other characters": {
			[]core.Message{
				user("go"),
				assistant(core.Content{}, call("functions.f:0", "f", `{}`), call("functions.f:0", "f", `{}`)),
				result("functions.f:0", "first"), result("functions.f:0", "second"),
				assistant(core.Content{}, call("functions_f_0", "f", `{}`)), result("functions_f_0", "third"),
			},
			`[{"role":"user","content":"go"},
			  {"role":"assistant","content":[{"type":"tool_use","id":"functions_f_0","name":"f","input":{}},
				{"type":"tool_use","id":"functions_f_0_2","name":"f","input":{}}]},
			  {"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_f_0","content":"first"},
				{"type":"tool_result","tool_use_id":"functions_f_0_2","content":"second"}]},
			  {"role":"assistant","content":[{"type":"tool_use","id":"functions_f_0_3","name":"f","input":{}}]},
			  {"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_f_0_3","content":"third"}]}]`},
	} {
		t.Run(name, func(t *testing.T) {
			fake, p := open(t, llmtest.AnthropicSay("ok"))
			if _, err := p.Complete(t.Context(), request(c.messages...)); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(decode(t, c.want), sent(t, fake)["messages"]); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTheRestOfTheRequest(t *testing.T) {
	fake, p := open(t, llmtest.AnthropicCall(call("c", "demo__calc", `{"x":1}`), call("d", "invented", `{}`)))
	r := request(core.Message{Role: core.System, Content: core.Text("Be brief.")}, user("Hi"))
	r.Tools = []llm.Tool{
		{
			Name: "demo.calc", Description: "Calculates.",
			Parameters: json.RawMessage(
				`{"properties":{"x":{"type":"integer","minimum":1.0}},"required":["x"],"anyOf":[{}]}`),
		},
		{Name: "plain"},
	}
	r.Choice = llm.Choice{Mode: llm.ChooseTool, Tool: "demo.calc"}
	r.Config = llm.Config{
		MaxTokens: ptr(int64(7)), Temperature: ptr(0.5), TopP: ptr(0.9), StopSequences: []string{"STOP"},
		Extra: map[string]json.RawMessage{
			"stop_sequences": json.RawMessage(`["END","STOP"]`), "metadata": json.RawMessage(`{"user_id":"u"}`),
			"model": json.RawMessage(`"claude-test"`)},
	}
	res, err := p.Complete(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	want := decode(t,
		`{"model":"claude-test","max_tokens":7,"system":"Be brief.","messages":[{"role":"user","content":"Hi"}],
		"temperature":0.5,"top_p":0.9,"stop_sequences":["STOP","END"],"metadata":{"user_id":"u"},
		"tool_choice":{"type":"tool","name":"demo__calc"},
		"tools":[{"name":"demo__calc","description":"Calculates.",
			"input_schema":{"type":"object","properties":{"x":{"type":"integer","minimum":1.0}},"required":["x"]}},
			{"name":"plain","input_schema":{"type":"object"}}]}`)
	if diff := cmp.Diff(want, any(sent(t, fake))); diff != "" {
		t.Error(diff)
	}
	if got := []string{res.Message.ToolCalls[0].Name, res.Message.ToolCalls[1].Name}; !cmp.Equal(got,
		[]string{"demo.calc", "invented"}) {
		t.Errorf("calls of %v", got)
	}
}

func TestToolChoice(t *testing.T) {
	for mode, want := range map[llm.ChoiceMode]any{
		"": nil, llm.ChooseAuto: "auto", llm.ChooseNone: "none", llm.ChooseRequired: "any",
	} {
		fake, p := open(t, llmtest.AnthropicSay("ok"))
		r := hello()
		r.Tools, r.Choice = []llm.Tool{{Name: "f"}}, llm.Choice{Mode: mode}
		if _, err := p.Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
		choice, there := sent(t, fake)["tool_choice"].(map[string]any)
		if there != (want != nil) || there && choice["type"] != want {
			t.Errorf("%q is sent as %v, want %v", mode, choice, want)
		}
	}
}

func TestRequestsThatAreNotSent(t *testing.T) {
	for name, change := range map[string]func(*llm.Request){
		"no max_tokens":     func(r *llm.Request) { r.Config.MaxTokens = nil },
		"max_tokens of 0":   func(r *llm.Request) { r.Config.MaxTokens = ptr(int64(0)) },
		"seed":              func(r *llm.Request) { r.Config.Seed = ptr(int64(1)) },
		"frequency penalty": func(r *llm.Request) { r.Config.FrequencyPenalty = ptr(0.1) },
		"presence penalty":  func(r *llm.Request) { r.Config.PresencePenalty = ptr(0.0) },
		"another model": func(r *llm.Request) {
			r.Config.Extra = map[string]json.RawMessage{"model": json.RawMessage(`"other"`)}
		},
		"other messages": func(r *llm.Request) {
			r.Config.Extra = map[string]json.RawMessage{"messages": json.RawMessage(`[]`)}
		},
		"another max_tokens": func(r *llm.Request) {
			r.Config.Extra = map[string]json.RawMessage{"max_tokens": json.RawMessage(`5`)}
		},
		"stream": func(r *llm.Request) {
			r.Config.Extra = map[string]json.RawMessage{"stream": json.RawMessage(`true`)}
		},
		"a call without result": func(r *llm.Request) {
			r.Messages = append(r.Messages, assistant(core.Content{}, call("c", "f", `{}`)), user("?"))
		},
		"a result too late": func(r *llm.Request) {
			r.Messages = append(r.Messages, assistant(core.Content{}, call("c", "f", `{}`)), user("?"),
				result("c", "1"))
		},
		"one result of two": func(r *llm.Request) {
			r.Messages = append(r.Messages, assistant(core.Content{}, call("c", "f", `{}`), call("d", "f", `{}`)),
				result("d", "1"))
		},
		"a second result": func(r *llm.Request) {
			r.Messages = append(r.Messages, assistant(core.Content{}, call("c", "f", `{}`)), result("c", "1"),
				result("c", "1"))
		},
		"an assistant at the end": func(r *llm.Request) { r.Messages = append(r.Messages, assistant(core.Text("a"))) },
	} {
		fake, p := open(t, llmtest.AnthropicSay("ok"))
		r := hello()
		change(&r)
		_, err := p.Complete(t.Context(), r)
		if core.CategoryOf(err) != core.ProviderInvalidRequest || len(fake.Calls()) != 0 {
			t.Errorf("%s: %v after %d requests", name, err, len(fake.Calls()))
		}
	}
	fake, p := open(t)
	_, err := p.Complete(t.Context(),
		request(core.Message{Role: core.User, Content: core.Blocks(image("image/tiff", "aGk="))}))
	if core.CategoryOf(err) != core.ProviderUnsupportedContent || len(fake.Calls()) != 0 {
		t.Errorf("an image of a type that the API does not take: %v", err)
	}
}
