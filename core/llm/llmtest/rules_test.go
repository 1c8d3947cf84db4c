package llmtest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/llm/llmtest"
)

func TestRulesRefuseWhatTheVendorsRefuse(t *testing.T) {
	for text, want := range map[string]string{
		`[{"role":"system","content":"s"},{"role":"user","content":"hi"}]`: "",
		`[{"role":"user","content":"hi"},{"role":"assistant","content":"","tool_calls":[{"id":"a","name":"t",` +
			`"arguments":{}},{"id":"b","name":"t","arguments":{}}]},{"role":"tool","tool_call_id":"b",` +
			`"content":"1"},{"role":"tool","tool_call_id":"a","content":"2"}]`: "",

		`[]`:                                "no messages",
		`[{"role":"user","content":""}]`:    "must not be empty",
		`[{"role":"user","content":" "}]`:   "visible",
		`[{"role":"system","content":"s"}]`: "no messages",
		`[{"role":"user","content":"hi"},{"role":"system","content":"s"}]`:                  "not the first",
		`[{"role":"assistant","content":"hi"},{"role":"user","content":"hi"}]`:              "first message",
		`[{"role":"user","content":"hi"},{"role":"assistant","content":"hi"}]`:              "last message",
		`[{"role":"user","content":"hi"},{"role":"tool","tool_call_id":"a","content":"1"}]`: "no earlier call",
		`[{"role":"user","content":"hi"},` + call("a", `{}`) +
			`,{"role":"user","content":"x"}]`: "without results",
		`[{"role":"user","content":"hi"},` + call("a", `{}`) + `,` + answer("a") + `,` + answer("a") +
			`]`: "message before it",
		`[{"role":"user","content":"hi"},` + call("a", `{}`) + `,` + answer("a") + `,` + call("a", `{}`) +
			`,` + answer("a") + `]`: "again",
		`[{"role":"user","content":"hi"},` + call("a", `null`) + `,` + answer("a") +
			`]`: "no object",
		`[{"role":"user","content":"hi"},` + call("a b", `{}`) + `,` + answer("a b") +
			`]`: "refused",
		`[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","text":"x",` +
			`"signature":"s"}]},{"role":"user","content":"x"}]`: "neither content",
		`[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"text","text":"x"},` +
			`{"type":"thinking","text":"x","signature":"s"}]},{"role":"user","content":"x"}]`: "ends with thinking",
		`[{"role":"user","content":"hi"},{"role":"assistant","content":[{"type":"thinking","text":"x"},` +
			`{"type":"text","text":"x"}]},{"role":"user","content":"x"}]`: "signature",
		`[{"role":"user","content":"hi"},{"role":"assistant","content":"x"},{"role":"assistant",` +
			`"content":[{"type":"thinking","text":"x","signature":"s"},{"type":"text","text":"x"}]},` +
			`{"role":"user","content":"x"}]`: "continues",
	} {
		var msgs []core.Message
		if err := json.Unmarshal([]byte(text), &msgs); err != nil {
			t.Fatal(err)
		}
		err := llmtest.Rules(msgs)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}

func call(id, arguments string) string {
	return `{"role":"assistant","tool_calls":[{"id":"` + id + `","name":"t","arguments":` + arguments + `}]}`
}

func answer(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"1"}` }
