package mcp_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/adapters/mcp"
	"gatehouse/core"
)

// endpoint is a server in a process of its own that listens on an address.
type endpoint struct {
	t       *testing.T
	address string
	notes   string
	cmd     *exec.Cmd
}

func startEndpoint(t *testing.T) (e *endpoint, read func() string) {
	t.Helper()
	socket, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	e = &endpoint{t: t, address: socket.Addr().String()}
	_ = socket.Close()
	e.notes, read = notes(t)
	e.start()
	t.Cleanup(func() { e.kill() })
	return e, read
}

func (e *endpoint) start() {
	e.t.Helper()
	e.cmd = exec.Command(self(e.t))
	e.cmd.Env = append(os.Environ(), "TEST_SERVER=http", "LISTEN="+e.address, "NOTES="+e.notes)
	said, err := e.cmd.StderrPipe()
	if err == nil {
		err = e.cmd.Start()
	}
	if err != nil {
		e.t.Fatal(err)
	}
	if line, err := bufio.NewReader(said).ReadString('\n'); err != nil { // it is said once it listens
		e.t.Fatalf("%q, %v", line, err)
	}
}

func (e *endpoint) kill() {
	_ = e.cmd.Process.Kill() // it may have ended
	_ = e.cmd.Wait()
}

func (e *endpoint) entry() mcp.Server {
	return mcp.Server{Name: "files", URL: "http://" + e.address}
}

func TestAnEndpointKilledDuringACallIsReachedAgain(t *testing.T) {
	e, read := startEndpoint(t)
	r := run(t, mcp.Options{}, e.entry())
	if got, err := r.call("files.echo", `{"a":1.0}`); err != nil || got != `{"a":1.0}` {
		t.Fatalf("%q, %v", got, err)
	}
	_, err := r.call("files.die", `{}`)
	if core.CategoryOf(err) != core.OutcomeUnknown {
		t.Errorf("%v", err)
	}
	e.kill() // which waits until it has ended
	_, err = r.call("files.write", `{}`)
	if core.CategoryOf(err) != core.ToolFailed || !strings.Contains(core.MessageOf(err), "not running") {
		t.Errorf("while it is away: %v", err)
	}
	e.start()
	r.await("the MCP server runs", 2)
	if _, err = r.call("files.write", `{}`); err != nil {
		t.Error(err)
	}
	if read() != "die\nwrite {} a1\n" {
		t.Errorf("what ran: %q", read())
	}
}

func TestAnEndpointThatForgetsTheSessionIsCalledOnANewOne(t *testing.T) {
	e, read := startEndpoint(t)
	r := run(t, mcp.Options{}, e.entry())
	e.kill()
	e.start()
	if _, err := r.call("files.write", `{}`); core.CategoryOf(err) != core.OutcomeUnknown || read() != "" {
		t.Errorf("a status had it sent again: %v, %q", err, read())
	}
	if got, err := r.call("files.write", `{}`); err != nil || got != "written" || read() != "write {} a1\n" {
		t.Errorf("the next call: %q, %v, %q", got, err, read())
	}
}

func TestAListThatChangesOverHTTP(t *testing.T) {
	e, _ := startEndpoint(t)
	r := run(t, mcp.Options{}, e.entry())
	if _, err := r.call("files.learn", `{}`); err != nil {
		t.Fatal(err)
	}
	r.await("the tools of the MCP server changed", 1)
	r.get("files.learned")
}

// over serves MCP of an older version over HTTP in this process; around may answer calls in the server's place.
func over(t *testing.T, around func(w http.ResponseWriter, r *http.Request, body string) (done bool)) string {
	t.Helper()
	server := plain("2025-11-25")
	real := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server {
		return server
	}, &sdk.StreamableHTTPOptions{Stateless: true})
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		if !around(w, r, string(body)) {
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			real.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(h.Close)
	return h.URL
}

func TestAnEndpointThatMisbehavesIsATypedError(t *testing.T) {
	fill := func(w io.Writer) {
		for block := strings.Repeat("x", 1<<20); ; {
			if _, err := io.WriteString(w, block); err != nil {
				return
			}
		}
	}
	page := func(w http.ResponseWriter, text string) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, text)
	}
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter)
		want   core.Category
		says   string
	}{
		"100 MB of JSON": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":3,"result":{"content":[{"type":"text","text":"`)
			fill(w)
		}, core.OutcomeUnknown, "more than 4 MiB"},
		"100 MB of one event": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "data: ")
			fill(w)
		}, core.OutcomeUnknown, "more than 4 MiB"},
		"a stream that ends": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprint(w, "garbage\n\n: comment\n\ndata: [1]\n\n")
		}, core.OutcomeUnknown, "was lost"},
		"an error of a proxy": {func(w http.ResponseWriter) {
			http.Error(w, "no", http.StatusBadGateway)
		}, core.OutcomeUnknown, "HTTP status 502"},
		"an answer that sounds like a closed connection": {func(w http.ResponseWriter) {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"jsonrpc":"2.0","id":4,"error":{"code":-32004,"message":"server is closing"}}`)
		}, core.OutcomeUnknown, "was lost"},
		"a page": {func(w http.ResponseWriter) {
			fmt.Fprint(w, "<html>")
		}, core.OutcomeUnknown, "was lost"},
		"JSON that is no message": {func(w http.ResponseWriter) {
			page(w, `{"ok":true}`)
		}, core.OutcomeUnknown, "was lost"},
		"a batch": {func(w http.ResponseWriter) {
			page(w, `[{"jsonrpc":"2.0","id":3,"result":{"content":[]}}]`)
		}, core.OutcomeUnknown, "was lost"},
		"a key twice": {func(w http.ResponseWriter) {
			page(w, `{"jsonrpc":"2.0","id":3,"id":3,"result":{"content":[]}}`)
		}, core.OutcomeUnknown, "was lost"},
		"two messages": {func(w http.ResponseWriter) {
			page(w, strings.Repeat(`{"jsonrpc":"2.0","id":3,"result":{"content":[]}}`, 2))
		}, core.OutcomeUnknown, "was lost"},
		"deep JSON": {func(w http.ResponseWriter) {
			page(w,
				`{"jsonrpc":"2.0","id":3,"result":{"content":[],"structuredContent":`+strings.Repeat("[", 1e6)+
					strings.Repeat("]", 1e6)+`}}`)
		}, core.OutcomeUnknown, "was lost"},
		"a request in place of an answer": {func(w http.ResponseWriter) {
			page(w,
				`{"jsonrpc":"2.0","id":3,"method":"sampling/createMessage","params":{"a":"`+strings.Repeat("x", 1e6)+
					`"}}`)
		}, core.OutcomeUnknown, "was lost"},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			address := over(t, func(w http.ResponseWriter, _ *http.Request, body string) bool {
				if !strings.Contains(body, `"tools/call"`) {
					return false
				}
				calls++
				c.answer(w)
				return true
			})
			r := run(t, mcp.Options{}, mcp.Server{Name: "files", URL: address})
			var err error
			got := allocated(func() { _, err = r.call("files.write", `{}`) })
			if core.CategoryOf(err) != c.want || !strings.Contains(core.MessageOf(err), c.says) {
				t.Errorf("%v", err)
			}
			if calls != 1 || got > 64<<20 {
				t.Errorf("%d calls, %d MiB", calls, got>>20)
			}
		})
	}
}

func TestHeadersGoToTheServerAlone(t *testing.T) {
	seen := make(chan string, 100)
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header.Get("X-Key")
	}))
	t.Cleanup(other.Close)
	leak := false
	address := over(t, func(w http.ResponseWriter, r *http.Request, body string) bool {
		if r.Header.Get("X-Key") != "s3cr3t-value" {
			t.Errorf("%s without the header", r.Method)
		}
		if r.Header.Get("Idempotency-Key") != "" {
			t.Error("a header that lets clients repeat the request")
		}
		if leak = leak || strings.Contains(body, `"tools/call"`); leak {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}
		return leak
	})
	r := run(t, mcp.Options{},
		mcp.Server{
			Name: "files", URL: address + "?key=another-secret", Headers: map[string]string{"X-Key": "s3cr3t-value"},
		})
	if _, err := r.call("files.echo", `{}`); core.CategoryOf(err) != core.ToolFailed ||
		strings.Contains(err.Error(), "another-secret") {
		t.Errorf("%v", err)
	}
	if len(seen) > 0 {
		t.Errorf("another server got a request, with the header %q", <-seen)
	}
	if strings.Contains(r.log.String(), "another-secret") || strings.Contains(r.log.String(), "s3cr3t-value") {
		t.Errorf("the log has a secret:\n%s", r.log)
	}
}

func TestAPatternOfReadingToolsIsNoPath(t *testing.T) {
	server := sdk.NewServer(&sdk.Implementation{Name: "notes", Version: "1"}, nil)
	for _, name := range []string{"notes/list", "notes/add", "list"} {
		server.AddTool(&sdk.Tool{Name: name, InputSchema: map[string]any{"type": "object"}}, nil)
	}
	h := httptest.NewServer(sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return server }, nil))
	t.Cleanup(h.Close)
	r := run(t, mcp.Options{}, mcp.Server{Name: "notes", URL: h.URL, ReadOnly: []string{"*list"}})
	for name, mutating := range map[string]bool{
		"notes.notes_list": false, "notes.list": false, "notes.notes_add": true,
	} {
		if r.get(name).Mutating != mutating {
			t.Errorf("%s changes something: %t", name, !mutating)
		}
	}
}
