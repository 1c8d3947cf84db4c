package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/adapters/mcp"
	"gatehouse/approvals/policy"
	"gatehouse/core"
)

// TestTheFilesOfTheMCPPageWarnOfNothing: each file of servers has as many as the page says, and the policy uses what
// servers say of their tools.
func TestTheFilesOfTheMCPPageWarnOfNothing(t *testing.T) {
	t.Parallel()
	const readme = "../../adapters/mcp/README.md"
	for i, part := range strings.Split(readFile(readme), "```json\n")[1:] {
		text, _, _ := strings.Cut(part, "```")
		cfg, faults := mcp.Parse([]byte(text), func(string) (string, bool) { return "x", true })
		if len(faults)+len(cfg.Warnings) > 0 || len(cfg.Servers) != i+1 {
			t.Errorf("%s: %q, %q", text, faults, cfg.Warnings)
		}
	}
	_, rest, _ := strings.Cut(readFile(readme), "```yaml\n")
	rules, _, _ := strings.Cut(rest, "```")
	if _, err := policy.Parse("README.md", []byte(rules), policy.Defaults{}); err != nil ||
		!strings.Contains(rules, "annotations.readOnly") {
		t.Errorf("%s: %v", rules, err)
	}
}

// TestAModelReadsWhatACommandSaysThatFails: a command that ends with another status than 0 is read by the model with
// its status and its words, after an approval too, whose card says how it ended.
func TestAModelReadsWhatACommandSaysThatFails(t *testing.T) {
	fixtures := os.Getenv("GATEHOUSE_FIXTURES")
	if fixtures == "" {
		t.Skip("SKIPPED: no command of a report was run. Set GATEHOUSE_FIXTURES to the folder that holds field/tools.")
	}
	for script, c := range map[string]struct{ reads, card string }{
		"exit-1-words-on-stdout.sh": {"exit status 1\nproblem: not found", "Failed: shop.change ended with status 1."},
		"exit-2-both-streams.sh": {
			"exit status 2\nstdout:\n" + `{"error":"E1","detail":"the order 7 was not found"}` +
				"\nstderr:\nwarning: deprecated",
			"Failed: shop.change ended with status 2: warning: deprecated",
		},
	} {
		t.Run(script, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(fixtures, "field/tools", script))
			if err != nil {
				t.Fatal(err)
			}
			dir := t.TempDir()
			yaml := "version: 1\ntools:\n"
			for _, one := range []string{
				"look, description: Looks, risk: read", "change, description: Changes, risk: write",
			} {
				yaml += "  - {name: shop." + one + ", command: [./" + script + "]}\n"
			}
			for name, text := range map[string]string{script: string(text), "tools.yaml": yaml} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			v := vendors["OpenAI"](t)
			s := serveModel(t, v, map[string]string{"GATEHOUSE_TOOLS": filepath.Join(dir, "tools.yaml")})
			v.Then(
				v.call(toolCall("c1", "shop.look", `{}`)), v.call(toolCall("c2", "shop.change", `{"to":"••••••"}`)),
				v.call(toolCall("c3", "shop.change", `{}`)), v.say("It failed."),
			)
			ask := s.ann.Posts("C1", s.slack.MentionOfBot()+" look and change")
			card := s.card("C1", ask.TS, "Run shop.change")
			s.bob.Clicks("C1", card.TS, "approve")
			s.reads("C1", ask.TS, "It failed.")
			s.shows("C1", card.TS, c.card, 0)
			results := toolResults(t, v.lastBody())
			for i, id := range []string{"c1", "c3"} {
				var envelope struct {
					Error struct {
						Category core.Category
						Output   string
					}
				}
				if err := json.Unmarshal([]byte(results[id]), &envelope); err != nil ||
					envelope.Error.Category != core.ToolFailed || envelope.Error.Output != c.reads {
					t.Errorf("call %d: %v, %s", i, err, results[id])
				}
			}
			if !strings.Contains(results["c2"], "to holds ••••••") {
				t.Errorf("the mark: %s", results["c2"])
			}
		})
	}
}

// toolResults are the results that a request to OpenAI's chat API shows, by the ids of their calls.
func toolResults(t *testing.T, body string) map[string]string {
	t.Helper()
	var request struct {
		Messages []struct {
			Role       string
			Content    any
			ToolCallID string `json:"tool_call_id"`
		}
	}
	if err := json.Unmarshal([]byte(body), &request); err != nil {
		t.Fatal(err)
	}
	results := map[string]string{}
	for _, m := range request.Messages {
		if text, ok := m.Content.(string); ok && m.Role == "tool" {
			results[m.ToolCallID] = text
		}
	}
	return results
}
