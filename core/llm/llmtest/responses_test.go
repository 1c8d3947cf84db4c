package llmtest_test

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/llm/llmtest"
)

// post sends a body to a fake, and gives why it was refused, and the answer.
func post(t *testing.T, fake *llmtest.Server, path, key, body string, headers ...string) (refused, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, fake.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"Authorization": {"Bearer " + key}, "X-Api-Key": {key}, "Anthropic-Version": {"2023-06-01"},
		"Content-Type": {"application/json"},
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	calls := fake.Calls()
	return calls[len(calls)-1].Refused, string(data)
}

const (
	weather   = `{"type":"function","name":"f","parameters":{"type":"object","properties":{}},"strict":false}`
	ask       = `{"role":"user","content":"go"}`
	include   = `"store":false,"include":["reasoning.encrypted_content"]`
	responses = "/v1/responses"
)

func responsesOf(input ...string) string {
	return `{"model":"gpt-6-sol",` + include + `,"tools":[` + weather + `],"input":[` + strings.Join(input, ",") + `]}`
}

// TestTheFakeOfResponsesRefusesWhatTheAPIRefuses: the fake has issued reasoning, a text and a call.
func TestTheFakeOfResponsesRefusesWhatTheAPIRefuses(t *testing.T) {
	fake := llmtest.NewOpenAI(llmtest.OpenAICall(core.ToolCall{ID: "c1", Name: "f", Arguments: json.RawMessage("{}")}),
		llmtest.OpenAISay("done"))
	defer fake.Close()
	var issued []string
	for range 2 {
		refused, body := post(t, &fake.Server, responses, "k", responsesOf(ask))
		var answer struct{ Output []json.RawMessage }
		if err := json.Unmarshal([]byte(body), &answer); err != nil || refused != "" || len(answer.Output) != 2 {
			t.Fatalf("%v %s %s", err, refused, body)
		}
		for _, item := range answer.Output {
			issued = append(issued, string(item))
		}
	}
	reasoning, call, thought, said := issued[0], issued[1], issued[2], issued[3]
	done := `{"type":"function_call_output","call_id":"c1","output":"1"}`
	fake.Think(func(llmtest.Received) llmtest.Answer { return llmtest.OpenAISay("yes") })
	whole := responsesOf(ask, reasoning, call, done, thought, said, ask)
	replaced := func(old, new string) string { return strings.Replace(whole, old, new, 1) }
	for name, c := range map[string]struct{ key, body, fault string }{
		"the whole conversation": {"k", whole, ""},
		"what the fake did not send": {
			"k",
			responsesOf(ask, `{"role":"assistant","content":"hm"}`, strings.ReplaceAll(call, "c1", "c9"),
				strings.ReplaceAll(done, "c1", "c9")), "without its required 'reasoning' item",
		},
		"a call of elsewhere": {
			"k",
			responsesOf(ask, `{"type":"function_call","call_id":"c9","name":"f","arguments":"{}"}`,
				strings.ReplaceAll(done, "c1", "c9")), "",
		},
		"an unknown field":      {"k", replaced(`"input"`, `"seed":1,"input"`), `unknown field "seed"`},
		"an unknown item":       {"k", responsesOf(ask, `{"type":"thinking"}`), "Invalid value: 'thinking'"},
		"a malformed call":      {"k", replaced(`"arguments":"{}"`, `"arguments":{}`), "must be a text"},
		"no reasoning":          {"k", replaced(reasoning+",", ""), "without its required 'reasoning' item"},
		"other reasoning":       {"k", replaced(reasoning, thought), "without its required 'reasoning' item"},
		"reasoning and nothing": {"k", replaced(call+","+done+",", ""), "without its required following item"},
		"another model":         {"k", replaced("gpt-6-sol", "gpt-6-luna"), "could not be verified"},
		"another account":       {"other", whole, "could not be verified"},
		"nothing encrypted":     {"k", replaced(`"encrypted_content"`, `"content":[],"status"`), "not found"},
		"temperature": {
			"k", replaced(`"input"`, `"temperature":1,"input"`), "'temperature' is not supported",
		},
		"top_p":          {"k", replaced(`"input"`, `"top_p":1,"input"`), "'top_p' is not supported"},
		"stop":           {"k", replaced(`"input"`, `"stop":["x"],"input"`), `unknown field "stop"`},
		"no strict":      {"k", replaced(`,"strict":false`, ``), `missing required field "strict"`},
		"strict is null": {"k", replaced(`"strict":false`, `"strict":null`), "must be true or false"},
		"strict and open": {
			"k", replaced(`"strict":false`, `"strict":true`), "'additionalProperties' is required",
		},
		"no output":            {"k", replaced(done+",", ""), "No tool output found for function call c1"},
		"an output of nothing": {"k", replaced(call+",", ""), "No tool call found"},
		"no phase": {
			"k", replaced(`"phase":"final_answer",`, ""), `the phase of this message was "final_answer"`,
		},
	} {
		if refused, answer := post(t, &fake.Server, responses, c.key, c.body); (c.fault == "") != (refused == "") ||
			!strings.Contains(refused, c.fault) {
			t.Errorf("%s: refused %q, want %q: %s", name, refused, c.fault, answer)
		}
	}
	if refused, _ := post(t, &fake.Server, "/v1/chat/completions", "k",
		`{"model":"gpt-6-sol","messages":[`+ask+
			`],"tools":[{"type":"function","function":{"name":"f"}}]}`); !strings.Contains(refused, "/v1/responses") {
		t.Errorf("tools on chat completions: %q", refused)
	}
}

// TestAStreamOfResponsesEndsWithTheAnswer: in pieces before, and whole in the last event.
func TestAStreamOfResponsesEndsWithTheAnswer(t *testing.T) {
	fake := llmtest.NewOpenAI(llmtest.OpenAISay("a few words"))
	defer fake.Close()
	_, answer := post(t, &fake.Server, responses,
		"k", strings.Replace(responsesOf(ask), `"input"`, `"stream":true,"input"`, 1))
	for _, want := range []string{
		`"delta":"a fe"`, "event: response.output_item.done\n", `"text":"a few words"`, "event: response.completed\n",
	} {
		if !strings.Contains(answer, want) {
			t.Errorf("there is no %s: %s", want, answer)
		}
	}
}

// TestOtherServersOfChatCompletions: what Gemini, DeepSeek and a strict server refuse.
func TestOtherServersOfChatCompletions(t *testing.T) {
	calls := llmtest.OpenAICall(core.ToolCall{ID: "c1", Name: "f", Arguments: json.RawMessage("{}")},
		core.ToolCall{ID: "c2", Name: "f", Arguments: json.RawMessage("{}")})
	first := func(fake *llmtest.OpenAI, model string) (string, func(message string) string) {
		_, body := post(t, &fake.Server, "/v1/chat/completions", "k", `{"model":"`+model+`","messages":[`+ask+`]}`)
		var answer struct {
			Choices []struct{ Message json.RawMessage }
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil {
			t.Fatal(err)
		}
		return string(answer.Choices[0].Message), func(message string) string {
			body := `{"model":"` + model + `","messages":[` + ask + "," + message +
				`,{"role":"tool","tool_call_id":"c1","content":"1"},{"role":"tool","tool_call_id":"c2","content":"2"}]}`
			refused, _ := post(t, &fake.Server, "/v1/chat/completions", "k", body)
			return refused
		}
	}
	fake := llmtest.NewOpenAI(calls)
	defer fake.Close()
	fake.Think(func(llmtest.Received) llmtest.Answer { return llmtest.OpenAISay("yes") })
	fake.Gemini = true
	message, again := first(fake, "gemini-3")
	signature := message[strings.Index(message, `"extra_content"`):strings.Index(message, `"function"`)]
	for name, c := range map[string]struct{ message, fault string }{
		"as it came": {message, ""},
		"none":       {strings.Replace(message, signature, "", 1), "missing a thought_signature"},
		"another one": {
			strings.Replace(message, "signature+/=", "signature", 1), "missing a thought_signature",
		},
		"one on the sibling": {
			strings.Replace(message, `"id":"c2"`, signature+`"id":"c2"`, 1), "missing a thought_signature",
		},
		"a placeholder": {
			strings.Replace(message, "signature+/=1", "skip_thought_signature_validator", 1),
			"missing a thought_signature",
		},
		"nothing of it is ours": {`{"role":"assistant","content":null,"tool_calls":[{"id":"c9","type":"function",` +
			`"function":{"name":"f","arguments":"{}"}}]}`,
			"missing a thought_signature"},
	} {
		if refused := again(c.message); (c.fault == "") != (refused == "") || !strings.Contains(refused, c.fault) {
			t.Errorf("Gemini, %s: %q, want %q", name, refused, c.fault)
		}
	}
	deep := llmtest.NewOpenAI(calls)
	defer deep.Close()
	deep.Think(func(llmtest.Received) llmtest.Answer { return llmtest.OpenAISay("yes") })
	deep.DeepSeek = true
	message, again = first(deep, "deepseek-chat")
	if refused := again(message); refused != "" {
		t.Errorf("DeepSeek, as it came: %s", refused)
	}
	if refused := again(strings.Replace(message, "reasoning_content", "refusal", 1)); !strings.Contains(refused,
		"must be passed back") {
		t.Errorf("DeepSeek, without its reasoning: %q", refused)
	}
	if refused, _ := post(t, &deep.Server, "/v1/chat/completions", "k",
		`{"model":"deepseek-reasoner","messages":[`+ask+`,{"role":"assistant","content":"a","reasoning_content":"b"},`+
			ask+`]}`); !strings.Contains(refused, "must not be passed") {
		t.Errorf("R1, with its reasoning: %q", refused)
	}
	deep.Strict = true
	if refused, _ := post(t, &deep.Server, "/v1/chat/completions", "k",
		`{"model":"m","messages":[`+ask+
			`],"stream":true,"stream_options":{"include_usage":true}}`); !strings.Contains(refused, "stream_options") {
		t.Errorf("a strict server: %q", refused)
	}
	if refused, _ := post(t, &deep.Server, "/v1/chat/completions", "k",
		`{"model":"gpt-5-mini","messages":[`+ask+`],"max_tokens":5}`); !strings.Contains(refused,
		"max_completion_tokens") {
		t.Errorf("max_tokens: %q", refused)
	}
}

// TestTheFakeOfAnthropicBindsThinking: to all before it, to the model and the account; newer models refuse more.
func TestTheFakeOfAnthropicBindsThinking(t *testing.T) {
	fake := llmtest.NewAnthropic(llmtest.AnthropicSay("hello"))
	defer fake.Close()
	fake.Thinks = true
	fake.Think(func(llmtest.Received) llmtest.Answer { return llmtest.AnthropicSay("yes") })
	body := func(model, rest string) string {
		return `{"model":"` + model + `","max_tokens":9,"system":"Be kind.","messages":[` + ask + rest + `]}`
	}
	_, answer := post(t, &fake.Server, "/v1/messages", "k", body("claude-opus-5-5", ""))
	var said struct{ Content json.RawMessage }
	if err := json.Unmarshal([]byte(answer), &said); err != nil {
		t.Fatal(err)
	}
	whole := body("claude-opus-5-5", `,{"role":"assistant","content":`+string(said.Content)+`},`+ask)
	dropping := strings.Replace(whole, `"messages"`,
		`"thinking":{"type":"adaptive","block_binding":{"prefix_mismatch_behavior":"drop_block"}},"messages"`, 1)
	changed := strings.NewReplacer("Be kind.", "Be brief.").Replace
	with := func(member string) string { return strings.Replace(whole, `"messages"`, member+`,"messages"`, 1) }
	tools := `"tools":[{"name":"f","input_schema":{"type":"object"}}],`
	for name, c := range map[string]struct{ key, beta, body, fault string }{
		"as it came": {"k", "", whole, ""},
		"marked": {
			"k",
			"",
			strings.Replace(whole, `"content":"go"`,
				`"content":[{"type":"text","text":"go","cache_control":{"type":"ephemeral"}}]`, 1), "",
		},
		"another prompt":     {"k", "", changed(whole), "bound to a different conversation"},
		"and dropped":        {"k", "thinking-binding-controls-2026-08-01", changed(dropping), ""},
		"without the header": {"k", "", dropping, "Extra inputs"},
		"another account":    {"other", "", whole, "Invalid `signature`"},
		"another model":      {"k", "", strings.Replace(whole, "opus", "sonnet", 1), "Invalid `signature`"},
		"forced":             {"k", "", with(tools + `"tool_choice":{"type":"any"}`), "forced tool use"},
		"asked to decide":    {"k", "", with(tools[:len(tools)-1]), "bound to a different conversation"},
		"sampling":           {"k", "", with(`"temperature":1`), "`temperature` is not supported"},
		"a budget":           {"k", "", with(`"thinking":{"type":"enabled","budget_tokens":1024}`), "budget_tokens"},
	} {
		if refused, answer := post(t, &fake.Server, "/v1/messages", c.key, c.body,
			"Anthropic-Beta", c.beta); (c.fault == "") != (refused == "") || !strings.Contains(refused, c.fault) {
			t.Errorf("%s: refused %q, want %q: %s", name, refused, c.fault, answer)
		}
	}
}
