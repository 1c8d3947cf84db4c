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
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
)

// fileServer is an MCP server with one tool that reads and one that changes something.
type fileServer struct {
	mu    sync.Mutex
	calls []string
}

// useFileServer starts an MCP server and sets GATEHOUSE_MCP_CONFIG.
func useFileServer(t *testing.T) *fileServer {
	t.Helper()
	f := &fileServer{}
	server := mcp.NewServer(&mcp.Implementation{Name: "files", Version: "1"}, nil)
	for _, name := range []string{"read", "change"} {
		server.AddTool(&mcp.Tool{Name: name, InputSchema: map[string]any{"type": "object"}, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true}},
			func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.calls = append(f.calls, fmt.Sprintf("%s %s keyed %t", name, r.Params.Arguments, r.Params.Meta["gatehouse/call-key"] != nil))
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name + " is done"}}}, nil
			})
	}
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(h.Close)
	path := filepath.Join(t.TempDir(), "mcp.json")
	text, _ := json.Marshal(map[string]any{"mcpServers": map[string]any{"files": map[string]any{"type": "http", "url": h.URL, "readOnly": []string{"read"}}}})
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("GATEHOUSE_MCP_CONFIG", path)
	return f
}

// ran returns the calls so far, and forgets them.
func (f *fileServer) ran() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() { f.calls = nil }()
	return strings.Join(f.calls, "; ")
}

// asks is a model that reads and changes in one answer.
func asks() *batchModel {
	return &batchModel{answers: [][]core.ToolCall{{
		{ID: "c1", Name: "files.read", Arguments: json.RawMessage(`{"a":1.0}`)}, {ID: "c2", Name: "files.change", Arguments: json.RawMessage(`{"b":2}`)},
	}}}
}

const both = `read {"a":1.0} keyed true; change {"b":2} keyed true`

func TestToolsOfAnMCPServer(t *testing.T) {
	t.Run("a change is approved", func(t *testing.T) {
		f, w := useFileServer(t), newProg(t)
		useModel(t, asks())
		out := w.chat("go", "y")
		if got := f.ran(); got != both || !strings.Contains(out, "files.change") || !strings.Contains(out, "That is all.") {
			t.Errorf("%s\n%s", got, out)
		}
		w.wantVerdict("is done", "")
	})
	t.Run("a change is denied", func(t *testing.T) {
		f, w := useFileServer(t), newProg(t)
		useModel(t, asks())
		out := w.chat("go", "n not today")
		if got := f.ran(); got != `read {"a":1.0} keyed true` || !strings.Contains(out, "That is all.") {
			t.Errorf("%s\n%s", got, out)
		}
	})
	t.Run("the policy allows it", func(t *testing.T) {
		f, w := useFileServer(t), newProg(t)
		t.Setenv("GATEHOUSE_APPROVAL_POLICY", policyFile(t, "version: 1\nrules:\n- name: files\n  tools: [\"files.*\"]\n  action: allow\n"))
		useModel(t, asks())
		out := w.chat("go")
		if got := f.ran(); got != both || !strings.Contains(out, "That is all.") {
			t.Errorf("%s\n%s", got, out)
		}
		w.wantVerdict("is done", "")
	})
	t.Run("its server is away", func(t *testing.T) {
		f, w := useFileServer(t), newProg(t)
		text := `{"mcpServers": {"files": {"command": "/no/such/program"}}}`
		if err := os.WriteFile(os.Getenv("GATEHOUSE_MCP_CONFIG"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		useModel(t, asks())
		if out := w.chat("go"); !strings.Contains(out, "That is all.") || f.ran() != "" {
			t.Error(out)
		}
	})
}

func TestDoctorReportsMCPServers(t *testing.T) {
	useFileServer(t)
	w := newProg(t)
	code, out, _ := w.prog(nil, "doctor")
	if code != cli.ExitDone || !strings.Contains(out, "files 1 runs; 2 tools. read: files.read; write: files.change.") {
		t.Errorf("%d\n%s", code, out)
	}
	text := `{"mcpServers": {"files": {"command": "/no/such/program", "x": 1}, "bad": {"type": "sse"}}}`
	if err := os.WriteFile(os.Getenv("GATEHOUSE_MCP_CONFIG"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ = w.prog(nil, "doctor"); code != cli.ExitUsage || !strings.Contains(out, `server "bad": "type" "sse" is not supported`) {
		t.Errorf("%d\n%s", code, out)
	}
	if err := os.WriteFile(os.Getenv("GATEHOUSE_MCP_CONFIG"), []byte(strings.Replace(text, `, "bad": {"type": "sse"}`, "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ = w.prog(nil, "doctor"); code != cli.ExitBad || !strings.Contains(out, "fail  mcp files") || !strings.Contains(out, `"x" is ignored`) {
		t.Errorf("%d\n%s", code, out)
	}
}
