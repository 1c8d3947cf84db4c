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
		return load(t, "version: 1\ntools:\n  - name: a.b\n    description: d\n    risk: write\n    arguments: "+
			"{type: object}\n    max_output: 1KiB\n    http:\n      method: "+method+"\n      url: http://"+at+
			"/refunds?shop=1\n      headers: {Authorization: 'Bearer {{SHOP_TOKEN}}', X-Shop: one}\n      secrets: "+
			"[SHOP_TOKEN]\n", at)[0]
	}
	const args = `{"amount":12.50,"to":["a b","c"],"note":null,"deep":{"x":1}}`
	r := runs(t, make("POST"), args)
	if r.Content != "done" || r.Category != "" || got.Method != "POST" || got.URL.RawQuery != "shop=1" ||
		sent != args || got.Header.Get("Content-Type") != "application/json" ||
		got.Header.Get("Idempotency-Key") != "key-1" || got.Header.Get("Authorization") != "Bearer tok-12345678" ||
		got.Header.Get("X-Shop") != "one" {
		t.Errorf("%+v, %+v, %q", r, got, sent)
	}
	runs(t, make("GET"), args)
	want := (url.Values{"shop": {"1"}, "amount": {"12.50"}, "to": {"a b", "c"}, "deep": {`{"x":1}`}}).Encode()
	if got.URL.RawQuery != want || sent != "" || got.Header.Get("Idempotency-Key") != "key-1" {
		t.Errorf("%s, want %s", got.URL.RawQuery, want)
	}
	answer = "it echoes tok-12345678"
	if r := runs(t, make("POST"), args); r.Content != "it echoes ••••••" {
		t.Errorf("%+v", r)
	}
	for code, want := range map[int]string{
		402: at + " answered with 402 Payment Required: it echoes ••••••",
		302: at + " answered with 302 Found: it points to /elsewhere, and is not followed",
		500: at + " answered with 500 Internal Server Error: it echoes ••••••",
	} {
		status = code
		r := runs(t, make("POST"), args)
		if f, _ := tool.FailureOf(r.Content); f.Message != want || r.Category != core.ToolFailed ||
			got.URL.Path != "/refunds" {
			t.Errorf("%+v", r)
		}
	}
	status, answer = 200, strings.Repeat("ä", 1000)
	if r := runs(t, make("POST"), args); len(r.Content) > 1024 ||
		!strings.HasSuffix(r.Content, "more than 1024 bytes.]") {
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
		return load(t, "version: 1\ntools: [{name: a.b, description: d, risk: write, timeout: 200ms, http: {method: "+
			"POST, url: 'http://"+at+path+"'}}]\n", at)[0]
	}
	for path, want := range map[string]string{
		"/lost": "The connection to " + at +
			" was lost before its answer was complete. Whether it got the request is not known. Please check.",
		"/slow": "a.b was stopped, because it did not finish within 200ms.",
	} {
		if f, _ := tool.FailureOf(runs(t, make(path), "{}").Content); f.Message != want {
			t.Errorf("%s: %q", path, f.Message)
		}
	}
	if _, err := make("/lost").Do(context.Background(), "k", json.RawMessage(`{}`)); strings.Contains(err.Error(),
		"/lost") {
		t.Errorf("the error names the whole address: %v", err)
	}
}

// What a file has fixed in the query of a GET stays as it is: no argument adds to it. The body of another request is
// another place.
func TestAFixedQueryIsNotAddedTo(t *testing.T) {
	t.Parallel()
	var got []string
	at := serve(t, func(_ http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got = append(got, r.URL.RawQuery+string(text))
	})
	make := func(method, query, schema string) tool.Tool {
		return load(t,
			"version: 1\ntools: [{name: a.b, description: d, risk: write, arguments: "+schema+
				", http: {method: "+method+", url: 'http://"+at+"/"+query+"'}}]\n", at)[0]
	}
	const open = "{type: object}"
	for _, c := range []struct{ query, schema, args, named string }{
		{"?account=prod", open, `{"account":"test"}`, "account"},
		{"?account=prod", open, `{"to":"x","account":null}`, "account"},
		{"?acc%6Funt=prod", open, `{"account":[]}`, "account"},
		{"?account", open, `{"account":{"a":1}}`, "account"},
		{"?a%5Bb%5D=1", open, `{"a[b]":2}`, "a[b]"},
		{"?a+b=1", open, `{"a b":2}`, "a b"},
		{"?x=1&account=a&account=b", open, `{"account":"c"}`, "account"},
		{
			"?account=prod", "{type: object, patternProperties: {'^acc': {type: string}}}", `{"account":"test"}`,
			"account",
		},
		{
			"?account=prod", "{type: object, allOf: [{properties: {account: {type: string}}}]}", `{"account":"test"}`,
			"account",
		},
	} {
		one := make("GET", c.query, c.schema)
		r := runs(t, one, c.args)
		f, _ := tool.FailureOf(r.Content)
		if want := "The argument " + c.named +
			" is fixed by the tool, so nothing was sent. Leave it out."; r.Category != core.ToolArguments ||
			f.Message != want {
			t.Errorf("%s with %s: %+v, want %q", c.query, c.args, r, want)
		}
		// before anybody is asked
		_, err := tool.NewRegistry(one).Find(core.ToolCall{Name: "a.b", Arguments: json.RawMessage(c.args)})
		if want := "The arguments of a.b do not fit its schema: " + c.named +
			" is fixed by the tool; leave it out."; core.CategoryOf(err) != core.ToolArguments ||
			core.MessageOf(err) != want {
			t.Errorf("%s with %s: %v, want %q", c.query, c.args, err, want)
		}
	}
	if len(got) > 0 {
		t.Errorf("it was sent: %q", got)
	}
	for _, c := range []struct{ method, query, schema, args, want string }{
		{"GET", "?account=prod", open, `{"accounts":"x","a":["1","2"]}`, "a=1&a=2&account=prod&accounts=x"},
		{
			"GET", "?account=prod", "{type: object, properties: {filter: {type: object, properties: {account: {}}}}}",
			`{"filter":{"account":1}}`, "account=prod&filter=%7B%22account%22%3A1%7D",
		},
		{
			"POST", "?account=prod", "{type: object, properties: {account: {type: string}}}", `{"account":"x"}`,
			`account=prod{"account":"x"}`,
		},
	} {
		got = nil
		one := make(c.method, c.query, c.schema)
		if _, err := tool.NewRegistry(one).Find(
			core.ToolCall{Name: "a.b", Arguments: json.RawMessage(c.args)}); err != nil {
			t.Error(err)
		}
		if r := runs(t, one, c.args); r.Category != "" || len(got) != 1 || got[0] != c.want {
			t.Errorf("%s %s with %s: %+v, %q", c.method, c.query, c.args, r, got)
		}
	}
}

// TestHTTPToolTellsWhatTheServerSaid: a change that the server has made did not fail because its answer can't be shown,
// and a secret in the words of its status is hidden.
func TestHTTPToolTellsWhatTheServerSaid(t *testing.T) {
	t.Parallel()
	for answer, want := range map[string]string{
		"201 Created\r\nContent-Type: image/png\r\nContent-Length: 4\r\n\r\n....": "[AT answered with 201 Created. " +
			"What it sent is no text, or was cut off, so it is not shown.]",
		"200 OK\r\nContent-Type: text/plain\r\nContent-Length: 50\r\n\r\nhalf": "[AT answered with 200 OK. What it " +
			"sent is no text, or was cut off, so it is not shown.]",
		"500 no tok-12345678\r\nContent-Length: 0\r\n\r\n": `{"error":{"category":"tool_failed","message":"AT ` +
			`answered with 500 no ••••••."}}`,
	} {
		at := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err == nil {
				_, _ = io.WriteString(conn, "HTTP/1.1 "+answer)
				_ = conn.Close()
			}
		})
		one := load(t, "version: 1\ntools:\n  - {name: a.b, description: d, risk: write, arguments: {type: object}, "+
			"http: {method: POST, url: 'http://"+at+
			"/', headers: {X-Token: '{{SHOP_TOKEN}}'}, secrets: [SHOP_TOKEN]}}\n", at)[0]
		if r := runs(t, one, "{}"); r.Content != strings.ReplaceAll(want, "AT", at) {
			t.Errorf("%q: %+v", answer, r)
		}
	}
}
