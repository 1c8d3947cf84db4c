package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/core"
)

// TestAByteOrderMark: one at the beginning of a file is none of what the file says, whatever the file is.
func TestAByteOrderMark(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	dir := t.TempDir()
	for key, text := range map[string]string{
		"GATEHOUSE_TOKENS_FILE": "ann=hunter2hunter2ann",
		"GATEHOUSE_TOOLS": "version: 1\ntools:\n  - {name: shop.count, description: d, risk: read, " +
			"command: [cat]}\n",
		"GATEHOUSE_MCP_CONFIG": `{"mcpServers": {"files": {"command": "cat"}}}`,
		"GATEHOUSE_MODELS": "models:\n  - {name: fast, vendor: openai, model: gpt-test, key_file: " +
			filepath.Join(dir, "key") + "}\n",
		"GATEHOUSE_APPROVAL_POLICY":    "version: 1\nrules:\n  - {name: it, tools: [it], action: allow}\n",
		"GATEHOUSE_REPLIES":            "too_many: Slowly.\n",
		"GATEHOUSE_GREETING_FILE":      "agent_name: Bo\n",
		"GATEHOUSE_SYSTEM_PROMPT_FILE": "Be kind.",
		"key":                          "sk-test-0123456789",
		"script": `{"HRFVersion": "1.0", "messages": [{"role": "system", "contentType": ` +
			`"harmony-script", "content": {"steps": [{"type": "assistant-message", "channel": "final", "content": ` +
			`"."}]}}]}`,
	} {
		file := filepath.Join(dir, key)
		if err := os.WriteFile(file, []byte("\ufeff"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(key, "GATEHOUSE_") {
			t.Setenv(key, file)
		}
	}
	t.Setenv("GATEHOUSE_MODEL", "fast")
	cfg, _, err := source.Load()
	if err != nil {
		t.Fatal(err)
	}
	if len(cfg.Tokens) != 1 || cfg.Tokens[0].Name != "ann" || len(cfg.MCP.Servers) != 1 ||
		len(cfg.Tools.Tools()) != 1 || cfg.Model.Chosen[0].Key != "sk-test-0123456789" ||
		cfg.Sentences.TooMany != "Slowly." || cfg.Greeting.Agent != "Bo" ||
		cfg.Policy.Rule(core.Turn{}, core.Call{Tool: "it"}).Verdict != core.VerdictAllow {
		t.Errorf("%+v", cfg)
	}
	t.Setenv("GATEHOUSE_AGENT", "script:"+filepath.Join(dir, "script"))
	if cfg, _, err = source.Load(); err != nil || cfg.Script == nil {
		t.Error(err)
	}
}
