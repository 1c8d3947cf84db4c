package anthropic_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

// The API refuses the whole request for one argument with such a name.
func TestArgumentsHaveNamesThatTheAPIAdmits(t *testing.T) {
	long := strings.Repeat("long", 20)
	fake, p := open(t,
		llmtest.AnthropicCall(
			call("c2", "list__apps", `{"filter_id_":[1.50],"a.b":{"filter_id_":1},"invented name":null}`),
			call("c3", "plain", `{"filter_id_":1}`)))
	r := request(user("go"),
		assistant(core.Content{}, call("c1", "list.apps", `{"filter[id]":["x"],"a.b":{"filter[id]":0}}`)),
		result("c1", "none"))
	r.Tools = []llm.Tool{
		{
			Name: "list.apps",
			Parameters: json.RawMessage(
				`{"type":"object","required":["filter[id]","a.b"],"if":{"required":["a.b"]},"properties":{
			"filter[id]":{"type":"array"},"a.b":{"type":"object","properties":{"filter[id]":{}}},
			"sort":{"title":"Order"},"sört":{"title":"Another order"}}}`),
		},
		{
			Name: "plain",
			Parameters: json.RawMessage(
				`{"type":"object","properties":{"filter_id_":{}},"if":{"required":["filter_id_"]}}`),
		},
		{Name: "long", Parameters: json.RawMessage(`{"type":"object","properties":{"` + long + `":true}}`)},
	}
	answer, err := p.Complete(t.Context(), r)
	if err != nil {
		t.Fatalf("%v; %v", err, fake.Refused())
	}
	body := sent(t, fake)
	tools := body["tools"].([]any)
	for i, want := range []string{
		`{"type":"object","required":["filter_id_","a.b"],"properties":{
			"filter_id_":{"type":"array","title":"filter[id]"},
			"a.b":{"type":"object","properties":{"filter[id]":{}}},"sort":{"title":"Order"},
			"s_rt":{"title":"Another order"}}}`,
		`{"type":"object","properties":{"filter_id_":{}},"if":{"required":["filter_id_"]}}`,
	} {
		if diff := cmp.Diff(decode(t, want), tools[i].(map[string]any)["input_schema"]); diff != "" {
			t.Error(diff)
		}
	}
	before := body["messages"].([]any)[1].(map[string]any)["content"].([]any)[0].(map[string]any)["input"]
	if diff := cmp.Diff(decode(t, `{"filter_id_":["x"],"a.b":{"filter[id]":0}}`), before); diff != "" {
		t.Error(diff)
	}
	for i, want := range []string{
		`{"filter[id]":[1.50],"a.b":{"filter_id_":1},"invented name":null}`, `{"filter_id_":1}`,
	} {
		if got := string(answer.Message.ToolCalls[i].Arguments); got != want {
			t.Errorf("the model's call %d has %s, want %s", i, got, want)
		}
	}
}
