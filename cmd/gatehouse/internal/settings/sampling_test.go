package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSamplingThatTheResponsesAPILacks: a model that takes tools on chat completions is asked there, with a warning;
// another one is a fault that names the key.
func TestSamplingThatTheResponsesAPILacks(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	file := filepath.Join(t.TempDir(), "system.txt")
	t.Setenv("GATEHOUSE_SYSTEM_PROMPT_FILE", file)
	t.Setenv("OPENAI_API_KEY", "sk-test")
	for _, c := range []struct{ model, sampling, warning, fault string }{
		{"openai:gpt-6-sol", "max_tokens: 9", "", ""},
		{
			"openai:gpt-5.1", "seed: 7",
			"the system prompt sets seed, which the Responses API lacks: openai:gpt-5.1 is asked over chat completions",
			"",
		},
		{
			"openai:gpt-6-sol", "temperature: 0.5", "",
			"GATEHOUSE_SYSTEM_PROMPT_FILE: The model gpt-6-sol can't be asked with temperature and tools",
		},
		{"openai:gpt-6-sol", "stop_sequences: [END]", "", "can't be asked with stop_sequences and tools"},
	} {
		if err := os.WriteFile(file, []byte("---\nsampling: {"+c.sampling+"}\n---\nBe kind.\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		t.Setenv("GATEHOUSE_MODEL", c.model)
		cfg, _, err := source.Load()
		if (err == nil) != (c.fault == "") || err != nil && !strings.Contains(err.Error(), c.fault) {
			t.Errorf("%s, %s: %v", c.model, c.sampling, err)
		}
		if got := strings.Join(cfg.Unused(), "\n"); err == nil && got != c.warning {
			t.Errorf("%s, %s: %q", c.model, c.sampling, got)
		}
	}
}
