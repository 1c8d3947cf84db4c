package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"gatehouse/adapters/openai"
	"gatehouse/core"
	"gatehouse/core/llm"
	"gatehouse/core/llm/llmtest"
)

func body(s string) llmtest.Answer { return llmtest.Answer{Body: []byte(s)} }

// choice is an answer with this message and finish reason, both JSON.
func choice(message, finish string) llmtest.Answer {
	return body(`{"model":"m","choices":[{"message":` + message + `,"finish_reason":` + finish + `}]}`)
}

func called(arguments string) string {
	return `{"content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"note__add","arguments":` +
		arguments + `}}]}`
}

func TestWhatIsRead(t *testing.T) {
	call := func(arguments string) core.Message {
		return core.Message{
			Role: core.Assistant, ToolCalls: []core.ToolCall{{ID: "1", Name: "note.add", Arguments: raw(arguments)}},
		}
	}
	r := llm.Request{Messages: question.Messages, Tools: []llm.Tool{{Name: "note.add"}}}
	for name, c := range map[string]struct {
		answer  llmtest.Answer
		message core.Message
		finish  llm.Finish
		want    core.Category
	}{
		"a text": {
			choice(`{"content":"yes"}`, `"stop"`), text(core.Assistant, "yes"), llm.FinishStop, "",
		},
		"cut at the limit": {
			choice(`{"content":""}`, `"length"`), core.Message{Role: core.Assistant}, llm.FinishLength, "",
		},
		"filtered": {
			choice(`{"content":null}`, `"content_filter"`), core.Message{Role: core.Assistant}, llm.FinishFilter, "",
		},
		"a refusal": {
			choice(`{"content":null,"refusal":"I won't."}`, `"stop"`), text(core.Assistant, "I won't."), llm.FinishStop,
			"",
		},
		"half a surrogate pair": {
			choice(`{"content":"a\ud83d"}`, `"stop"`), text(core.Assistant, "a\ufffd"), llm.FinishStop, "",
		},
		"a call, by our name": {
			choice(called(`" {\"b\": 1.50} "`), `"tool_calls"`), call(`{"b": 1.50}`), llm.FinishCalls, "",
		},
		"the old reason for calls": {choice(called(`"{}"`), `"function_call"`), call(`{}`), llm.FinishCalls, ""},
		"a call without arguments": {choice(called(`""`), `"tool_calls"`), call(`{}`), llm.FinishCalls, ""},
		"an unknown reason": {
			choice(`{"content":"yes"}`, `"because"`), text(core.Assistant, "yes"), llm.FinishUnknown, "",
		},
		"no reason": {
			choice(`{"content":"yes"}`, `null`), text(core.Assistant, "yes"), llm.FinishUnknown, "",
		},
		"cut, in a word of Mistral's": {choice(called(`"{}"`), `"model_length"`), call(`{}`), llm.FinishLength, ""},
		"cut, in a word of Gemini's": {
			choice(`{"content":"ye"}`, `"MAX_TOKENS"`), text(core.Assistant, "ye"), llm.FinishLength, "",
		},
		"filtered, in a word of its": {
			choice(`{"content":""}`, `"content_filter: PROHIBITED_CONTENT"`), core.Message{Role: core.Assistant},
			llm.FinishFilter, "",
		},
		"thinking in the text": {
			choice(`{"content":"<think>hm</think>\n\nyes"}`, `"stop"`), text(core.Assistant, "yes"), llm.FinishStop, "",
		},
		"a call in the text": {
			choice(`{"content":"<tool_call>{}</tool_call>"}`, `"stop"`), core.Message{},
			"", core.ProviderInvalidResponse,
		},
		"a call that is the text": {
			choice(`{"content":"{\"name\":\"note__add\",\"arguments\":{}}"}`, `"stop"`), core.Message{},
			"", core.ProviderInvalidResponse,
		},
		"a broken-off call, said so": {
			choice(called(`"{\"a\": \"b"`), `"error"`), call(`null`), llm.FinishUnknown, "",
		},
		"a broken-off call": {
			choice(called(`"{\"a\": \"b"`), `"tool_calls"`), core.Message{}, "", core.ProviderInvalidResponse,
		},
		"arguments that are a list": {
			choice(called(`"[1]"`), `"tool_calls"`), core.Message{}, "", core.ProviderInvalidResponse,
		},
		"arguments with a key twice": {
			choice(called(`"{\"a\":1,\"a\":2}"`), `"tool_calls"`), core.Message{}, "", core.ProviderInvalidResponse,
		},
		"arguments that are an object": {
			choice(called(`{"b": 1.50}`), `"tool_calls"`), call(`{"b": 1.50}`), llm.FinishCalls, "",
		},
		"arguments that are null":   {choice(called(`null`), `"tool_calls"`), call(`{}`), llm.FinishCalls, ""},
		"calls, for another reason": {choice(called(`"{}"`), `"stop"`), call(`{}`), llm.FinishStop, ""},
		"a call that the limit cut": {choice(called(`"{\"a\": \"b"`), `"length"`), call(`null`), llm.FinishLength, ""},
		"calls without ids": {choice(
			`{"tool_calls":[{"function":{"name":"x","arguments":"{}"}},{"id":"","function":{"name":"y"}}]}`,
			`"tool_calls"`),
			core.Message{ToolCalls: []core.ToolCall{
				{ID: "call_1", Name: "x", Arguments: raw(`{}`)}, {ID: "call_2", Name: "y", Arguments: raw(`{}`)},
			}}, llm.FinishCalls, ""},
		"parts of a text": {choice(
			`{"content":[{"type":"thinking","thinking":[]},{"type":"text","text":"ye"},{"type":"text","text":"s"}]}`,
			`"stop"`), text(core.Assistant, "yes"), llm.FinishStop, ""},
		"nothing visible": {
			choice(`{"content":" \n"}`, `"stop"`), core.Message{}, "", core.ProviderInvalidResponse,
		},
		"a call without a name": {choice(`{"tool_calls":[{"id":"1","function":{"arguments":"{}"}}]}`,
			`"tool_calls"`), core.Message{}, "", core.ProviderInvalidResponse},
		"calls that are no list": {
			choice(`{"tool_calls":{}}`, `"tool_calls"`), core.Message{}, "", core.ProviderInvalidResponse,
		},
		"content that is a number": {
			choice(`{"content":7}`, `"stop"`), core.Message{}, "", core.ProviderInvalidResponse,
		},
		"nothing": {
			choice(`{"content":""}`, `"stop"`), core.Message{}, "", core.ProviderInvalidResponse,
		},
		"no choices": {body(`{"choices":[]}`), core.Message{}, "", core.ProviderInvalidResponse},
		"no message": {
			body(`{"choices":[{}]}`), core.Message{}, "", core.ProviderInvalidResponse,
		},
		"another document": {body(`{"ok":true}`), core.Message{}, "", core.ProviderInvalidResponse},
		"a page":           {body(`<html>`), core.Message{}, "", core.ProviderInvalidResponse},
		"an empty body":    {body(``), core.Message{}, "", core.ProviderInvalidResponse},
		"a list":           {body(`[]`), core.Message{}, "", core.ProviderInvalidResponse},
		"half a body": {
			llmtest.OpenAISay("yes").With(llmtest.Truncate), core.Message{}, "", core.ProviderUnavailable,
		},
		"an endless body": {
			llmtest.OpenAISay("yes").With(llmtest.Endless), core.Message{}, "", core.ProviderInvalidResponse,
		},
		"an error with a good status": {
			body(`{"error":{"code":429,"message":"slow down"}}`), core.Message{}, "", core.ProviderRateLimit,
		},
		"an error with a good status only": {
			body(`{"error":{"message":"upstream"}}`), core.Message{}, "", core.ProviderUnavailable,
		},
	} {
		_, p := start(t, openai.Config{MaxResponse: 1 << 20}, c.answer)
		got, err := p.Complete(t.Context(), r)
		noKey(t, err)
		if core.CategoryOf(err) != c.want || got.Finish != c.finish && err == nil {
			t.Errorf("%s: %q, %v", name, got.Finish, err)
			continue
		}
		if diff := cmp.Diff(c.message.Content.String(), got.Message.Content.String()) +
			cmp.Diff(c.message.ToolCalls, got.Message.ToolCalls); err == nil && diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
		if err == nil && string(got.Raw) != string(c.answer.Body) {
			t.Errorf("%s: raw is %s", name, got.Raw)
		}
		if c.want != "" && !strings.Contains(string(c.answer.Body), `"tool_calls":[`) {
			continue // it has no form that could be cut into pieces
		}
		streams(t, name, c.answer, r, got, err)
	}
}

// streams requires that a streamed answer is read like one that came at once, and that its tokens are its texts.
func streams(t *testing.T, name string, answer llmtest.Answer, r llm.Request, want llm.Response, wantErr error) {
	t.Helper()
	fake, p := start(t, openai.Config{MaxResponse: 1 << 20}, answer)
	said := map[llm.TokenKind]string{}
	r.Stream, r.OnToken = true, func(token llm.Token) { said[token.Kind] += token.Text }
	got, err := p.Complete(t.Context(), r)
	if refused := fake.Refused(); len(refused) > 0 {
		t.Fatalf("%s, streamed: %v", name, refused)
	}
	got.Raw, want.Raw = nil, nil
	asJSON := func(r llm.Response) string {
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if diff := cmp.Diff(asJSON(want), asJSON(got)); diff != "" || core.CategoryOf(err) != core.CategoryOf(wantErr) {
		t.Errorf("%s, streamed: %v, not %v; %s", name, err, wantErr, diff)
	}
	if content := said[llm.TokenContent]; err == nil && !strings.Contains(content, "<think>") && content != "" &&
		content != got.Message.Content.String() {
		t.Errorf("%s, streamed: the tokens are %q", name, content)
	}
}

func TestUsageIsWhatTheVendorReported(t *testing.T) {
	for usage, want := range map[string]llm.Usage{
		`{"prompt_tokens":1,"completion_tokens":0,"total_tokens":3}`: {
			Prompt: ptr(int64(1)), Completion: ptr(int64(0)), Total: ptr(int64(3)),
		},
		`{"prompt_tokens":"abc","completion_tokens":50,"total_tokens":150}`: {Completion: ptr(
			int64(50)), Total: ptr(int64(150))},
		`{"prompt_tokens":-1,"completion_tokens":true,"total_tokens":1.5}`:                   {},
		`{"prompt_tokens":"1","completion_tokens":null,"total_tokens":99999999999999999999}`: {},
		`{"prompt_tokens":9,"prompt_tokens_details":{"cached_tokens":8}}`: {
			Prompt: ptr(int64(9)), Cached: ptr(int64(8)),
		},
		`{"prompt_tokens":9,"prompt_cache_hit_tokens":0}`: {Prompt: ptr(int64(9)), Cached: ptr(int64(0))},
		`{}`: {}, `null`: {}, `[]`: {}, `7`: {}, `{"prompt_tokens_details":7}`: {},
	} {
		_, p := start(t, openai.Config{},
			body(`{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}],"usage":`+usage+`}`))
		got, err := p.Complete(t.Context(), question)
		if diff := cmp.Diff(want, got.Usage); err != nil || diff != "" || got.Model != "gpt-test" {
			t.Errorf("%s: %v, model %s %s", usage, err, got.Model, diff)
		}
	}
}

// A text with thinking in it goes back whole, to the server whose template takes it apart; one with calls in it is not
// given back.
func TestThinkingInATextGoesBack(t *testing.T) {
	for written, want := range map[string]string{
		"<think>hm</think>\n\nyes":                        `"content":"<think>hm</think>\n\nyes"`,
		"<think>hm</think>yes\n<tool_call>{}</tool_call>": `"content":"yes"`,
	} {
		fake, p := start(t, openai.Config{}, choice(`{"content":`+strconv.Quote(written)+`}`, `"stop"`),
			llmtest.OpenAISay("ok"))
		first, err := p.Complete(t.Context(), question)
		if got := first.Message.Content.String(); err != nil || got != "yes" ||
			first.Typed != strings.Contains(written, "call") {
			t.Errorf("%q is %q, typed %v, %v", written, got, first.Typed, err)
		}
		next := question
		next.Messages = append(slices.Clone(question.Messages), first.Message, text(core.User, "thanks"))
		if _, err := p.Complete(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		if sent := string(fake.Calls()[1].Body); !strings.Contains(sent, want) {
			t.Errorf("%q goes back in %s", written, sent)
		}
	}
}

func TestACallEndsWithItsContext(t *testing.T) {
	stopped := errors.New("somebody stopped the turn")
	fake, p := start(t, openai.Config{})
	ctx, stop := context.WithCancelCause(t.Context())
	fake.Think(func(llmtest.Received) llmtest.Answer { // the call has arrived
		stop(stopped)
		return llmtest.OpenAISay("").With(llmtest.Stall)
	})
	if _, err := p.Complete(ctx, question); !errors.Is(err, stopped) || llm.IsTransient(err) {
		t.Error(err)
	}
}

func TestNoAnswerInTime(t *testing.T) {
	_, p := start(t, openai.Config{Timeout: 20 * time.Millisecond}, llmtest.OpenAISay("").With(llmtest.Stall))
	_, err := p.Complete(t.Context(), question)
	if core.CategoryOf(err) != core.ProviderUnavailable ||
		!strings.Contains(core.MessageOf(err), "did not answer within 20ms") ||
		errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestARateLimitIsWaitedFor(t *testing.T) {
	fake, p := start(t, openai.Config{}, llmtest.OpenAIFault(429, "rate_limit_exceeded", "slow down").After("0.05"),
		llmtest.OpenAIFault(503, "x", "overloaded"), llmtest.OpenAISay("yes"))
	var waits []time.Duration
	retry := llm.NewRetry(p, llm.RetryConfig{Wait: func(int) time.Duration {
		return 0
	}, Observe: func(ctx context.Context, _ llm.Attempt) (context.Context, func(llm.Response, error)) {
		return ctx, func(_ llm.Response, err error) { waits = append(waits, core.RetryAfterOf(err)) }
	}})
	r, err := retry.Complete(t.Context(), question)
	if diff := cmp.Diff([]time.Duration{50 * time.Millisecond, 0, 0}, waits); err != nil ||
		r.Message.Content.String() != "yes" || diff != "" || len(fake.Calls()) != 3 {
		t.Errorf("%v, %d calls, %s", err, len(fake.Calls()), diff)
	}
}

func FuzzAnswer(f *testing.F) {
	f.Add(llmtest.OpenAISay("yes").Body)
	f.Add(llmtest.OpenAICall(core.ToolCall{ID: "1", Name: "x", Arguments: raw(`{"a":`)}).Body)
	f.Add([]byte(`{"choices":[{"message":{"tool_calls":[null,7,{"function":[]}]},"finish_reason":{}}],"usage":[]}`))
	f.Add([]byte(`{"error":{"code":1e999}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		// no socket: there are thousands
		p, err := openai.New("gpt-test", openai.Config{APIKey: "k", Transport: answers(data)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := p.Complete(t.Context(), question)
		if err == nil && (r.Finish == llm.FinishStop || r.Finish == llm.FinishCalls) && r.Message.Validate() != nil {
			t.Errorf("a message that is not valid: %v", r.Message.Validate())
		}
		var known *core.Error
		if err != nil && !errors.As(err, &known) {
			t.Errorf("an error without a category: %v", err)
		}
	})
}

// answers is a transport that gives this body to every call.
type answers []byte

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	_ = r.Body.Close()
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(bytes.NewReader(a)), Request: r,
	}, nil
}
