package llm_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/llm"
)

func user(text string) core.Message { return core.Message{Role: core.User, Content: core.Text(text)} }

func system(text string) core.Message {
	return core.Message{Role: core.System, Content: core.Text(text)}
}

func said(text string) core.Message {
	return core.Message{Role: core.Assistant, Content: core.Text(text)}
}

func calls(ids ...string) core.Message {
	m := core.Message{Role: core.Assistant}
	for _, id := range ids {
		m.ToolCalls = append(m.ToolCalls, core.ToolCall{ID: id, Name: "note.add", Arguments: json.RawMessage(`{}`)})
	}
	return m
}

func result(id string) core.Message {
	return core.Message{Role: core.ToolRole, ToolCallID: id, Content: core.Text("ok")}
}

func TestARequestIsCheckedBeforeItIsSent(t *testing.T) {
	nan := math.NaN()
	tool := llm.Tool{Name: "note.add", Parameters: json.RawMessage(`{"type":"object"}`)}
	hi := []core.Message{user("hi")}
	for name, c := range map[string]struct {
		r    llm.Request
		want string // in the message; "": the request is valid
	}{
		"a question": {llm.Request{Messages: hi}, ""},
		"a whole exchange": {llm.Request{Messages: []core.Message{
			system("s"), user("a"), calls("1", "2"), result("2"), result("1"), said("b"), user("c"),
		}}, ""},
		"results last": {llm.Request{Messages: []core.Message{user("a"), calls("1"), result("1")}}, ""},
		"a forced tool": {llm.Request{
			Messages: hi, Tools: []llm.Tool{tool}, Choice: llm.Choice{Mode: llm.ChooseTool, Tool: "note.add"},
		}, ""},
		"no tools for auto":         {llm.Request{Messages: hi, Choice: llm.Choice{Mode: llm.ChooseAuto}}, ""},
		"a tool without parameters": {llm.Request{Messages: hi, Tools: []llm.Tool{{Name: "x"}}}, ""},
		"nothing":                   {llm.Request{}, "at least one message"},
		"a late system message": {
			llm.Request{Messages: []core.Message{user("a"), system("s"), user("b")}}, "Message 2 is a system message",
		},
		"two system messages": {
			llm.Request{Messages: []core.Message{system("a"), system("s"), user("b")}}, "Message 2 is a system message",
		},
		"only a system message": {llm.Request{Messages: []core.Message{system("a")}}, "must be a user's"},
		"an assistant first": {
			llm.Request{Messages: []core.Message{said("a"), user("b")}}, "must be a user's",
		},
		"an assistant last": {
			llm.Request{Messages: []core.Message{user("a"), said("b")}}, "nothing to answer",
		},
		"an empty message": {
			llm.Request{Messages: []core.Message{user("")}}, "Message 1: content must not be empty",
		},
		"a result of no call": {llm.Request{Messages: []core.Message{user("a"), result("1")}}, `the call "1"`},
		"a result before its call": {llm.Request{Messages: []core.Message{
			user("a"), result("1"), calls("1"), result("1"),
		}}, `the call "1"`},
		"an image of the store": {llm.Request{Messages: []core.Message{{
			Role: core.User, Content: core.Blocks(core.StoredImage("image/png", core.Digest(nil), 1)),
		}}}, "must be loaded"},
		"arguments that are a list": {llm.Request{Messages: []core.Message{
			user("a"),
			{Role: core.Assistant, ToolCalls: []core.ToolCall{{ID: "1", Name: "x", Arguments: json.RawMessage(`[]`)}}},
			result("1"),
		}}, "object or null"},
		"two tools of a name":   {llm.Request{Messages: hi, Tools: []llm.Tool{tool, tool}}, "two tools"},
		"a tool without a name": {llm.Request{Messages: hi, Tools: []llm.Tool{{}}}, "needs a name"},
		"parameters that are no JSON": {llm.Request{
			Messages: hi, Tools: []llm.Tool{{Name: "x", Parameters: json.RawMessage(`{`)}},
		}, "not valid JSON"},
		"parameters of a list": {llm.Request{
			Messages: hi, Tools: []llm.Tool{{Name: "x", Parameters: json.RawMessage(`{"type":"array"}`)}},
		}, "Schema of an object"},
		"required without tools": {
			llm.Request{Messages: hi, Choice: llm.Choice{Mode: llm.ChooseRequired}}, "there are no tools",
		},
		"a forced tool without tools": {
			llm.Request{Messages: hi, Choice: llm.Choice{Mode: llm.ChooseTool, Tool: "x"}}, "not among the tools",
		},
		"another tool": {llm.Request{
			Messages: hi, Tools: []llm.Tool{tool}, Choice: llm.Choice{Mode: llm.ChooseTool, Tool: "x"},
		}, "not among the tools"},
		"an unknown choice": {
			llm.Request{Messages: hi, Choice: llm.Choice{Mode: "any"}}, "Unknown tool choice",
		},
		"a tool with another choice": {llm.Request{
			Messages: hi, Tools: []llm.Tool{tool}, Choice: llm.Choice{Mode: llm.ChooseAuto, Tool: "note.add"},
		}, "only the choice tool"},
		"a temperature of no number": {
			llm.Request{Messages: hi, Config: llm.Config{Temperature: &nan}}, "must be a number",
		},
		"an extra of no JSON": {llm.Request{
			Messages: hi, Config: llm.Config{Extra: map[string]json.RawMessage{"a": []byte("{")}},
		}, "extra setting a"},
	} {
		err := c.r.Validate()
		if c.want == "" && err != nil ||
			c.want != "" &&
				(core.CategoryOf(err) != core.ProviderInvalidRequest ||
					!strings.Contains(core.MessageOf(err), c.want)) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

func TestCanonicalBytes(t *testing.T) {
	a, err := llm.Canonical([]byte(` {"b": [ 1.50, {"y":null,"x":"<é>\u00e9"} ],"a":12345678901234567890 }`))
	if want := `{"a":12345678901234567890,"b":[1.50,{"x":"<é>é","y":null}]}`; err != nil || string(a) != want {
		t.Errorf("got %s, %v; want %s", a, err, want)
	}
	if _, err := llm.Canonical([]byte(`{"a":1,"a":2}`)); core.CategoryOf(err) != core.ProviderInvalidRequest {
		t.Errorf("a repeated key: %v", err)
	}
}

func TestExtraSettingsMeetTheBody(t *testing.T) {
	for name, c := range map[string]struct{ body, extra, want string }{
		"another key": {
			`{"model":"m"}`, `{"repetition_penalty":1.05,"nothing":null}`,
			`{"model":"m","nothing":null,"repetition_penalty":1.05}`,
		},
		"the same value": {
			`{"temperature":1.0,"tools":[{"a":1,"b":[2]}]}`, `{"temperature":1e0,"tools":[{"b":[2.0],"a":1}]}`,
			`{"temperature":1.0,"tools":[{"a":1,"b":[2]}]}`,
		},
		"another value":        {`{"model":"m"}`, `{"model":"n"}`, ""},
		"another order":        {`{"tools":[1,2]}`, `{"tools":[2,1]}`, ""},
		"a big number":         {`{"seed":9007199254740993}`, `{"seed":9007199254740992}`, ""},
		"another type":         {`{"seed":1}`, `{"seed":"1"}`, ""},
		"a list":               {`{"stop":["A","B"]}`, `{"stop":["C","A","C"]}`, `{"stop":["A","B","C"]}`},
		"a text for a list":    {`{"stop":["A"]}`, `{"stop":"B"}`, `{"stop":["A","B"]}`},
		"a text and no list":   {`{}`, `{"stop":"B"}`, `{"stop":"B"}`},
		"a number for a list":  {`{"stop":["A"]}`, `{"stop":1}`, `{"stop":["A"]}`},
		"a number and no list": {`{}`, `{"stop":1}`, `{}`},
		"a list with a number": {`{"stop":["A"]}`, `{"stop":["B",1]}`, `{"stop":["A"]}`},
		"null for a list":      {`{"stop":["A"]}`, `{"stop":null}`, `{"stop":["A"]}`},
		"zero and its other forms": {
			`{"a":0,"b":100,"c":0.001}`, `{"a":-0.0,"b":1e2,"c":1E-3}`, `{"a":0,"b":100,"c":0.001}`,
		},
		"a number of another power": {`{"b":100}`, `{"b":1e3}`, ""},
	} {
		var body, extra map[string]json.RawMessage
		if json.Unmarshal([]byte(c.body), &body) != nil || json.Unmarshal([]byte(c.extra), &extra) != nil {
			t.Fatal(name)
		}
		err := llm.MergeExtra(body, extra, llm.TextList{Key: "stop", Scalar: true})
		if got, _ := json.Marshal(body); c.want != "" && (err != nil || string(got) != c.want) {
			t.Errorf("%s: %s, %v; want %s", name, got, err, c.want)
		}
		if c.want == "" && core.CategoryOf(err) != core.ProviderInvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
}
