package openai_test

import (
	"flag"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/adapters/openai"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

var update = flag.Bool("update", false, "write the recording anew")

// TestARecordedConversation: what is sent, and what is made of the answers, is what it was, with the server and without it; the recording has no
// key, although the person and the server repeat it.
func TestARecordedConversation(t *testing.T) {
	const file = "testdata/conversation.json"
	fake := llmtest.NewOpenAI(llmtest.OpenAICall(core.ToolCall{ID: "c1", Name: "note__add", Arguments: raw(`{"text":"milk"}`)}),
		llmtest.OpenAISay("Your key is "+key+"."), llmtest.OpenAIFault(http.StatusTooManyRequests, "rate_limit_exceeded", key+" is slow").After("7"))
	defer fake.Close()
	recorder := &llmtest.Recorder{Next: http.DefaultTransport, Secrets: []string{key}}
	converse(t, openai.Config{APIKey: key, BaseURL: fake.URL + "/v1", Transport: recorder})
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
	if err != nil || strings.Contains(string(data), key) || strings.Count(string(data), "SECRET") < 3 {
		t.Errorf("%v: the recording has the key, or nothing in its place: %s", err, data)
	}
	replay.Secrets = []string{key}
	converse(t, openai.Config{APIKey: key, BaseURL: "http://127.0.0.1:1/v1", Transport: replay})
	if replay.Left() > 0 {
		t.Errorf("%d exchanges were not replayed", replay.Left())
	}
}

// converse asks for a call, gives its result, and asks once more.
func converse(t *testing.T, c openai.Config) {
	t.Helper()
	p, err := openai.New("gpt-test", c)
	if err != nil {
		t.Fatal(err)
	}
	r := llm.Request{Messages: []core.Message{text(core.User, "My key is "+key+". Note milk.")}, Tools: []llm.Tool{{Name: "note.add"}}}
	first, err := p.Complete(t.Context(), r)
	if err != nil || len(first.Message.ToolCalls) != 1 || first.Message.ToolCalls[0].Name != "note.add" {
		t.Fatalf("%+v, %v", first.Message, err)
	}
	r.Messages = append(r.Messages, first.Message, core.Message{Role: core.ToolRole, ToolCallID: "c1", Content: core.Text("noted")})
	second, err := p.Complete(t.Context(), r)
	if err != nil || !strings.HasPrefix(second.Message.Content.String(), "Your key is ") {
		t.Fatalf("%+v, %v", second.Message, err)
	}
	if _, err := p.Complete(t.Context(), r); core.CategoryOf(err) != core.ProviderRateLimit || core.RetryAfterOf(err) != 7*time.Second {
		t.Error(err)
	}
}
