package mcp_test

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"gatehouse/adapters/mcp"
	"gatehouse/core/tool"
)

// listed is a server that lists tools: the text is that of the list.
func listed(t *testing.T, tools string) mcp.Server {
	t.Helper()
	path := filepath.Join(t.TempDir(), "list")
	if err := os.WriteFile(path, []byte(tools), 0o600); err != nil {
		t.Fatal(err)
	}
	return process(t, "field", "LIST", path)
}

// named gives the tool of a name on the server, which its description begins with.
func (r *running) named(remote string) (found tool.Tool, ok bool) {
	for _, one := range r.Tools() {
		if one.Description == "does "+remote || strings.HasPrefix(one.Description, "does "+remote+"\n") {
			found, ok = one, true
		}
	}
	return found, ok
}

// Every tool of the reports is there, with a schema that any validator of 2020-12 takes.
func TestToolsOfTheFieldAreOffered(t *testing.T) {
	folder := os.Getenv("GATEHOUSE_FIXTURES")
	if folder == "" {
		t.Skip("SKIPPED: no schema of a report was read. Set GATEHOUSE_FIXTURES to the folder that holds field/mcp.")
	}
	text, err := os.ReadFile(filepath.Join(folder, "field", "mcp", "schemas.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []map[string]any
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		c["description"] = "does " + c["name"].(string)
	}
	text, _ = json.Marshal(cases)
	r := run(t, mcp.Options{}, listed(t, string(text)))
	for _, c := range cases {
		one, ok := r.named(c["name"].(string))
		if ok != c["offered"] {
			t.Errorf("%s is offered: %t; the log:\n%s", c["name"], ok, r.log)
			continue
		}
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(string(one.Schema)))
		if err != nil {
			t.Fatal(err)
		}
		compiler := jsonschema.NewCompiler()
		compiler.DefaultDraft(jsonschema.Draft2020)
		if err := compiler.AddResource("schema.json", doc); err != nil {
			t.Fatal(err)
		}
		// which are not Go's
		if _, err := compiler.Compile("schema.json"); err != nil && !strings.Contains(err.Error(), "regex") {
			t.Errorf("%s: %s: %v", one.Name, one.Schema, err)
		}
	}
	var left []string
	for _, one := range r.Report()[0].Tools {
		for _, part := range one.Unchecked {
			left = append(left, strings.TrimPrefix(one.Name, "files.")+" "+part)
		}
	}
	if got, want := strings.Join(left, "; "),
		"zod_email to (pattern); backref p (pattern); extref a ($ref); compref a ($ref); "+
			"emptyenum a (enum)"; got != want {
		t.Errorf("left out: %s, not %s", got, want)
	}
	if one, _ := r.named("zod_email"); one.Description != "does zod_email\n\nThe server alone checks: to (pattern)." {
		t.Errorf("%q", one.Description)
	}
}

func digest(name string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(name))) }

func TestANameNeverMovesToAnotherTool(t *testing.T) {
	kept := &pins{}
	names := func(t *testing.T, remote ...string) string {
		t.Helper()
		var list []map[string]any
		for _, name := range remote {
			list = append(list,
				map[string]any{"name": name, "description": "does " + name, "inputSchema": map[string]any{}})
		}
		text, _ := json.Marshal(list)
		r := run(t, mcp.Options{Pins: kept}, listed(t, string(text)))
		var given []string
		for _, name := range remote {
			one, _ := r.named(name)
			given = append(given, strings.TrimPrefix(one.Name, "files."))
		}
		return strings.Join(given, " ")
	}
	long := strings.Repeat("x", 200)
	for _, c := range []struct{ listed, want string }{
		{"a/b", "a_b"},
		{"a/b|a_b|a.b", "a_b a_b_648fa9b3 a_b_2e7336dc"},
		{"a_b|a.b", "a_b_648fa9b3 a_b_2e7336dc"},
		{"c.d|c/d|c_d", "c_d_713ff6c4 c_d_e5fb6071 c_d"},
		{"c.d|e.f|e/f", "c_d_713ff6c4 e_f_e1712ae4 e_f_0b86c188"},
		{"e.f", "e_f_e1712ae4"},
		{"g.h|g_h_" + digest("g.h")[:8], "g_h g_h_" + digest("g.h")[:8]},
		{
			"g.h|g_h|g/h|g_h_" + digest("g/h")[:8],
			"g_h g_h_" + digest("g_h")[:8] + " g_h_" + digest("g/h")[:16] + " g_h_" + digest("g/h")[:8],
		},
		{
			"日本|" + long + "1|" + long + "2",
			"_" + digest("日本")[:8] + " " + long[:119] + "_" + digest(long + "1")[:8] + " " + long[:119] +
				"_" + digest(long + "2")[:8],
		},
		{long[:72], long[:72]},
	} {
		t.Run(c.listed[:min(20, len(c.listed))], func(t *testing.T) {
			if got := names(t, strings.Split(c.listed, "|")...); got != c.want {
				t.Errorf("%s are called %s", c.listed, got)
			}
		})
	}
}
