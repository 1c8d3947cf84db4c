package mcp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"gatehouse/adapters/mcp"
	"gatehouse/core"
)

// variables are the environment of these tests.
func variables(name string) (string, bool) {
	v, ok := map[string]string{"TOKEN": "t0k3n", "EMPTY": ""}[name]
	return v, ok
}

func TestParseAsOtherClientsDo(t *testing.T) {
	got, faults := mcp.Parse([]byte(`{
		"$schema": "x",
		"mcpServers": {
			"files": {"type": "stdio", "command": "npx", "args": ["-y", "server", "${HOME_DIR:-/home}"],
				"env": {"TOKEN": "${TOKEN}"}, "cwd": "/tmp", "readOnly": ["read_*"], "timeout": "90s"},
			"git hub": {"type": "streamable-http", "url": "https://example.com/mcp",
				"headers": {"Authorization": "Bearer ${env:TOKEN}"},
				 "alwaysAllow": ["x"], "timeout": 30, "tools": {"deny": ["drop_*"]}},
			"copilot": {"command": "x", "tools": ["*", "list@0123456789ab"]}, "nothing": {"command": "x", "tools": []},
			"off": {"command": "x", "disabled": true}
		}
	}`), variables)
	want := mcp.Config{
		Servers: []mcp.Server{
			{
				Name: "files", Command: "npx", Args: []string{"-y", "server", "/home"},
				Env: map[string]string{"TOKEN": "t0k3n"}, Dir: "/tmp", ReadOnly: []string{"read_*"},
				Timeout: 90 * time.Second,
			},
			{
				Name: "git_hub", URL: "https://example.com/mcp",
				Headers: map[string]string{"Authorization": "Bearer t0k3n"},
				Filter:  mcp.Filter{Deny: []string{"drop_*"}},
			},
			{Name: "copilot", Command: "x", Filter: mcp.Filter{Allow: []string{"*", "list@0123456789ab"}, Only: true}},
			{Name: "nothing", Command: "x", Filter: mcp.Filter{Only: true}},
		},
		Warnings: []string{
			`line 2: "$schema" is ignored`,
			`line 6: server "git hub": its tools are called git_hub.…, because names of tools hold letters, ` +
				`digits, _ and - only`,
			`line 8: server "git hub": "alwaysAllow" is ignored: GATEHOUSE_APPROVAL_POLICY says which calls need ` +
				`no approval, and "readOnly" which tools only read`,
			`line 8: server "git hub": "timeout" is ignored, since clients mean different units by a number; ` +
				`write it with one, such as "90s"`,
		},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(mcp.Server{})); diff != "" || len(faults) > 0 {
		t.Errorf("%v\n%s", faults, diff)
	}
}

func TestFaultsComeAllAtOnce(t *testing.T) {
	_, got := mcp.Parse([]byte(`{"mcpServers": {
"none": {},
"both": {"command": "x", "url": "https://example.com"},
"list": ["x"],
"sse": {"type": "sse", "url": "https://example.com"},
"kind": {"type": "http", "command": "x"},
"unset": {"command": "x", "env": {"A": "${MISSING}", "B": "${EMPTY}", "C": "${input:key}"}},
"number": {"command": "x", "env": {"PORT": 80}, "args": "y"},
"address": {"url": "example.com"},
"header": {"url": "https://example.com", "headers": {"A B": "x", "Host": "y"}},
"glob": {"command": "x", "readOnly": ["[a"]},
"a b": {"command": "x"}, "a_b": {"command": "x"},
"..": {"command": "x"},
"user": {"url": "https://me:pass@example.com/mcp"}
}}`), variables)
	want := []string{
		`line 2: server "none": needs "command", of a server that gatehouse starts, or "url", of one that runs`,
		`line 3: server "both": has "command" and "url"; remove one`,
		`line 4: server "list": must be an object; write {"command": "…"} or {"url": "https://…"}`,
		`line 5: server "sse": "type" "sse" is not supported; use the server's address for streamable HTTP, with ` +
			`"type": "http"`,
		`line 6: server "kind": is of type http and has no "url"`,
		`line 7: server "unset": "env.A" needs the variable MISSING, which is not set; set it in gatehouse's ` +
			`environment`,
		`line 7: server "unset": "env.B" needs the variable EMPTY, which is not set; set it in gatehouse's environment`,
		`line 7: server "unset": "env.C" has ${input:key}, which gatehouse does not know; write ${VARIABLE}, of ` +
			`the environment`,
		`line 8: server "number": "env.PORT" must be a text, in quotes`,
		`line 8: server "number": "args" must be a list of texts: ["…", "…"]`,
		`line 9: server "address": "url" is not of the form https://HOST/PATH`,
		`line 10: server "header": the header "A B" can't be sent: its name or value has characters that are not ` +
			`allowed`,
		`line 10: server "header": the header "Host" can't be sent: its name or value has characters that are ` +
			`not allowed`,
		`line 11: server "glob": "[a" in "readOnly" is no pattern; write names of its tools, such as "read_*"`,
		`line 12: server "a_b": another server is called a_b, too, in the names of its tools; give it another name`,
		`line 13: server "..": the name has no letter or digit; give the server another one`,
		`line 14: server "user": "url" holds a user or password; remove it from there and write it into ` +
			`"headers", as "Authorization"`,
	}
	if diff := cmp.Diff(want, got, cmpopts.SortSlices(func(a, b string) bool { return a < b })); diff != "" {
		t.Error(diff)
	}
}

func TestAFileThatIsNone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mcp.json")
	for text, want := range map[string]string{
		`{"servers": {}}`:       `rename "servers" to "mcpServers"`,
		`[]`:                    `no object "mcpServers"`,
		`{"mcpServers": {`:      "line 1, column 17",
		`{"mcpServers": []}`:    `no object "mcpServers"`,
		"{\n\"mcpServers\": 1,": "line 2",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := mcp.Load(path, variables); core.CategoryOf(err) != core.Invalid ||
			!strings.Contains(core.MessageOf(err), want) || !strings.HasPrefix(core.MessageOf(err), path) {
			t.Errorf("%s: %v", text, err)
		}
	}
	if _, err := mcp.Load(path+"x", variables); core.CategoryOf(err) != core.Invalid {
		t.Errorf("%v", err)
	}
	if cfg, err := mcp.Load("", variables); err != nil || len(cfg.Servers) > 0 {
		t.Errorf("%v, %v", cfg, err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(`{"mcpServers":{"a":{"command":"${A:-b}","readOnly":["x@y"]}}}`)
	f.Fuzz(func(t *testing.T, text string) {
		cfg, faults := mcp.Parse([]byte(text), variables)
		for _, s := range cfg.Servers {
			if len(faults) == 0 && (s.Command == "") == (s.URL == "") {
				t.Errorf("%+v", s)
			}
		}
	})
}
