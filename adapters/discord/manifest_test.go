package discord

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/discord/internal/doctor"
	"gatehouse/core"
)

func TestManifest(t *testing.T) {
	for name, o := range map[string]ManifestOptions{
		"manifest":      {},
		"manifest-http": {Application: "900000000000000001", URL: "https://bot.example/", Reply: replyChannel},
	} {
		var text bytes.Buffer
		if err := o.Run(&text); err != nil || !json.Valid(text.Bytes()) {
			t.Fatal(err)
		}
		adaptertest.GoldenText(t, name+".json", text.Bytes())
	}
	for _, o := range []ManifestOptions{
		{Application: "abc"}, {URL: "http://bot.example"}, {URL: "https://bot.example/?x"}, {URL: "bot.example"},
	} {
		if err := o.Run(io.Discard); core.CategoryOf(err) != core.Invalid || core.MessageOf(err) == "" {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// README lists all permissions and settings.
func TestReadmeNamesPermissionsAndSettings(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(text)
	for _, p := range doctor.Permissions {
		if line := "| " + p.Name + " | " + p.For + " |\n"; !strings.Contains(readme, line) {
			t.Errorf("README has no line %q", line)
		}
	}
	for field := range reflect.TypeFor[Config]().Fields() {
		if key := field.Tag.Get("envconfig"); !strings.Contains(readme, "| `"+key+"` |") {
			t.Errorf("README's table of settings has no %s", key)
		}
	}
}
