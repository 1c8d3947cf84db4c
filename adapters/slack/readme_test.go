package slack_test

import (
	"os"
	"reflect"
	"strings"
	"testing"

	"gatehouse/adapters/slack"
	"gatehouse/adapters/slack/internal/doctor"
)

// TestReadmeListsScopesAndSettings compares README.md with the table of scopes and with the settings.
func TestReadmeListsScopesAndSettings(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	for _, s := range doctor.Scopes {
		if line := "| `" + s.Name + "` | " + s.For + " |\n"; !strings.Contains(readme, line) {
			t.Errorf("README has no line %q", line)
		}
	}
	for field := range reflect.TypeFor[slack.Config]().Fields() {
		if key := field.Tag.Get("envconfig"); !strings.Contains(readme, "| `"+key+"` |") {
			t.Errorf("README's table of settings has no %s", key)
		}
	}
}
