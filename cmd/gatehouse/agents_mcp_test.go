package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/adapters/agents"
	"gatehouse/core"
)

// mcpKey names the folder with the official TypeScript SDK; see .ci/mcp-sdk.
const mcpKey = "GATEHOUSE_TEST_MCP_SDK"

// mcpFolder is the folder with the packages of .ci/mcp-sdk.
func mcpFolder(t *testing.T) string {
	t.Helper()
	folder := os.Getenv(mcpKey)
	if folder == "" {
		t.Skipf("SKIPPED: the MCP server was not tested with the official TypeScript SDK and inspector. Set %s to "+
			"the folder that they are installed in.", mcpKey)
	}
	return folder
}

// sdkCalls calls tools with the TypeScript SDK, and returns the names of all tools and what the calls returned.
func sdkCalls(t *testing.T, at []string, env []string, calls ...string) (tools []string, results []json.RawMessage) {
	t.Helper()
	folder := mcpFolder(t)
	cmd := exec.CommandContext(t.Context(), "node", append(append([]string{"testdata/ask.mjs"}, at...), calls...)...)
	cmd.Env = append(append(inherited(), "MCP_SDK="+folder), env...)
	out, err := cmd.Output()
	if err != nil {
		said := ""
		if failed, ok := err.(*exec.ExitError); ok { //nolint:errorlint // Output returns it bare
			said = string(failed.Stderr)
		}
		t.Fatalf("%v: %s%s", err, out, said)
	}
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	noErr(t, json.Unmarshal([]byte(lines[0]), &tools))
	for _, line := range lines[1:] {
		results = append(results, json.RawMessage(line))
	}
	return tools, results
}

func stateIn(t *testing.T, text json.RawMessage) (s agents.State) {
	t.Helper()
	if err := json.Unmarshal(text, &s); err != nil || s.ID == "" {
		t.Fatalf("%s is no state: %v", text, err)
	}
	return s
}

// newAgentProcess starts a gatehouse process with a fake Slack for the agents ci and cd.
func newAgentProcess(t *testing.T, e engine) *slackProcess {
	t.Helper()
	return newAgentProcessWith(t, e, nil)
}

// newAgentProcessWith is newAgentProcess with more settings, and with some that only the first process has.
func newAgentProcessWith(t *testing.T, e engine, env []string, first ...string) *slackProcess {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	noErr(t, os.WriteFile(file, []byte(agentPolicy), 0o600))
	p := newSlackProcessOn(t, e,
		append(env, "GATEHOUSE_APPROVAL_POLICY="+file, "GATEHOUSE_TOKENS=ci="+ciToken+",cd="+cdToken)...)
	p.open(first...)
	return p
}

const sdkRequest = `{"action":"deploy","summary":"Deploy version 7 to production.","arguments":{"version":7},` +
	`"idempotency_key":"deploy-7"}`

// TestLaw2_TheTypeScriptSDKAsksOnceThroughAKill: a client asks, the process is killed, the client asks again under the
// same key: one card, one decision.
func TestLaw2_TheTypeScriptSDKAsksOnceThroughAKill(t *testing.T) {
	t.Parallel()
	p := newAgentProcess(t, sqliteFile)
	env := []string{"GATEHOUSE_TOKEN=" + ciToken, childKey + "=1", "GATEHOUSE_URL=" + p.at}
	tools, results := sdkCalls(t, []string{p.at + "/mcp"}, env, "request_approval", sdkRequest)
	if got := strings.Join(tools,
		" "); got != "ask_person check_approval request_approval wait_for_approval withdraw_request" {
		t.Errorf("the tools are %s", got)
	}
	asked := stateIn(t, results[0])
	card := p.card("C1", "", "Deploy version 7 to production.")
	p.app.kill()
	p.open()
	_, results = sdkCalls(t, []string{p.at + "/mcp"}, env, "request_approval", sdkRequest)
	if again := stateIn(t, results[0]); again.ID != asked.ID || again.State != core.Open {
		t.Errorf("asked again, it is %+v", again)
	}
	waited := make(chan json.RawMessage, 1)
	go func() {
		_, got := sdkCalls(t, []string{"stdio", os.Args[0]}, env, "wait_for_approval", `{"id":"`+string(asked.ID)+`"}`)
		waited <- got[0]
	}()
	p.bob.Clicks("C1", card.TS, "approve")
	if got := stateIn(t, <-waited); got.State != core.Approved || got.Proof == "" {
		t.Errorf("it is %+v", got)
	}
	_, results = sdkCalls(t, []string{p.at + "/mcp"}, env, "request_approval", sdkRequest, "check_approval",
		`{"id":"`+string(asked.ID)+`"}`,
		"ask_person", `{"question":"Which colour?","schema":{"enum":["red","blue"]}}`, "wait_for_approval",
		`{"id":"nothing"}`, "request_approval", `{"action":"wipe","summary":"Wipe it."}`)
	for i, want := range []string{
		`"state":"approved"`, `"state":"approved"`, `"question":"Which colour?"`,
		`not_found: There is no request nothing of yours.`, `policy_denied: Nothing is wiped.`,
	} {
		if !strings.Contains(string(results[i]), want) {
			t.Errorf("call %d returned %s, want %s", i, results[i], want)
		}
	}
	cards := 0
	for _, m := range p.slack.Messages("C1") {
		if strings.Contains(m.Shown(), "Deploy version 7") {
			cards++
		}
	}
	if decided := p.approvals(core.Approved); cards != 1 || len(decided) != 1 || len(decided[0].Votes) != 1 {
		t.Errorf("%d cards, decisions %+v", cards, decided)
	}
}

// TestTheInspectorListsAndCallsEachToolOfOurServer: MCP's official inspector finds no fault with a tool's definition or
// its results.
func TestTheInspectorListsAndCallsEachToolOfOurServer(t *testing.T) {
	inspector := filepath.Join(mcpFolder(t),
		"node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js")
	s := serveAgents(t, nil)
	inspect := func(args ...string) (out []byte, said string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(),
			"node",
			append([]string{inspector, "--cli", s.base + "/mcp", "--header", "Authorization: Bearer " + ciToken},
				args...)...)
		cmd.Env = append(inherited(), "HOME="+t.TempDir())
		var errors strings.Builder
		cmd.Stderr = &errors
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%v: %v\n%s%s", args, err, out, errors.String())
		}
		return out, errors.String()
	}
	out, said := inspect("--method", "tools/list", "--strict")
	var list struct{ Tools []struct{ Name string } }
	if err := json.Unmarshal(out, &list); err != nil || strings.Contains(said, "Warning") ||
		strings.Contains(said, "Error") {
		t.Fatalf("%v: %s%s", err, said, out)
	}
	left := map[string]bool{}
	for _, tool := range list.Tools {
		left[tool.Name] = true
	}
	call := func(tool string, want core.ApprovalState, args ...string) agents.State {
		t.Helper()
		delete(left, tool)
		out, _ := inspect(append([]string{"--method", "tools/call", "--tool-name", tool, "--tool-arg"}, args...)...)
		var result struct{ StructuredContent json.RawMessage }
		if err := json.Unmarshal(out, &result); err != nil {
			t.Fatalf("%s: %v", out, err)
		}
		state := stateIn(t, result.StructuredContent)
		if state.State != want {
			t.Errorf("%s: it is %s", tool, state.State)
		}
		return state
	}
	asked := call("request_approval", core.Open, "action=deploy", "summary=Deploy it.", `arguments={"version":7}`,
		"idempotency_key=k1")
	call("check_approval", core.Open, "id="+string(asked.ID))
	call("wait_for_approval", core.Open, "id="+string(asked.ID), "seconds=0")
	call("withdraw_request", core.Cancelled, "id="+string(asked.ID))
	call("ask_person", core.Open, "question=Which colour?", `schema={"enum":["red","blue"]}`)
	if len(left) > 0 {
		t.Errorf("not called were %v", left)
	}
}
