package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// pingServer is an MCP server with one tool, which changes something. It counts its calls.
func pingServer(t *testing.T) (url string, calls *atomic.Int64) {
	t.Helper()
	calls = &atomic.Int64{}
	server := mcp.NewServer(&mcp.Implementation{Name: "ping", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "ping", InputSchema: map[string]any{"type": "object"}},
		func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			calls.Add(1)
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "pong"}}}, nil
		})
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(h.Close)
	return h.URL, calls
}

// silentServer never answers while the test runs.
func silentServer(t *testing.T) (url string) {
	t.Helper()
	held := make(chan struct{})
	h := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-held }))
	t.Cleanup(h.Close)
	t.Cleanup(func() { close(held) })
	return h.URL
}

// serversFile writes an mcp.json of servers by their addresses.
func serversFile(t *testing.T, path string, addresses map[string]string) string {
	t.Helper()
	all := map[string]any{}
	for name, url := range addresses {
		all[name] = map[string]any{"url": url}
	}
	text, err := json.Marshal(map[string]any{"mcpServers": all})
	noErr(t, err)
	noErr(t, os.WriteFile(path, text, 0o600))
	return path
}

// A conversation is answered while one of three servers has not answered anything yet, and the tools of the others are
// called. That the third does not run is said by /readyz, which stays green.
func TestASilentServerDelaysNobody(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		first, calls := pingServer(t)
		second, _ := pingServer(t)
		file := serversFile(t, filepath.Join(t.TempDir(), "mcp.json"),
			map[string]string{"first": first, "second": second, "third": silentServer(t)})
		s := serveModel(t, v, map[string]string{"GATEHOUSE_MCP_CONFIG": file})
		v.Then(v.say("Hello."), v.call(toolCall("c1", "first.ping", `{}`)), v.say("It is done."))
		s.ann.Says("hello")
		s.reads(s.dm, "", "Hello.")
		state := page(t, s.base+"/readyz")
		if !strings.Contains(state, "MCP server third: it does not run") || !strings.Contains(state, `"ready":true`) {
			t.Errorf("/readyz says %s", state)
		}
		if strings.Contains(s.log.String(), `"server":"third"`) {
			t.Errorf("an attempt to start the silent server has ended before the answer: %s", s.log)
		}
		awaitServer(t, s.base, "first")
		ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" ping")
		s.bob.Clicks("C1", s.card("C1", ask.TS, "first.ping").TS, "approve")
		s.reads("C1", ask.TS, "It is done.")
		if calls.Load() != 1 {
			t.Errorf("%d calls", calls.Load())
		}
	})
}

// A call that waits for its approval while its server is removed from the file is not run, and card and model are told
// that the tool is gone. A file with a fault changes nothing; one that is put right is read without a signal.
func TestTheFileOfServersIsReadAgain(t *testing.T) {
	t.Parallel()
	fake := vendors["OpenAI"](t)
	first, calls := pingServer(t)
	second, others := pingServer(t)
	path := serversFile(t, filepath.Join(t.TempDir(), "mcp.json"), map[string]string{"first": first})
	env := []string{"GATEHOUSE_MCP_CONFIG=" + path}
	for key, value := range fake.env {
		env = append(env, key+"="+value)
	}
	p := newSlackProcess(t, env...)
	p.open()
	awaitServer(t, p.at, "first")
	fake.Then(fake.call(toolCall("c1", "first.ping", `{}`)))
	ask := p.ann.Posts("C1", p.slack.MentionOfBot()+" ping")
	card := p.card("C1", ask.TS, "first.ping")

	noErr(t, os.WriteFile(path, []byte(`{"mcpServers": {"first": {"url": 7}}}`), 0o600))
	p.signal(syscall.SIGHUP)
	p.says("so nothing was changed")
	serversFile(t, path, map[string]string{"second": second})
	p.says("the file of MCP servers was read again")
	awaitServer(t, p.at, "second")

	fake.Then(fake.say("I see."), fake.call(toolCall("c2", "second.ping", `{}`)), fake.say("It is done."))
	p.bob.Clicks("C1", card.TS, "approve")
	p.reads("C1", ask.TS, "I see.")
	p.shows("C1", card.TS, "The tool first.ping is gone, so nothing was done.", 0)
	if body := fake.lastBody(); !strings.Contains(body, "first.ping is gone") &&
		!strings.Contains(body, "first__ping is gone") {
		t.Errorf("the model reads %s", body)
	}
	again := p.ann.Posts("C1", p.slack.MentionOfBot()+" ping")
	p.bob.Clicks("C1", p.card("C1", again.TS, "second.ping").TS, "approve")
	p.reads("C1", again.TS, "It is done.")
	if n := fmt.Sprint(calls.Load(), others.Load()); n != "0 1" {
		t.Errorf("calls of the removed and of the new server: %s", n)
	}
}
