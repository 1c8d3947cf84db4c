package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"gatehouse/cmd/gatehouse/internal/cli"
)

// useTellingServer starts an MCP server that says all that it is sent in every place, and is told twenty secrets. It
// gives the secrets, and mcp.json.
func useTellingServer(t *testing.T) (secrets []string, config string) {
	t.Helper()
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		all := r.URL.RequestURI()
		for name, values := range r.Header {
			if name != "Content-Length" {
				all += " " + name + "=" + values[0]
			}
		}
		server := mcp.NewServer(&mcp.Implementation{Name: all, Version: "1"}, nil)
		schema := map[string]any{
			"type": "object",
			"properties": map[string]any{"to": map[string]any{
				"type": "string", "description": all, "default": all, "enum": []any{"eu", "us", all},
			}},
		}
		for _, name := range []string{"look", "change", "fail"} {
			server.AddTool(&mcp.Tool{Name: name, Description: all, InputSchema: schema},
				func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
					if name == "fail" {
						return nil, errors.New(all)
					}
					return &mcp.CallToolResult{
						IsError: name == "change", Content: []mcp.Content{&mcp.TextContent{Text: all}},
						StructuredContent: map[string]any{"all": all},
					}, nil
				})
		}
		mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server {
			return server
		}, &mcp.StreamableHTTPOptions{Stateless: true}).ServeHTTP(w, r)
	}))
	t.Cleanup(h.Close)
	mark := func() string {
		secrets = append(secrets, fmt.Sprintf("mark%02dof-them", len(secrets)))
		return secrets[len(secrets)-1]
	}
	headers := map[string]string{
		"X-Region": "eu-west-1", "Cookie": "session=" + mark(), "X-Up": "Bearer " + mark(),
		"X-Db": "postgres://app:" + mark() + "@db.example/app", "X-Conn": "Server=db;Password=" + mark(),
	}
	for _, name := range []string{
		"Authorization", "Proxy-Authorization", "X-Api-Key", "X-Auth-Token", "X-Client-Secret", "X-Password",
		"X-Signature", "X-Access-Key", "X-Db-Pass", "X-Credential", "X-Sas", "X-Jwt",
	} {
		headers[name] = mark()
	}
	address := h.URL + "/team-blue/token/" + mark() + "/mcp?region=north&key=" + mark() + "&sig=" + mark() +
		"&access_token=" + mark()
	config = filepath.Join(t.TempDir(), "mcp.json")
	text, _ := json.Marshal(
		map[string]any{"mcpServers": map[string]any{"tell": map[string]any{
			"url": address, "headers": headers, "readOnly": []string{"look"},
		}}})
	noErr(t, os.WriteFile(config, text, 0o600))
	return secrets, config
}

// TestLaw8_NoSecretOfAnMCPServerReachesAnybody: what an entry holds is in nothing that a model, the people or the log
// read, whatever the server says; what is no secret is. A call that holds our own mark is refused, and the server never
// gets it.
func TestLaw8_NoSecretOfAnMCPServerReachesAnybody(t *testing.T) {
	secrets, config := useTellingServer(t)
	if len(secrets) < 20 {
		t.Fatalf("only %d secrets", len(secrets))
	}
	v := vendors["OpenAI"](t)
	s := serveModel(t, v, map[string]string{"GATEHOUSE_MCP_CONFIG": config, "GATEHOUSE_LOG_LEVEL": "debug"})
	awaitServer(t, s.base, "tell")
	v.Then(
		v.call(toolCall("c1", "tell.look", `{}`), toolCall("c2", "tell.change", `{"to":"••••••"}`),
			toolCall("c3", "tell.change", `{"to":"eu"}`)),
		v.call(toolCall("c4", "tell.fail", `{}`)), v.say("It failed."))
	ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" look and change")
	for _, name := range []string{"Call change", "Call fail"} {
		card := s.card("C1", ask.TS, name)
		s.bob.Clicks("C1", card.TS, "approve")
	}
	s.reads("C1", ask.TS, "It failed.")
	results := toolResults(t, v.lastBody())
	posted, _ := json.Marshal(s.slack.Messages("C1"))
	_, doctor := s.command("doctor")
	code, shown := s.command("approvals", "list", "--json")
	if code != cli.ExitDone || !strings.Contains(shown, "tell.fail") {
		t.Fatalf("%d: %s", code, shown)
	}
	told := map[string]string{
		"the posts": string(posted), "the log": s.log.String(), "doctor": doctor, "the approvals": shown,
	}
	for i, call := range v.Calls() {
		told[fmt.Sprint("the model, request ", i)] = string(call.Body)
	}
	for who, text := range told {
		if at := slices.IndexFunc(secrets, func(secret string) bool {
			return strings.Contains(text, secret)
		}); at >= 0 {
			t.Errorf("%s: %s is told", who, secrets[at])
		}
	}
	if !strings.Contains(results["c1"], "team-blue") || !strings.Contains(results["c1"], "X-Region=eu-west-1") ||
		!strings.Contains(results["c1"], "region=north") {
		t.Errorf("what is no secret is hidden: %s", results["c1"])
	}
	if !strings.Contains(results["c2"], "to holds ••••••") || strings.Contains(results["c3"], "to holds") {
		t.Errorf("the mark: %s; %s", results["c2"], results["c3"])
	}
	for place, state := range map[string]string{
		"URL segment 1": "shown", "URL segment 3": "hidden", "URL parameter key": "hidden", "header X-Region": "shown",
		"header Authorization": "hidden", "header X-Db": "hidden in part",
	} {
		if !slices.ContainsFunc(strings.Split(doctor, "\n"), func(line string) bool {
			return strings.Join(strings.Fields(line), " ") == "ok mcp tell "+place+" "+state
		}) {
			t.Errorf("doctor does not say that %s is %s:\n%s", place, state, doctor)
		}
	}
	if log := s.log.String(); !strings.Contains(log, "earlier versions hid") ||
		!strings.Contains(log, `header X-Region`) {
		t.Errorf("the log does not tell what is shown now:\n%s", log)
	}
}
