package anthropic_test

import (
	"encoding/json"
	"testing"

	"gatehouse/adapters/anthropic"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"

	"go.uber.org/goleak"
)

const key = "sk-ant-secret"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// open starts a fake with answers, and a provider of it.
func open(t *testing.T, answers ...llmtest.Answer) (*llmtest.Anthropic, *anthropic.Provider) {
	t.Helper()
	return openWith(t, anthropic.Config{}, answers...)
}

func openWith(t *testing.T, c anthropic.Config, answers ...llmtest.Answer) (*llmtest.Anthropic, *anthropic.Provider) {
	t.Helper()
	fake := llmtest.NewAnthropic(answers...)
	t.Cleanup(fake.Close)
	fake.Key, fake.Models = key, []string{"claude-test"}
	c.APIKey, c.BaseURL = key, fake.URL
	p, err := anthropic.New("claude-test", c)
	if err != nil {
		t.Fatal(err)
	}
	return fake, p
}

// request is a valid one of these messages.
func request(messages ...core.Message) llm.Request {
	return llm.Request{Messages: messages, Config: llm.Config{MaxTokens: ptr(int64(100))}}
}

func hello() llm.Request { return request(user("Hello.")) }

func user(text string) core.Message {
	return core.Message{Role: core.User, Content: core.Text(text)}
}

func assistant(content core.Content, calls ...core.ToolCall) core.Message {
	return core.Message{Role: core.Assistant, Content: content, ToolCalls: calls}
}

func call(id, name, arguments string) core.ToolCall {
	return core.ToolCall{ID: id, Name: name, Arguments: json.RawMessage(arguments)}
}

func result(id, text string) core.Message {
	return core.Message{Role: core.ToolRole, ToolCallID: id, Content: core.Text(text)}
}

func ptr[T any](v T) *T { return &v }

// sent is the body of the only request, as a decoded value.
func sent(t *testing.T, fake *llmtest.Anthropic) map[string]any {
	t.Helper()
	if refused := fake.Refused(); len(refused) > 0 {
		t.Fatalf("refused: %v", refused)
	}
	all := fake.Calls()
	if len(all) != 1 {
		t.Fatalf("%d requests, want 1", len(all))
	}
	return decode(t, string(all[0].Body)).(map[string]any)
}

func decode(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	return v
}
