package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"gatehouse/adapters/openai"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

const key = "sk-very-secret-0123456789"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// start gives a fake that accepts only the key, and a provider of it.
func start(t *testing.T, c openai.Config, answers ...llmtest.Answer) (*llmtest.OpenAI, *openai.Provider) {
	t.Helper()
	fake := llmtest.NewOpenAI(answers...)
	fake.Key = key
	t.Cleanup(fake.Close)
	c.APIKey, c.BaseURL = key, fake.URL+"/v1"
	p, err := openai.New("gpt-test", c)
	if err != nil {
		t.Fatal(err)
	}
	return fake, p
}

func text(role core.Role, s string) core.Message {
	return core.Message{Role: role, Content: core.Text(s)}
}

var question = llm.Request{Messages: []core.Message{text(core.User, "hi")}}

func ptr[T any](v T) *T { return &v }

// noKey fails if the key is anywhere in an error.
func noKey(t *testing.T, err error) {
	t.Helper()
	if err != nil && (strings.Contains(err.Error(), key) || strings.Contains(core.MessageOf(err), key)) {
		t.Errorf("the key is in the error %v", err)
	}
}

func raw(s string) json.RawMessage { return json.RawMessage(s) }
