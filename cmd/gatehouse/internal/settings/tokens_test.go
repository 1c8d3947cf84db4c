package settings

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
)

// TestTokens: they are read, and their approvers join those of GATEHOUSE_APPROVERS; a rule of a policy keeps its own.
func TestTokens(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	dir := t.TempDir()
	file, rules := filepath.Join(dir, "tokens"), filepath.Join(dir, "policy.yaml")
	for path, text := range map[string]string{
		file: "ann=hunter2hunter2ann, bob!=hunter2hunter2bob,\ncarl!=hunter2hunter2carl\n",
		rules: "version: 1\nrules:\n  - {name: it, tools: [it], action: ask, approvers: [openharness:ann, " +
			"openharness:dora]}\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GATEHOUSE_TOKENS_FILE", file)
	t.Setenv("GATEHOUSE_APPROVERS", "slack:U1,openharness:bob,openharness:eve,openharness:local")
	t.Setenv("GATEHOUSE_APPROVAL_POLICY", rules)
	cfg, all, err := source.Load()
	if err != nil {
		t.Fatal(err)
	}
	if got := cfg.Policy.Defaults().Approvers; !slices.Equal(got,
		[]string{"slack:U1", "openharness:bob", "openharness:eve", "openharness:local", "openharness:carl"}) {
		t.Errorf("the approvers are %q", got)
	}
	if r := cfg.Policy.Rule(core.Turn{}, core.Call{Tool: "it"}); !slices.Equal(r.Approvers,
		[]string{"openharness:ann", "openharness:dora"}) {
		t.Errorf("the rule's approvers are %q", r.Approvers)
	}
	if got := cfg.WithoutToken(); len(got) != 3 || !strings.HasPrefix(got[0], "openharness:dora is") ||
		!strings.HasPrefix(got[1], "openharness:eve is") || !strings.HasPrefix(got[2], "openharness:local is") {
		t.Errorf("the warnings are %q", got)
	}
	for _, s := range all {
		if strings.Contains(s.Value, "hunter2") ||
			s.Key == "GATEHOUSE_TOKENS" && (s.Value != hidden || s.Source != "file "+file) {
			t.Errorf("%s is shown as %s, from %s", s.Key, s.Value, s.Source)
		}
	}
	t.Setenv("GATEHOUSE_TOKENS_FILE", "")
	cfg, _, err = source.Load()
	if err != nil || len(cfg.Tokens) != 0 || len(cfg.WithoutToken()) != 4 {
		t.Errorf("without tokens: %v, %q, %v", cfg.Tokens, cfg.WithoutToken(), err)
	}
}

func TestInvalidTokens(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	t.Setenv("GATEHOUSE_TOKENS", "ann!=hunter2,hunter2hunter2hunter2")
	cfg, _, err := source.Load()
	want := "GATEHOUSE_TOKENS: the tokens are invalid:\n    entry 1 (ann): the token is too short; use 16 characters " +
		"or more, such as those that openssl rand -hex 16 prints\n    entry 2: it is not of the form name=token\n" +
		"Read more: " +
		"gatehouse help adapters/web"
	if got := core.MessageOf(err); !strings.HasSuffix(got, want) || strings.Contains(got, "hunter2") {
		t.Errorf("got %s", got)
	}
	if got := cfg.WithoutToken(); len(got) != 0 {
		t.Errorf("an invalid configuration warns: %q", got)
	}
}

// TestQuotesThatDockerKeptAreNamed: for each setting.
func TestQuotesThatDockerKeptAreNamed(t *testing.T) {
	t.Setenv("GATEHOUSE_APPROVERS", `"slack:U123"`)
	t.Setenv("GATEHOUSE_URL", `'https://chat.example.com/bot'`)
	t.Setenv("GATEHOUSE_LEASE", `"5s"`)
	_, _, faults := source.Read()
	for _, key := range []string{"GATEHOUSE_APPROVERS", "GATEHOUSE_URL", "GATEHOUSE_LEASE"} {
		want := key + ": its value begins and ends with a quote, which docker run --env-file keeps; " +
			"write it without quotes"
		if !slices.Contains(faults, want) {
			t.Errorf("%s is not among %q", want, faults)
		}
	}
}
