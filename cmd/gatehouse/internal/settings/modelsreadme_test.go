package settings

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"gatehouse/adapters/anthropic"
	"gatehouse/adapters/openai"
	"gatehouse/core/llm"
)

// TestTheModelsOfTheReadmeAreTaken: each block of the page about models is a whole configuration, and the keys that it
// explains exist.
func TestTheModelsOfTheReadmeAreTaken(t *testing.T) {
	data, err := os.ReadFile("../../../../core/agent/README.md")
	if err != nil {
		t.Fatal(err)
	}
	page, _, _ := strings.Cut(string(data), "\n## The system prompt\n")
	blocks := regexp.MustCompile(
		`(?m)^    GATEHOUSE_MODEL=(\S+)\n    (OPENAI|ANTHROPIC)_API_KEY=(\S+)$`).FindAllStringSubmatch(page, -1)
	if len(blocks) != 2 {
		t.Errorf("there are %d blocks of the environment", len(blocks))
	}
	for _, b := range blocks {
		m, o, a := Model{Names: b[1], Silence: 1e12, Calls: 1}, new(openai.Config), new(anthropic.Config)
		if b[2] == "OPENAI" {
			o.APIKey = "sk-1234567890"
		} else {
			a.APIKey = "sk-1234567890"
		}
		if faults := m.validate([]llm.Vendor{o, a}); len(faults) > 0 || len(m.Chosen) != 1 || m.Chosen[0].Key == "" {
			t.Errorf("%s: %q", b[0], faults)
		}
	}

	_, rest, _ := strings.Cut(page, "```yaml\n")
	file, _, _ := strings.Cut(rest, "```")
	var names []string
	for _, name := range regexp.MustCompile(`\{name: (\w+)`).FindAllStringSubmatch(file, -1) {
		names = append(names, name[1])
	}
	for _, key := range regexp.MustCompile(`key_env: (\w+)`).FindAllStringSubmatch(file, -1) {
		t.Setenv(key[1], "sk-1234567890")
	}
	m, faults := chosen(t, strings.Join(names, ","), file)
	if len(faults) > 0 || len(m.Chosen) != 5 {
		t.Fatalf("%q, %d models", faults, len(m.Chosen))
	}
	for _, one := range m.Chosen {
		if hosted := strings.HasPrefix(one.BaseURL, "https://"); hosted != (one.Key != "") || !one.Stream {
			t.Errorf("%s at %s has the key %q", one.Name, one.BaseURL, one.Key)
		}
	}

	explained := map[string]bool{"name": true, "vendor": true, "model": true, "base_url": true}
	for _, row := range regexp.MustCompile("(?m)^\\| (`.*?) \\|").FindAllStringSubmatch(page, -1) {
		for _, key := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(row[1], -1) {
			explained[key[1]] = true
		}
	}
	for _, key := range modelKeys {
		if !explained[key] && key != "price" { // which nothing reads yet
			t.Errorf("%s is not explained", key)
		}
		delete(explained, key)
	}
	if len(explained) > 0 {
		t.Errorf("there are no keys %v", explained)
	}
}
