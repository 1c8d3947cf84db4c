package tools_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
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

// shell makes a tool of a shell script that is in the command itself.
func shell(t *testing.T, script, more string) tool.Tool {
	t.Helper()
	text, _ := json.Marshal(script)
	return load(t, "version: 1\ntools:\n  - {name: a.b, description: d, risk: write, arguments: {type: object}, command: [sh, -c, "+string(text)+"], env: [PATH, SHOP_TOKEN]"+more+"}\n")[0]
}

func TestCommand(t *testing.T) {
	t.Setenv("NOT_LISTED", "x")
	for _, c := range []struct{ name, script, args, want string }{
		{"arguments", "cat", `{"a":"$(id) ; é"}`, `{"a":"$(id) ; é"}`},
		{"the key", "echo $GATEHOUSE_CALL_KEY", `{}`, "key-1"},
		{"the environment", "env | grep -v '^PWD=\\|^_=\\|^SHLVL=\\|^OLDPWD=' | cut -d= -f1 | sort | tr '\\n' ' '", `{}`, "GATEHOUSE_CALL_KEY PATH SHOP_TOKEN "},
		{"arguments unread", "echo done", `{"a":"` + strings.Repeat("x", 1<<18) + `"}`, "done"},
		{"a secret", "echo $SHOP_TOKEN", `{}`, "••••••"},
		{"no text", "printf 'a\\377\\000b'", `{}`, "a\ufffd\ufffdb"},
		{"nothing", "true", `{}`, ""},
		{"stderr of a success", "echo out; echo err >&2", `{}`, "out"},
		{"something in the background", "sleep 100 & echo $!", `{}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := runs(t, shell(t, c.script, ""), c.args)
			if c.name == "something in the background" {
				pid, err := strconv.Atoi(r.Content)
				if err != nil || syscall.Kill(pid, syscall.SIGKILL) != nil {
					t.Errorf("%+v", r)
				}
				return
			}
			if r.Category != "" || r.Content != c.want {
				t.Errorf("%.200q, want %q", r.Content, c.want)
			}
		})
	}
}

func TestCommandThatFails(t *testing.T) {
	for _, c := range []struct{ name, script, more, want string }{
		{"a status", "echo 'no such customer' >&2; exit 3", "", "a.b failed with exit status 3: no such customer"},
		{"a status alone", "exit 3", "", "a.b failed with exit status 3."},
		{"a secret", "echo \"bad token $SHOP_TOKEN, or ghp_0123456789abcdefghij0123456789ABCDEF\" >&2; exit 1", "", "a.b failed with exit status 1: bad token ••••••, or •••••• (40 characters hidden)"},
		{"a signal", "kill -9 $$", "", "a.b failed with signal: killed."},
		{"the time is up", "echo x; sleep 100", ", timeout: 200ms", "a.b was stopped, because it did not finish within 200ms."},
		{"the time is up for its children", "sleep 100 & sleep 100; wait", ", timeout: 200ms", "a.b was stopped, because it did not finish within 200ms."},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := runs(t, shell(t, c.script, c.more), "{}")
			if f, _ := tool.FailureOf(r.Content); r.Category != core.ToolFailed || f.Message != c.want {
				t.Errorf("%+v, want %q", r, c.want)
			}
		})
	}
	long := runs(t, shell(t, "i=0; while [ $i -lt 3000 ]; do echo line $i >&2; i=$((i+1)); done; exit 1", ""), "{}")
	if f, _ := tool.FailureOf(long.Content); !strings.HasSuffix(f.Message, "line 2999") || len(f.Message) > 600 {
		t.Errorf("%q", f.Message)
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "x")
	if err := os.WriteFile(file, []byte("no program"), 0o700); err != nil {
		t.Fatal(err)
	}
	gone := load(t, "version: 1\ntools: [{name: a.b, description: d, risk: read, command: ["+file+"]}]\n")[0]
	if f, _ := tool.FailureOf(runs(t, gone, "{}").Content); f.Message != "a.b could not be started." {
		t.Errorf("%q", f.Message)
	}
}

// The whole process group is killed when the time is up. More output than the limit is dropped, and does not stop a command.
func TestCommandLeavesNothingBehind(t *testing.T) {
	file, pipe := filepath.Join(t.TempDir(), "end"), filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error)
	go func() { // until nobody has the pipe open for writing
		f, err := os.Open(pipe)
		if err == nil {
			_, err = io.ReadAll(f)
		}
		ended <- err
	}()
	r := runs(t, shell(t, "exec 3>"+pipe+"; sleep 100 & sleep 100", ", timeout: 1s"), "{}")
	if r.Category != core.ToolFailed {
		t.Errorf("%+v", r)
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
	r = runs(t, shell(t, "yes ä | head -c 5000000; echo end >"+file, ", max_output: 2KiB"), "{}")
	if r.Category != "" || len(r.Content) > 2048 || !strings.HasSuffix(r.Content, "[The rest was cut: the output has more than 2048 bytes.]") {
		t.Errorf("%d bytes: %+v", len(r.Content), r.Category)
	}
	if text, _ := os.ReadFile(file); string(text) != "end\n" {
		t.Error("the command was stopped when its output reached the limit")
	}
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
