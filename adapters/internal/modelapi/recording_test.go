package modelapi_test

import (
	"encoding/json"
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/adapters/anthropic"
	"gatehouse/adapters/openai"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

var update = flag.Bool("update", false, "write the recordings anew")

const key = "sk-very-secret-0123456789"

// vendor is a vendor's adapter, and a fake of its API that calls a tool, repeats the key, and is busy.
type vendor struct {
	fake     *llmtest.Server
	provider func(url string, transport http.RoundTripper) (llm.Provider, error)
}

func vendors() map[string]vendor {
	noted := core.ToolCall{ID: "c1", Name: "note__add", Arguments: json.RawMessage(`{"text":"milk"}`)}
	said := "Your key is " + key + "."
	return map[string]vendor{
		"openai": {
			&llmtest.NewOpenAI(llmtest.OpenAICall(noted), llmtest.OpenAISay(said),
				llmtest.OpenAIFault(429, "rate_limit_exceeded", key+" is slow").After("7")).Server,
			func(url string, transport http.RoundTripper) (llm.Provider, error) {
				return openai.New("gpt-test", openai.Config{APIKey: key, BaseURL: url + "/v1", Transport: transport})
			},
		},
		"anthropic": {
			&llmtest.NewAnthropic(llmtest.AnthropicCall(noted), llmtest.AnthropicSay(said),
				llmtest.AnthropicFault(429, "rate_limit_error", key+" is slow").After("7")).Server,
			func(url string, transport http.RoundTripper) (llm.Provider, error) {
				return anthropic.New("claude-test", anthropic.Config{APIKey: key, BaseURL: url, Transport: transport})
			},
		},
	}
}

// TestARecordedConversation: what is sent, and what is made of the answers, is what it was, with the server and without
// it. The recording has no key, although the person and the server repeat it.
func TestARecordedConversation(t *testing.T) {
	for name, v := range vendors() {
		t.Run(name, func(t *testing.T) {
			defer v.fake.Close()
			file := "testdata/" + name + ".json"
			recorder := &llmtest.Recorder{Next: http.DefaultTransport, Secrets: []string{key}}
			converse(t, v, v.fake.URL, recorder)
			if *update {
				if err := recorder.Save(file); err != nil {
					t.Fatal(err)
				}
			}
			replay, err := llmtest.Load(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(replay.Exchanges(), recorder.Exchanges()); diff != "" {
				t.Errorf("it was recorded otherwise: %s", diff)
			}
			data, err := os.ReadFile(file)
			if err != nil || strings.Contains(string(data), key) ||
				!strings.Contains(string(data), "Your key is SECRET.") {
				t.Errorf("%v: the recording has the key, or nothing in its place: %s", err, data)
			}
			replay.Secrets = []string{key}
			converse(t, v, "http://127.0.0.1:1", replay)
			if replay.Left() > 0 {
				t.Errorf("%d exchanges were not replayed", replay.Left())
			}
		})
	}
}

// converse asks for a call, gives its result, and asks once more.
func converse(t *testing.T, v vendor, url string, transport http.RoundTripper) {
	t.Helper()
	p, err := v.provider(url, transport)
	if err != nil {
		t.Fatal(err)
	}
	tokens := int64(100)
	r := llm.Request{Messages: []core.Message{{
		Role: core.User, Content: core.Text("My key is " + key + ". Note milk."),
	}}, Tools: []llm.Tool{{Name: "note.add"}},
		Config: llm.Config{MaxTokens: &tokens}}
	first, err := p.Complete(t.Context(), r)
	if err != nil || len(first.Message.ToolCalls) != 1 || first.Message.ToolCalls[0].Name != "note.add" {
		t.Fatalf("%+v, %v", first.Message, err)
	}
	r.Messages = append(r.Messages, first.Message,
		core.Message{Role: core.ToolRole, ToolCallID: "c1", Content: core.Text("noted")})
	second, err := p.Complete(t.Context(), r)
	if err != nil || !strings.HasPrefix(second.Message.Content.String(), "Your key is ") {
		t.Fatalf("%+v, %v", second.Message, err)
	}
	if _, err := p.Complete(t.Context(), r); core.CategoryOf(err) != core.ProviderRateLimit ||
		core.RetryAfterOf(err) != 7*time.Second || strings.Contains(err.Error(), key) {
		t.Error(err)
	}
}
