package modelapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/anthropic"
	"gatehouse/adapters/openai"
	"gatehouse/core"
	"gatehouse/core/agent"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
	"gatehouse/core/tool"
)

// report is a public report of what a server answered.
type report struct {
	Name, Wire, Type string
	Status           int
	Body, Then       json.RawMessage
}

// reports are those of the fixtures, by their names.
func reports(t *testing.T) map[string]report {
	root := os.Getenv("GATEHOUSE_FIXTURES")
	if root == "" {
		t.Skip("SKIPPED: no reports of servers' answers were read. Set GATEHOUSE_FIXTURES to the folder that holds " +
			"field/models.")
	}
	data, err := os.ReadFile(filepath.Join(root, "field", "models", "answers.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list []report
	if err := json.Unmarshal(data, &list); err != nil {
		t.Fatal(err)
	}
	all := map[string]report{}
	for _, one := range list {
		all[one.Name] = one
	}
	return all
}

// answer is the server's; a good one that is streamed is one event.
func (r report) answer(streamed bool) llmtest.Answer {
	body := []byte(r.Body)
	var page string
	if json.Unmarshal(body, &page) == nil {
		body = []byte(page)
	}
	a := llmtest.Answer{Status: r.Status, Body: body}
	if streamed && r.Status == http.StatusOK {
		a.Events = []llmtest.Event{{Data: string(body)}}
	}
	if r.Type != "" {
		a.Header = map[string]string{"Content-Type": r.Type}
	}
	return a
}

// server is a fake of a report's wire, and its adapter.
func (r report) server(t *testing.T, streamed bool) (*llmtest.Server, llm.Provider) {
	t.Helper()
	if r.Wire == "messages" {
		fake := llmtest.NewAnthropic()
		t.Cleanup(fake.Close)
		p, err := anthropic.New("claude-test", anthropic.Config{APIKey: key, BaseURL: fake.URL})
		if err != nil {
			t.Fatal(err)
		}
		most := int64(100)
		return &fake.Server, streaming(llm.WithDefaults(p, llm.Config{MaxTokens: &most}), streamed)
	}
	fake := llmtest.NewOpenAI()
	t.Cleanup(fake.Close)
	p, err := openai.New("gpt-test", openai.Config{APIKey: key, BaseURL: fake.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	return &fake.Server, streaming(p, streamed)
}

func streaming(p llm.Provider, streamed bool) llm.Provider {
	if !streamed {
		return p
	}
	return llm.NewStreamed(p, nil)
}

var hello = llm.Request{Messages: []core.Message{{Role: core.User, Content: core.Text("hi")}}}

func chained(p llm.Provider, failed *[]error) *llm.Chain {
	return llm.NewChain(llm.ChainConfig{
		Wait:   func() time.Duration { return 0 },
		Failed: func(_ string, _ llm.Class, err error) { *failed = append(*failed, err) },
	}, llm.Link{Provider: p})
}

// TestErrorsThatServersSend: how often each is asked again, and whom it concerns. The server's words are in the log.
func TestErrorsThatServersSend(t *testing.T) {
	all := reports(t)
	for name, c := range map[string]struct {
		class llm.Class
		asked int
		words string
	}{
		"error_beside_null_choices":   {llm.AskAgain, 2, "rate limited"},
		"error_is_a_text":             {llm.TellAdmin, 1, "Unexpected endpoint or method"},
		"error_flat":                  {llm.TellAdmin, 1, "daily limit"},
		"error_inside_the_choice":     {llm.AskAgain, 2, "Upstream idle timeout"},
		"insufficient_quota":          {llm.TellAdmin, 1, "exceeded your current quota"},
		"groq_tool_use_failed_once":   {llm.AskAgain, 2, "Failed to call a function"},
		"gemini_malformed_call_once":  {llm.AskAgain, 2, "MALFORMED_FUNCTION_CALL"},
		"wall_403":                    {llm.TellAdmin, 1, "in front of"},
		"anthropic_overloaded_as_200": {llm.AskAgain, 2, "Overloaded"},
		"context_as_200":              {llm.AskAnother, 1, "only supports 30000 tokens"},
		"context_as_500":              {llm.AskAnother, 1, "available context size"},
	} {
		r, ok := all[name]
		if !ok {
			t.Errorf("there is no report %s", name)
			continue
		}
		for _, streamed := range []bool{false, true} {
			fake, p := r.server(t, streamed)
			fake.Then(r.answer(streamed), r.answer(streamed), r.answer(streamed))
			var failed []error
			_, err := chained(p, &failed).Complete(t.Context(), hello)
			if n := len(fake.Calls()); llm.ClassOf(err) != c.class || n != c.asked ||
				!strings.Contains(failed[0].Error(), c.words) {
				t.Errorf("%s, streamed %t: %d requests, %q: %v", name, streamed, n, llm.ClassOf(err), failed)
			}
			said := core.Sentences(nil).Of(err)
			if strings.Contains(core.MessageOf(err), "key") ||
				strings.Contains(said, "other words") && c.class == llm.TellAdmin {
				t.Errorf("%s: people read %q, admins %q", name, said, core.MessageOf(err))
			}
			if r.Then == nil {
				continue
			}
			fake, p = r.server(t, streamed)
			fake.Then(r.answer(streamed), llmtest.Answer{Body: r.Then})
			if answer, err := chained(p, &failed).Complete(t.Context(), hello); err != nil ||
				answer.Message.Content.String() != "The answer." {
				t.Errorf("%s: the second answer is %q, %v", name, answer.Message.Content, err)
			}
		}
	}
}

// TestAConversationThatAServerRefusesForItsSize is sent again with less of it, twice at most; what was found to fit is
// kept to afterwards.
func TestAConversationThatAServerRefusesForItsSize(t *testing.T) {
	all := reports(t)
	all["context_as_400"] = report{Wire: "chat", Status: 400,
		Body: json.RawMessage(
			`{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 8192 ` +
				`tokens."}}`)}
	all["anthropic_400"] = report{Wire: "messages", Status: 400,
		Body: json.RawMessage(
			`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 214000 ` +
				`tokens > 200000 maximum"}}`)}
	for _, name := range []string{"context_as_200", "context_as_500", "context_as_400", "anthropic_400"} {
		for most, told := range map[int]string{90_000: "", 50_000: "", 10: "too long for the model"} {
			r := all[name]
			fake, p := r.server(t, false)
			say := llmtest.OpenAISay
			if r.Wire == "messages" {
				say = llmtest.AnthropicSay
			}
			fake.Think(func(got llmtest.Received) llmtest.Answer {
				if len(got.Body) > most {
					return r.answer(false)
				}
				return say("The answer.")
			})
			var failed []error
			m := agent.ProviderModel{Provider: chained(p, &failed), Tools: tool.NewRegistry()}
			history := core.History{}
			for range 40 {
				history = history.Append(
					core.Message{Role: core.User, Content: core.Text(strings.Repeat("word ", 700))},
					core.Message{Role: core.Assistant, Content: core.Text("yes")})
			}
			history = history.Append(core.Message{Role: core.User, Content: core.Text("hi")})
			before := 0
			for i, want := range []int{3, 1} { // the first message, and another one
				answer, err := m.Next(core.WithTurn(context.Background(), core.Turn{}), history, nil)
				n := len(fake.Calls()) - before
				before += n
				if said := core.Sentences(nil).Of(err); n > want && told == "" || n > 3 ||
					(err == nil) != (told == "") || !strings.Contains(said, told) {
					t.Errorf("%s, %d bytes, message %d: %d requests; %q, %v", name, most, i, n, answer.Content, err)
				}
			}
		}
	}
}

// TestFormsThatServersRefuse are left, and the same request is made in another form.
func TestFormsThatServersRefuse(t *testing.T) {
	all := reports(t)
	most := int64(1000)
	thinking := core.Block{Type: core.ThinkingBlock, Text: "Hm.", Signature: "of another model"}
	bound := llm.Request{Messages: []core.Message{
		hello.Messages[0],
		{Role: core.Assistant, Content: core.Blocks(thinking, core.Block{Type: core.TextBlock, Text: "Yes?"})},
		hello.Messages[0],
	}}
	limited := hello
	limited.Config.MaxTokens = &most
	for name, c := range map[string]struct {
		request   llm.Request
		say       func(string) llmtest.Answer
		left, new string
	}{
		"max_tokens_refused": {
			limited, llmtest.OpenAISay, `"max_tokens"`, `"max_completion_tokens":1000`,
		},
		"anthropic_signature_of_another_model": {bound, llmtest.AnthropicSay, `"of another model"`, `"Yes?"`},
	} {
		fake, p := all[name].server(t, false)
		fake.Then(all[name].answer(false), c.say("The answer."))
		answer, err := p.Complete(t.Context(), c.request)
		calls := fake.Calls()
		if err != nil || answer.Message.Content.String() != "The answer." || len(calls) != 2 {
			t.Fatalf("%s: %q, %v after %d requests", name, answer.Message.Content, err, len(calls))
		}
		if body := string(calls[1].Body); !strings.Contains(string(calls[0].Body), c.left) ||
			strings.Contains(body, c.left) || !strings.Contains(body, c.new) {
			t.Errorf("%s: %s, then %s", name, calls[0].Body, body)
		}
	}
}
