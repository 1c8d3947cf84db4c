package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/tool"
)

// runs calls a tool as the executor does: through a registry, with the tool's limits.
func runs(t *testing.T, one tool.Tool, args string) core.ToolResult {
	t.Helper()
	one.Mutating = false
	x := tool.Executor{Tools: tool.NewRegistry(one)}
	r, err := x.Read(t.Context(), one, core.ToolCall{Name: one.Name, Arguments: json.RawMessage(args)}, "key-1")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestHTTPTool(t *testing.T) {
	var got *http.Request
	var sent string
	status, answer := 200, "done"
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, sent = r, string(text)
		w.Header().Set("Location", map[bool]string{true: "/elsewhere"}[status == 302])
		w.WriteHeader(status)
		_, _ = fmt.Fprint(w, answer)
	})
	make := func(method string) tool.Tool {
		return load(t, "version: 1\ntools:\n  - name: a.b\n    description: d\n    risk: write\n    arguments: {type: object}\n    max_output: 1KiB\n    http:\n      method: "+method+"\n      url: http://"+at+
			"/refunds?shop=1\n      headers: {Authorization: 'Bearer {{SHOP_TOKEN}}', X-Shop: one}\n      secrets: [SHOP_TOKEN]\n", at)[0]
	}
	const args = `{"amount":12.50,"to":["a b","c"],"note":null,"deep":{"x":1}}`
	r := runs(t, make("POST"), args)
	if r.Content != "done" || r.Category != "" || got.Method != "POST" || got.URL.RawQuery != "shop=1" || sent != args || got.Header.Get("Content-Type") != "application/json" ||
		got.Header.Get("Idempotency-Key") != "key-1" || got.Header.Get("Authorization") != "Bearer tok-12345678" || got.Header.Get("X-Shop") != "one" {
		t.Errorf("%+v, %+v, %q", r, got, sent)
	}
	runs(t, make("GET"), args)
	if want := (url.Values{"shop": {"1"}, "amount": {"12.50"}, "to": {"a b", "c"}, "deep": {`{"x":1}`}}).Encode(); got.URL.RawQuery != want || sent != "" || got.Header.Get("Idempotency-Key") != "key-1" {
		t.Errorf("%s, want %s", got.URL.RawQuery, want)
	}
	answer = "it echoes tok-12345678"
	if r := runs(t, make("POST"), args); r.Content != "it echoes ••••••" {
		t.Errorf("%+v", r)
	}
	for code, want := range map[int]string{
		402: at + " answered with 402 Payment Required: it echoes ••••••", 302: at + " answered with 302 Found: it points to /elsewhere, and is not followed", 500: at + " answered with 500 Internal Server Error: it echoes ••••••",
	} {
		status = code
		r := runs(t, make("POST"), args)
		if f, _ := tool.FailureOf(r.Content); f.Message != want || r.Category != core.ToolFailed || got.URL.Path != "/refunds" {
			t.Errorf("%+v", r)
		}
	}
	status, answer = 200, strings.Repeat("ä", 1000)
	if r := runs(t, make("POST"), args); len(r.Content) > 1024 || !strings.HasSuffix(r.Content, "more than 1024 bytes.]") {
		t.Errorf("%d bytes", len(r.Content))
	}
}

func TestHTTPToolWithoutAnAnswer(t *testing.T) {
	let := make(chan struct{})
	at := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			<-let
		}
		panic(http.ErrAbortHandler)
	})
	defer close(let)
	make := func(path string) tool.Tool {
		return load(t, "version: 1\ntools: [{name: a.b, description: d, risk: write, timeout: 200ms, http: {method: POST, url: 'http://"+at+path+"'}}]\n", at)[0]
	}
	for path, want := range map[string]string{
		"/lost": "The connection to " + at + " was lost before its answer was complete. Whether it got the request is not known. Please check.",
		"/slow": "a.b was stopped, because it did not finish within 200ms.",
	} {
		if f, _ := tool.FailureOf(runs(t, make(path), "{}").Content); f.Message != want {
			t.Errorf("%s: %q", path, f.Message)
		}
	}
	if _, err := make("/lost").Do(context.Background(), "k", json.RawMessage(`{}`)); strings.Contains(err.Error(), "/lost") {
		t.Errorf("the error names the whole address: %v", err)
	}
}
