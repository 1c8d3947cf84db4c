package mcp_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/adapters/mcp"
)

// npmKey names the folder with the servers of npm; see .ci/mcp-sdk.
const npmKey = "GATEHOUSE_TEST_MCP_SDK"

// TestServersOfNPMOfferEveryToolTheyHave runs the servers that the protocol's makers publish: each tool that a client
// of no abilities is shown is offered.
func TestServersOfNPMOfferEveryToolTheyHave(t *testing.T) {
	folder := os.Getenv(npmKey)
	if folder == "" {
		t.Skipf("SKIPPED: no server of npm was tested. Set %s to the folder that they are installed in.", npmKey)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "hello.txt"), []byte("Hello."), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args             []string
		tool, call, says string
	}{
		"everything": {[]string{"stdio"}, "get-sum", `{"a":2,"b":3}`, "5"},
		"filesystem": {[]string{dir}, "read_text_file", `{"path":"` + dir + `/hello.txt"}`, "Hello."},
		"memory":     {nil, "search_nodes", `{"query":"x"}`, "entities"},
	} {
		t.Run(name, func(t *testing.T) {
			args := append(
				[]string{filepath.Join(folder, "node_modules/@modelcontextprotocol/server-"+name+"/dist/index.js")},
				c.args...)
			env := map[string]string{"MEMORY_FILE_PATH": filepath.Join(dir, "memory.jsonl")}
			r := run(t, mcp.Options{}, mcp.Server{Name: name, Command: "node", Args: args, Env: env})
			cmd := exec.CommandContext(t.Context(), "node", args...)
			cmd.Env = append(os.Environ(), "MEMORY_FILE_PATH="+env["MEMORY_FILE_PATH"])
			client := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"},
				&sdk.ClientOptions{Capabilities: &sdk.ClientCapabilities{}})
			session, err := client.Connect(t.Context(),
				&sdk.CommandTransport{Command: cmd, TerminateDuration: time.Millisecond}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer session.Close()
			list, err := session.ListTools(t.Context(), nil)
			if err != nil || len(list.Tools) < 9 {
				t.Fatalf("it lists %v, %v", list, err)
			}
			for _, one := range list.Tools {
				if offered := r.get(name + "." + one.Name); offered.Description == "" {
					t.Errorf("%s is not described", one.Name)
				}
			}
			if report := r.Report()[0]; len(report.Warnings) > 0 {
				t.Errorf("it is warned of %q", report.Warnings)
			}
			if got, err := r.call(name+"."+c.tool, c.call); err != nil || !strings.Contains(got, c.says) {
				t.Errorf("%s says %q, %v", c.tool, got, err)
			}
		})
	}
}
