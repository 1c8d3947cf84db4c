package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	mcpservers "gatehouse/adapters/mcp"
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
		server.AddTool(
			&mcp.Tool{
				Name: name, InputSchema: map[string]any{"type": "object"},
				Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true},
			},
			func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				f.mu.Lock()
				defer f.mu.Unlock()
				f.calls = append(f.calls,
					fmt.Sprintf("%s %s keyed %t", name, r.Params.Arguments, r.Params.Meta["gatehouse/call-key"] != nil))
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: name + " is done"}}}, nil
			})
	}
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(h.Close)
	path := filepath.Join(t.TempDir(), "mcp.json")
	text, _ := json.Marshal(
		map[string]any{"mcpServers": map[string]any{"files": map[string]any{
			"type": "http", "url": h.URL, "readOnly": []string{"read"},
		}}})
	noErr(t, os.WriteFile(path, text, 0o600))
	t.Setenv("GATEHOUSE_MCP_CONFIG", path)
	return f
}

// listed has the tools of the configured servers stored, as an earlier start does. What a server that was never seen
// has is not waited for.
func listed(t *testing.T, w *workbench) {
	t.Helper()
	cfg, err := mcpservers.Load(os.Getenv("GATEHOUSE_MCP_CONFIG"), os.LookupEnv)
	noErr(t, err)
	servers := mcpservers.New(mcpservers.Options{Config: cfg, Pins: w.store})
	ctx, stop := context.WithTimeout(t.Context(), patience)
	ended := make(chan error)
	go func() { ended <- servers.Run(ctx) }()
	servers.Ready(ctx)
	stop()
	noErr(t, <-ended)
}

// awaitServer waits until a gateway's MCP server runs.
func awaitServer(t *testing.T, base, server string) {
	t.Helper()
	(&workbench{t: t}).until("the start of "+server, nil, func() bool {
		return strings.Contains(page(t, base+"/metrics"), fmt.Sprintf("gatehouse_mcp_server_up{server=%q} 1", server))
	})
}

// page gives what an address shows.
func page(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	noErr(t, err)
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	noErr(t, err)
	return string(text)
}

// oddSchemas are schemas of arguments as servers define them, each of which one of the vendors refuses.
var oddSchemas = map[string]string{
	"either": `{"type":"object","oneOf":[{"properties":{"a":{"type":"string"}},"required":["a"]},` +
		`{"properties":{"b":{"type":"number"}},"required":["b"]}]}`,
	"referred": `{"type":"object","$ref":"#/$defs/A","$defs":{"A":{"type":"object",` +
		`"properties":{"a":{"$ref":"#/$defs/A"}}}}}`,
	"lists": `{"type":"object","properties":{"a":{"type":"array"}}}`,
	"old_tuples": `{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",` +
		`"properties":{"a":{"type":"array","items":[{"type":"string"}]}}}`,
	"old_limits": `{"$schema":"http://json-schema.org/draft-04/schema#","type":"object",` +
		`"properties":{"a":{"type":"number","minimum":0,"exclusiveMinimum":true}}}`,
	"names": `{"type":"object","properties":{"$top":{"type":"integer"},"@odata.type":{"type":"string"}},` +
		`"required":["$top"]}`,
	"no_words": `{"type":"object"}`,
}

// useOddServer starts an MCP server whose tools have these schemas. Each gives its arguments back.
func useOddServer(t *testing.T) (config string) {
	t.Helper()
	server := mcp.NewServer(&mcp.Implementation{Name: "odd", Version: "1"}, nil)
	for name, schema := range oddSchemas {
		server.AddTool(
			&mcp.Tool{Name: name, Description: strings.Repeat("Long. ", 500), InputSchema: json.RawMessage(schema)},
			func(_ context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{
					Text: "it got " + string(r.Params.Arguments),
				}}}, nil
			})
	}
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(h.Close)
	config = filepath.Join(t.TempDir(), "mcp.json")
	text, _ := json.Marshal(
		map[string]any{"mcpServers": map[string]any{"odd": map[string]any{
			"type": "http", "url": h.URL, "readOnly": []string{"*"},
		}}})
	noErr(t, os.WriteFile(config, text, 0o600))
	return config
}

// TestAModelIsToldOfToolsHoweverTheyAreDefined: no schema of a server's tool makes a vendor refuse the request.
// Arguments are checked against the schema as it is.
func TestAModelIsToldOfToolsHoweverTheyAreDefined(t *testing.T) {
	onEachVendor(t, func(t *testing.T, v fakeVendor) {
		s := serveModel(t, v, map[string]string{"GATEHOUSE_MCP_CONFIG": useOddServer(t)})
		awaitServer(t, s.base, "odd")
		v.Then(
			v.call(toolCall("c1", "odd.either", `{"a":"milk"}`), toolCall("c2", "odd.either", `{"c":1}`),
				toolCall("c3", "odd.old_limits", `{"a":0}`)),
			v.say("That is all."))
		s.ann.Says("go")
		s.reads(s.dm, "", "That is all.")
		if body := v.lastBody(); !strings.Contains(body, `it got {\"a\":\"milk\"}`) ||
			strings.Count(body, "tool_arguments") != 2 {
			t.Errorf("the model reads %s", body)
		}
		for name := range oddSchemas {
			if !strings.Contains(v.lastBody(), `"odd__`+name+`"`) {
				t.Errorf("the model is not told of %s", name)
			}
		}
	})
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
		{ID: "c1", Name: "files.read", Arguments: json.RawMessage(`{"a":1.0}`)},
		{ID: "c2", Name: "files.change", Arguments: json.RawMessage(`{"b":2}`)},
	}}}
}

const both = `read {"a":1.0} keyed true; change {"b":2} keyed true`

func TestToolsOfAnMCPServer(t *testing.T) {
	t.Run("a change is approved", func(t *testing.T) {
		f, w := useFileServer(t), newProg(t)
		listed(t, w)
		useModel(t, asks())
		out := w.chat("go", "y")
		if got := f.ran(); got != both || !strings.Contains(out, "files.change") ||
			!strings.Contains(out, "That is all.") {
			t.Errorf("%s\n%s", got, out)
		}
		w.wantVerdict("is done", "")
	})
	t.Run("a change is denied", func(t *testing.T) {
		f, w := useFileServer(t), newProg(t)
		listed(t, w)
		useModel(t, asks())
		out := w.chat("go", "n not today")
		if got := f.ran(); got != `read {"a":1.0} keyed true` || !strings.Contains(out, "That is all.") {
			t.Errorf("%s\n%s", got, out)
		}
	})
	t.Run("the policy allows it", func(t *testing.T) {
		f, w := useFileServer(t), newProg(t)
		listed(t, w)
		t.Setenv("GATEHOUSE_APPROVAL_POLICY",
			policyFile(t, "version: 1\nrules:\n- name: files\n  tools: [\"files.*\"]\n  action: allow\n"))
		useModel(t, asks())
		out := w.chat("go")
		if got := f.ran(); got != both || !strings.Contains(out, "That is all.") {
			t.Errorf("%s\n%s", got, out)
		}
		w.wantVerdict("is done", "")
	})
	t.Run("the policy trusts the server's annotations", func(t *testing.T) {
		f, w := useFileServer(t), newProg(t)
		listed(t, w)
		t.Setenv("GATEHOUSE_APPROVAL_POLICY",
			policyFile(t, "version: 1\nrules:\n- name: files\n  tools: [\"files.*\"]\n  when: annotations.readOnly\n "+
				" action: allow\n"))
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
		noErr(t, os.WriteFile(os.Getenv("GATEHOUSE_MCP_CONFIG"), []byte(text), 0o600))
		useModel(t, asks())
		if out := w.chat("go"); !strings.Contains(out, "That is all.") || f.ran() != "" {
			t.Error(out)
		}
	})
}

// TestExplainSaysWhatItDoesNotKnowOfAServersTool: its answer may differ from what happens, where a policy trusts
// annotations.
func TestExplainSaysWhatItDoesNotKnowOfAServersTool(t *testing.T) {
	useFileServer(t)
	w := newProg(t)
	for name, warned := range map[string]bool{"files.read": true, "note.add": false} {
		code, _, said := w.prog(nil, "approvals", "explain", "--tool", name, "--args", "{}", "--as", "local:ann")
		if code != cli.ExitDone ||
			strings.Contains(said, "run gatehouse approvals explain --all --server files") != warned {
			t.Errorf("%s: %d, %q", name, code, said)
		}
	}
}

// TestDoctorNamesAllArgumentsThatServersAloneCheck: in one table, however many tools there are.
func TestDoctorNamesAllArgumentsThatServersAloneCheck(t *testing.T) {
	server := mcp.NewServer(&mcp.Implementation{Name: "many", Version: "1"}, nil)
	for i := range 60 {
		schema := json.RawMessage(`{"type":"object","properties":{"to":{"pattern":"^(?!a)"},"at":{"$ref":"#/no"}}}`)
		server.AddTool(&mcp.Tool{Name: fmt.Sprintf("send_%d", i), InputSchema: schema},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{}, nil
			})
	}
	h := httptest.NewServer(mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, nil))
	t.Cleanup(h.Close)
	path := filepath.Join(t.TempDir(), "mcp.json")
	text, _ := json.Marshal(
		map[string]any{"mcpServers": map[string]any{"many": map[string]any{"type": "http", "url": h.URL}}})
	noErr(t, os.WriteFile(path, text, 0o600))
	t.Setenv("GATEHOUSE_MCP_CONFIG", path)
	code, out, _ := newProg(t).prog(nil, "doctor")
	for i := range 60 {
		row := regexp.MustCompile(fmt.Sprintf(`(?m)^ +many\.send_%d +at \(\$ref\), to \(pattern\)$`, i))
		if code != cli.ExitDone || len(row.FindAllString(out, -1)) != 1 {
			t.Fatalf("%d; no row of send_%d in\n%s", code, i, out)
		}
	}
}

func TestDoctorReportsMCPServers(t *testing.T) {
	useFileServer(t)
	w := newProg(t)
	code, out, _ := w.prog(nil, "doctor")
	if code != cli.ExitDone || !strings.Contains(out, "files 1 runs; 2 tools. read: files.read; write: files.change.") {
		t.Errorf("%d\n%s", code, out)
	}
	text := `{"mcpServers": {"files": {"command": "/no/such/program", "x": 1}, "bad": {"type": "sse"}}}`
	noErr(t, os.WriteFile(os.Getenv("GATEHOUSE_MCP_CONFIG"), []byte(text), 0o600))
	if code, out, _ = w.prog(nil, "doctor"); code != cli.ExitUsage ||
		!strings.Contains(out, `server "bad": "type" "sse" is not supported`) {
		t.Errorf("%d\n%s", code, out)
	}
	if err := os.WriteFile(os.Getenv("GATEHOUSE_MCP_CONFIG"),
		[]byte(strings.Replace(text, `, "bad": {"type": "sse"}`, "", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ = w.prog(nil, "doctor"); code != cli.ExitBad || !strings.Contains(out, "fail  mcp files") ||
		!strings.Contains(out, `"x" is ignored`) {
		t.Errorf("%d\n%s", code, out)
	}
}
