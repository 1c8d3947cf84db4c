package openai_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"gatehouse/adapters/openai"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// TestCallsThatAreRefusedTogetherAllGoOn: what one call learns of a server another one, which was refused at the same
// moment, is made again with, too.
func TestCallsThatAreRefusedTogetherAllGoOn(t *testing.T) {
	const calls = 2
	for name, c := range map[string]struct {
		refused, says string
		request       llm.Request
	}{
		"the name of the limit": {
			`"max_tokens"`, "Use 'max_completion_tokens' instead.",
			llm.Request{Messages: question.Messages, Config: llm.Config{MaxTokens: ptr(int64(9))}},
		},
		"tools on chat": {
			`"messages"`, "Function tools are not supported here. Please use /v1/responses instead.",
			llm.Request{Messages: question.Messages, Tools: []llm.Tool{{Name: "f"}}},
		},
	} {
		var together sync.WaitGroup
		together.Add(calls)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			switch {
			case strings.Contains(string(body), c.refused):
				together.Done()
				together.Wait()
				w.WriteHeader(http.StatusBadRequest)
				_, _ = fmt.Fprintf(w, `{"error":{"message":%q}}`, c.says)
			case strings.HasSuffix(r.URL.Path, "/responses"):
				_, _ = io.WriteString(w,
					`{"output":[{"type":"message","content":[{"type":"output_text","text":"yes"}]}]}`)
			default:
				_, _ = io.WriteString(w, `{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}]}`)
			}
		}))
		defer server.Close()
		p, err := openai.New("served",
			openai.Config{BaseURL: server.URL + "/v1", Transport: &http.Transport{DisableKeepAlives: true}})
		if err != nil {
			t.Fatal(err)
		}
		var group sync.WaitGroup
		for range calls {
			group.Go(func() {
				if answer, err := p.Complete(t.Context(), c.request); err != nil ||
					answer.Message.Content.String() != "yes" {
					t.Errorf("%s: %v, %v", name, answer.Message, err)
				}
			})
		}
		group.Wait()
	}
}

// TestReasoningThatTheVendorCannotVerifyIsLeftOut: the call is made once more without it, and with it again in the next
// conversation.
func TestReasoningThatTheVendorCannotVerifyIsLeftOut(t *testing.T) {
	const refusal = `{"error":{"message":"The encrypted content gAAA... could not be verified.",` +
		`"type":"invalid_request_error","code":"invalid_encrypted_content"}}`
	answer := body(`{"output":[{"type":"message","content":[{"type":"output_text","text":"yes"}]}]}`)
	fake, p := start(t, openai.Config{API: openai.Responses}, status(http.StatusBadRequest, refusal), answer,
		status(http.StatusBadRequest, refusal), status(http.StatusBadRequest, refusal))
	fake.Lenient()
	before := text(core.Assistant, "yes")
	before.Kept = &core.Kept{Data: raw(
		`[{"type":"reasoning","id":"rs_1","encrypted_content":"gAAA","summary":[]},{"type":"message",` +
			`"role":"assistant","content":[{"type":"output_text","text":"yes"}]}]`)}
	r := llm.Request{Messages: []core.Message{text(core.User, "hi"), before, text(core.User, "and now?")}}
	if got, err := p.Complete(t.Context(), r); err != nil || got.Message.Content.String() != "yes" {
		t.Fatal(got.Message, err)
	}
	if _, err := p.Complete(t.Context(), r); core.CategoryOf(err) != core.ProviderInvalidRequest {
		t.Error(err)
	}
	for i, call := range fake.Calls() {
		if has := strings.Contains(string(call.Body), "gAAA"); has != (i%2 == 0) {
			t.Errorf("request %d: %s", i, call.Body)
		}
	}
	if r.Messages[1].Kept == nil {
		t.Error("the caller's message was changed")
	}
}
