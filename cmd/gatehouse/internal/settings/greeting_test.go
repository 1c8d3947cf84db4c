package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatehouse/core/greeting"
)

// TestAGreetingIsTheFilesWhereItSaysIt: what the file leaves out is the agent's own.
func TestAGreetingIsTheFilesWhereItSaysIt(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	cfg, _, err := source.Load()
	if err != nil || cfg.Greeting.Agent != "Demo agent" || len(cfg.Greeting.Examples) < 3 {
		t.Fatalf("%+v, %v", cfg.Greeting, err)
	}
	own := cfg.Greeting
	file := filepath.Join(t.TempDir(), "greeting.yaml")
	t.Setenv("GATEHOUSE_GREETING_FILE", file)
	for text, want := range map[string]greeting.Greeting{
		"greeting: Ask me\n":        {Agent: own.Agent, Text: "Ask me", Examples: own.Examples},
		"agent_name: Shop":          {Agent: "Shop", Text: own.Text, Examples: own.Examples},
		"examples: [a, ' b ']":      {Agent: own.Agent, Text: own.Text, Examples: []string{"a", "b"}},
		"greeting: |\n  a\n  b\n":   {Agent: own.Agent, Text: "a\nb", Examples: own.Examples},
		"examples: []\ngreeting: x": {Agent: own.Agent, Text: "x"},
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		cfg, _, err := source.Load()
		g := cfg.Greeting
		if err != nil || g.Agent != want.Agent || g.Text != want.Text || !slices.Equal(g.Examples, want.Examples) {
			t.Errorf("%q: %+v, %v, want %+v", text, g, err, want)
		}
	}
}

// TestAGreetingThatDoesNotFitIsRefused, with its line and what to do. Commands that run no agent go on.
func TestAGreetingThatDoesNotFitIsRefused(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	file := filepath.Join(t.TempDir(), "greeting.yaml")
	t.Setenv("GATEHOUSE_GREETING_FILE", file)
	for text, fault := range map[string]string{
		"": "greeting.yaml:1: the file is empty; write the greeting into it",
		"name: Bo": `:1:1: unknown key "name" in the file; ` +
			`use one of greeting, examples, agent_name`,
		"exampels: [a]": `unknown key "exampels" in the file; did you mean examples?`,
		"greeting: {a: b}": "greeting is a mapping, not a text; " +
			"write a text, such as Ask me about orders",
		"greeting: ''": "greeting is empty",
		"examples: a": `examples is "a", not a list; ` +
			`write it as a list, such as [Where is order 1001?]`,
		"examples: ['']":                         "an example is empty",
		"examples: [a, b, c, d, e, f, g]":        "there are 7 examples; keep the best 6",
		"examples: [\"a\\nb\"]":                  "an example has a line break; write it on one line",
		"agent_name: \"a\\u202eb\"":              "agent_name has a character that can't be seen; remove it",
		"agent_name: " + strings.Repeat("é", 41): "agent_name has 41 characters, and may have 40; say it shorter",
		"greeting: " + strings.Repeat("x", 601):  "greeting has 601 characters, and may have 600",
		"greeting: a\n---\ngreeting: b":          "the file has several documents",
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		_, _, err := source.Load()
		if err == nil || !strings.Contains(err.Error(), "GATEHOUSE_GREETING_FILE: the greeting is invalid:") ||
			!strings.Contains(err.Error(), fault) {
			t.Errorf("%q: %v, want %q", text, err, fault)
		}
		if _, _, err := source.LoadForCommands(); err != nil {
			t.Errorf("%q: a command fails: %v", text, err)
		}
	}
}
