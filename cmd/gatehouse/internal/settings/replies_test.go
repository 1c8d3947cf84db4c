package settings

import (
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// TestEveryKeyOfRepliesStays: a file that replaces every sentence that could be replaced before still does.
func TestEveryKeyOfRepliesStays(t *testing.T) {
	const file = "testdata/replies.yaml"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	if err := yaml.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	said, err := loadReplies(file)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range said.sentences() {
		got[s.key] = *s.to
	}
	for category, text := range said.Errors {
		got[string(category)] = text
	}
	for key, text := range want {
		if !strings.HasPrefix(got[key], "◆ ") || got[key] != text {
			t.Errorf("%s: %q, want %q", key, got[key], text)
		}
	}
}
