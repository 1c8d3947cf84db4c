package llmtest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"gatehouse/core/llm/llmtest"
)

// postAnthropic sends a body as a client of the API does.
func postAnthropic(t *testing.T, url, body string, header map[string]string) (status int, answer string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/v1/messages", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header = http.Header{
		"X-Api-Key": {"k"}, "Anthropic-Version": {"2023-06-01"}, "Content-Type": {"application/json"},
	}
	for name, value := range header {
		r.Header.Set(name, value)
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
	return res.StatusCode, string(data)
}

func TestTheFakeOfAnthropicRefusesWhatTheAPIRefuses(t *testing.T) {
	const (
		ask  = `{"role":"user","content":"go"}`
		call = `{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]}`
		done = `{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"1"}]}`
	)
	messages := func(all ...string) string {
		return `{"model":"m","max_tokens":9,"messages":[` + strings.Join(all, ",") + `]}`
	}
	blocks := func(role, list string) string { return `{"role":"` + role + `","content":[` + list + `]}` }
	with := func(field string) string {
		return `{"model":"m","max_tokens":9,"messages":[` + ask + `],` + field + `}`
	}
	for body, fault := range map[string]string{
		messages(ask):             "",
		messages(ask, call, done): "",
		messages(ask, call,
			blocks("user", `{"type":"tool_result","tool_use_id":"a"},{"type":"text","text":"and"}`)): "",
		with(`"tools":[{"name":"f","input_schema":{"type":"object"}}],"tool_choice":{"type":"tool","name":"f"}`): "",

		`{"model":"m","messages":[` + ask + `]}`:     `missing required field "max_tokens"`,
		`{"max_tokens":1,"messages":[` + ask + `]}`:  `missing required field "model"`,
		`{"model":"m","max_tokens":0,"messages":[]}`: "at least 1",
		`[`:                                   "not JSON",
		with(`"seed":1`):                      `unknown field "seed"`,
		with(`"temperature":1.5`):             "between 0 and 1",
		with(`"stop_sequences":[" "]`):        "non-whitespace",
		with(`"system":""`):                   "must not be empty",
		with(`"tool_choice":{"type":"auto"}`): "while providing tools",
		with(
			`"tools":[{"name":"a.b","input_schema":{"type":"object"}}]`): "should match pattern",
		with(
			`"tools":[{"name":"a","input_schema":{}}]`): "must be a text",
		with(
			`"tools":[{"name":"a","input_schema":{"type":"object","anyOf":[]}}]`): "does not support anyOf",
		with(
			`"tools":[{"name":"a","input_schema":{"type":"object","properties":{"a.b":{` +
				`"properties":{"a b":{}}}}}}]`): "",
		with(
			`"tools":[{"name":"a","input_schema":{"type":"object",` +
				`"$schema":"http://json-schema.org/draft-07/schema#"}}]`): "must be of draft 2020-12",
		with(
			`"tools":[{"name":"a","input_schema":{"type":"object","properties":{"a":{` +
				`"exclusiveMinimum":true}}}}]`): "must be a number",
		with(
			`"tools":[{"name":"a","input_schema":{"type":"object","properties":{"a ` +
				`b":{}}}}]`): "Property keys should match pattern",
		with(
			`"tools":[{"name":"a","input_schema":{"type":"object"}},{"name":"a",` +
				`"input_schema":{"type":"object"}}]`): "must be unique",
		with(
			`"tools":[{"name":"a","input_schema":{"type":"object"}}],"tool_choice":{` +
				`"type":"tool","name":"b"}`): "not found",
		messages(`{"role":"system","content":"go"}`):         `"system" is none of`,
		messages(`{"role":"assistant","content":"go"}`, ask): "roles must alternate",
		messages(ask, ask): "roles must alternate",
		messages(ask,
			`{"role":"assistant","content":"go"}`): "must end with a user",
		messages(
			`{"role":"user","content":" "}`): "non-whitespace",
		messages(
			`{"role":"user","content":[]}`): "at least 1",
		messages(
			blocks("user", `{"type":"text","text":""}`)): "must not be empty",
		messages(
			blocks("user", `{"type":"text","text":"x","detail":"low"}`)): `unknown field "detail"`,
		messages(
			blocks("user", `{"type":"thinking","thinking":"x","signature":"s"}`)): `"thinking" is none of`,
		messages(
			blocks("user",
				`{"type":"image","source":{"type":"base64","media_type":"image/bmp",`+
					`"data":"aGk="}}`)): `"image/bmp" is none of`,
		messages(
			blocks("user",
				`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"?"}}`)): "valid base64",
		messages(ask, call, ask): "without tool_result",
		messages(ask, call,
			blocks("user", `{"type":"text","text":"x"},{"type":"tool_result","tool_use_id":"a"}`)): "must come before",
		messages(ask, call,
			blocks("user",
				`{"type":"tool_result","tool_use_id":"a"},{"type":"tool_result",`+
					`"tool_use_id":"a"}`)): "unexpected tool_use_id",
		messages(
			blocks("user", `{"type":"tool_result","tool_use_id":"a"}`)): "unexpected tool_use_id",
		messages(ask, call, done, call, done): "must be unique",
		messages(ask, blocks("assistant", `{"type":"tool_use","id":"a:1","name":"f","input":{}}`),
			done): "should match pattern",
		messages(ask, blocks("assistant", `{"type":"tool_use","id":"a","name":"f","input":null}`),
			done): "must be an object",
		messages(ask, blocks("assistant", `{"type":"thinking","thinking":"x","signature":"s"}`),
			ask): "cannot be thinking",
		messages(ask, blocks("assistant", `{"type":"thinking","thinking":"x"},{"type":"text","text":"x"}`),
			ask): `"signature"`,
		messages(ask,
			blocks("assistant",
				`{"type":"image","source":{"type":"url","url":"https://x"}},{"type":"text","text":"x"}`),
			ask): `"image" is none of`,
	} {
		fake := llmtest.NewAnthropic(llmtest.AnthropicSay("ok"))
		status, answer := postAnthropic(t, fake.URL, body, nil)
		refused := strings.Join(fake.Refused(), "")
		switch {
		case fault == "" && (status != 200 || refused != "" || fake.Left() != 0):
			t.Errorf("%s is refused: %s", body, answer)
		case fault != "" && (status != 400 || !strings.Contains(refused, fault) || fake.Left() != 1):
			t.Errorf("%s gives %d %s, want %s", body, status, answer, fault)
		}
		fake.Close()
	}
}

func TestTheFakeOfAnthropicChecksTheHeaders(t *testing.T) {
	fake := llmtest.NewAnthropic()
	defer fake.Close()
	fake.Key, fake.Models = "k", []string{"other"}
	for _, c := range []struct {
		header map[string]string
		status int
		kind   string
	}{
		{map[string]string{"X-Api-Key": "j"}, 401, "authentication_error"},
		{map[string]string{"X-Api-Key": ""}, 401, "authentication_error"},
		{map[string]string{"Anthropic-Version": ""}, 400, "anthropic-version"},
		{map[string]string{"Content-Type": "text/plain"}, 400, "content type"},
		{nil, 404, "not_found_error"},
	} {
		status, answer := postAnthropic(t, fake.URL,
			`{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"go"}]}`, c.header)
		if status != c.status || !strings.Contains(answer, c.kind) {
			t.Errorf("%v gives %d %s, want %d %s", c.header, status, answer, c.status, c.kind)
		}
	}
}
