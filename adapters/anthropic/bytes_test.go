package anthropic_test

import (
	"encoding/json"
	"testing"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

func TestEqualRequestsAreEqualBytes(t *testing.T) {
	fake, p := open(t, llmtest.AnthropicSay("1"), llmtest.AnthropicSay("2"))
	for _, c := range []struct{ schema, arguments, extra string }{
		{
			`{"type":"object","properties":{"a":{"type":"string","enum":["x","y"]},"b":{"minimum":1,` +
				`"type":"integer"}}}`,
			`{"x":{"b":2,"a":1},"id":12345678901234567890}`, `{"user_id":"u","z":1}`,
		},
		{` { "properties": {"b":{"type":"integer","minimum":1}, "a":{"enum":["x","y"],"type":"string"}}, ` +
			`"type":"object" } `,
			`{"id":12345678901234567890, "x":{"a":1, "b":2}}`, `{"z":1,"user_id":"u"}`},
	} {
		r := request(user("<go> & \u2028"), assistant(core.Content{}, call("c", "demo.f", c.arguments)),
			result("c", "1"))
		r.Tools = []llm.Tool{{Name: "demo.f", Parameters: json.RawMessage(c.schema)}}
		r.Config.Extra = map[string]json.RawMessage{"metadata": json.RawMessage(c.extra), "top_k": json.RawMessage("5")}
		if _, err := p.Complete(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	a, b := string(fake.Calls()[0].Body), string(fake.Calls()[1].Body)
	want := `{"max_tokens":100,"messages":[{"content":"<go> & \u2028","role":"user"},` +
		`{"content":[{"id":"c","input":{"id":12345678901234567890,"x":{"a":1,"b":2}},"name":"demo__f",` +
		`"type":"tool_use"}],"role":"assistant"},` +
		`{"content":[{"content":"1","tool_use_id":"c","type":"tool_result"}],"role":"user"}],` +
		`"metadata":{"user_id":"u","z":1},"model":"claude-test",` +
		`"tools":[{"input_schema":{"properties":{"a":{"enum":["x","y"],"type":"string"},"b":{"minimum":1,` +
		`"type":"integer"}},"type":"object"},"name":"demo__f"}],"top_k":5}`
	if a != want || b != want {
		t.Errorf("bodies:\n%s\n%s\nwant\n%s", a, b, want)
	}
}

func TestAnEarlierPartOfAHistoryIsTheSameBytes(t *testing.T) {
	history := []core.Message{
		user("go"), assistant(core.Text("a"), call("x:1", "demo.f", `{}`)), result("x:1", "1"),
		assistant(core.Text("b")), user("on"),
		assistant(core.Content{}, call("x:1", "demo.f", `{}`), call("x_1", "f", `{}`)), result("x_1", "2"),
		result("x:1", "1"), assistant(core.Text("c")), user("end"),
	}
	var before []any
	for _, end := range []int{1, 5, len(history)} {
		fake, p := open(t, llmtest.AnthropicSay("ok"))
		if _, err := p.Complete(t.Context(), request(history[:end]...)); err != nil {
			t.Fatal(err)
		}
		messages := sent(t, fake)["messages"].([]any)
		for i, m := range before {
			a, _ := json.Marshal(m)
			b, _ := json.Marshal(messages[i])
			if string(a) != string(b) {
				t.Errorf("message %d was %s, is %s", i, a, b)
			}
		}
		before = messages
	}
}
