package llmtest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"gatehouse/core/llm/llmtest"
)

func postOpenAI(t *testing.T, client *http.Client, url, body string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/chat/completions",
		strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{"Authorization": {"Bearer sk-secret"}, "Content-Type": {"application/json"}}
	res, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(data)
}

func TestTheFakeOfOpenAIRefusesWhatTheAPIRefuses(t *testing.T) {
	const (
		ask  = `{"role":"user","content":"go"}`
		call = `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function",` +
			`"function":{"name":"f","arguments":"{}"}}]}`
		done = `{"role":"tool","tool_call_id":"a","content":"1"}`
		tool = `{"type":"function","function":{"name":"f","parameters":{"type":"object","properties":{}}}}`
	)
	messages := func(all ...string) string { return `{"model":"m","messages":[` + strings.Join(all, ",") + `]}` }
	with := func(field string) string { return `{"model":"m","messages":[` + ask + `],` + field + `}` }
	for body, fault := range map[string]string{
		messages(ask):                  "",
		messages(ask, call, done):      "",
		messages(ask, call, done, ask): "",
		with(`"tools":[` + tool +
			`],"tool_choice":{"type":"function","function":{"name":"f"}},"stop":"x","seed":1,"temperature":2`): "",

		`[`:                                  "not JSON",
		`{"messages":[` + ask + `]}`:         `missing required field "model"`,
		`{"model":"m","messages":[]}`:        "at least 1",
		with(`"top_k":1`):                    `unknown field "top_k"`,
		with(`"temperature":2.1`):            "between 0 and 2",
		with(`"max_tokens":0`):               "at least 1",
		with(`"stop":["1","2","3","4","5"]`): "more than 4",
		with(`"stream_options":{"include_usage":true}`): "is only allowed when 'stream'",
		with(`"tools":[]`):                                 "at least 1",
		with(`"tools":[` + tool + `,` + tool + `]`):        "twice",
		with(`"tool_choice":"auto"`):                       "only allowed when 'tools'",
		with(`"tools":[` + tool + `],"tool_choice":"any"`): "none of",
		with(`"tools":[` + tool +
			`],"tool_choice":{"type":"function","function":{"name":"g"}}`): "none of",
		with(`"tools":[` + strings.ReplaceAll(tool, `"f"`, `"note.add"`) +
			`]`): "does not match",
		with(`"tools":[` + strings.ReplaceAll(tool, `"object"`, `"string"`) +
			`]`): "schema must be",
		with(`"tools":[` + strings.ReplaceAll(tool, `,"properties":{}`, ``) +
			`]`): "with properties",
		with(`"tools":[` + strings.ReplaceAll(tool, `"properties":{}`, `"properties":{},"anyOf":[]`) +
			`]`): "must not have anyOf",
		with(`"tools":[` + strings.ReplaceAll(tool, `{}`, `{"a":{"type":"array"}}`) +
			`]`): "array schema missing items",
		with(`"tools":[` + strings.ReplaceAll(tool, `{}`, `{"a":{"items":[]}}`) +
			`]`): "items must not be a list",
		with(`"tools":[` + strings.ReplaceAll(tool, `"name"`, `"description":"`+strings.Repeat("x", 1025)+`","name"`) +
			`]`): "1024 characters",
		messages(`{"role":"robot","content":"x"}`): "none of",
		messages(
			`{"role":"user"}`): `missing required field "content"`,
		messages(`{"role":"user","content":[]}`): "at least 1",
		messages(
			`{"role":"user","content":"x","tool_calls":[]}`): `unknown field "tool_calls"`,
		messages(`{"role":"user","content":[{"type":"image_url","image_url":{"url":"file:///etc"}}]}`): "must be a URL",
		messages(`{"role":"user","content":[{"type":"thinking","text":"x"}]}`):                         "none of",
		messages(ask,
			`{"role":"assistant"}`, ask): "is required unless",
		messages(ask, `{"role":"assistant","content":"x","tool_calls":[]}`, ask): "at least 1",
		messages(ask, call, ask):        "must be followed by tool messages",
		messages(ask, call):             "have no result",
		messages(ask, done):             "must be a response to a preceding message",
		messages(ask, call, done, done): "must be a response to a preceding message",
		messages(ask, strings.ReplaceAll(call, `"{}"`, `"{"`), done): "text of a JSON object",
		messages(ask, strings.ReplaceAll(call, `"{}"`, `{}`), done):  "must be a text",
	} {
		fake := llmtest.NewOpenAI(llmtest.OpenAISay("yes"))
		status, answer := postOpenAI(t, http.DefaultClient, fake.URL, body)
		refused := strings.Join(fake.Refused(), "; ")
		if fault == "" && (status != http.StatusOK || refused != "" || !strings.Contains(answer, "yes")) ||
			fault != "" && (status != http.StatusBadRequest || !strings.Contains(refused, fault) || fake.Left() != 1) {
			t.Errorf("%s: %d %s", body, status, answer)
		}
		fake.Close()
	}
}

func TestTheFakeOfOpenAIKnowsItsKeyAndModels(t *testing.T) {
	fake := llmtest.NewOpenAI()
	defer fake.Close()
	fake.Models = []string{"m"}
	if status, answer := postOpenAI(t, http.DefaultClient, fake.URL,
		`{"model":"n","messages":[{"role":"user","content":"x"}]}`); status != http.StatusNotFound ||
		!strings.Contains(answer, "model_not_found") {
		t.Errorf("%d %s", status, answer)
	}
	if status, answer := postOpenAI(t, http.DefaultClient, fake.URL,
		`{"model":"m","messages":[{"role":"user","content":"x"}]}`); status != http.StatusInternalServerError ||
		!strings.Contains(answer, "no answer left") {
		t.Errorf("%d %s", status, answer)
	}
	other := llmtest.NewOpenAI()
	defer other.Close()
	other.Key = "another"
	if status, _ := postOpenAI(t, http.DefaultClient, other.URL, `{}`); status != http.StatusUnauthorized {
		t.Errorf("a wrong key: %d", status)
	}
}
