package slack_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	slackgo "github.com/slack-go/slack"

	"gatehouse/adapters/slack"
	"gatehouse/core"
)

// manifests are the options of all manifests.
var manifests = map[string]slack.ManifestOptions{
	"socket":           {},
	"socket assistant": {Assistant: true},
	"http":             {URL: "https://gate.example/bot/"},
	"http assistant":   {URL: "https://gate.example", Assistant: true},
}

func manifestOf(t *testing.T, o slack.ManifestOptions) []byte {
	t.Helper()
	var text bytes.Buffer
	if err := o.Run(&text); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

func manifestSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("testdata/manifest.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("manifest.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("manifest.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestManifestMatchesSlacksSchema(t *testing.T) {
	s := manifestSchema(t)
	for name, o := range manifests {
		t.Run(name, func(t *testing.T) {
			doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(manifestOf(t, o)))
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Validate(doc); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestManifestMatchesTheLibrarysType decodes the manifest to the library's type, without unknown fields, and encodes it
// again: all values that are true or not empty are still there, and no others.
func TestManifestMatchesTheLibrarysType(t *testing.T) {
	for name, o := range manifests {
		t.Run(name, func(t *testing.T) {
			text := manifestOf(t, o)
			var m slackgo.Manifest
			dec := json.NewDecoder(bytes.NewReader(text))
			dec.DisallowUnknownFields()
			if err := dec.Decode(&m); err != nil {
				t.Fatal(err)
			}
			again, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(meant(t, text), meant(t, again)); diff != "" {
				t.Errorf("the library writes it otherwise (-ours +theirs):\n%s", diff)
			}
			if !m.Features.AppHome.MessagesTabEnabled || m.Features.AppHome.MessagesTabReadOnlyEnabled ||
				!m.Features.BotUser.AlwaysOnline ||
				m.Settings.OrgDeployEnabled || m.Settings.TokenRotationEnabled || !m.Settings.Interactivity.IsEnabled ||
				m.Settings.SocketModeEnabled != (o.URL == "") {
				t.Errorf("a switch stands wrongly: %s", text)
			}
		})
	}
}

// meant decodes JSON without the false and empty values, which the library does not write.
func meant(t *testing.T, text []byte) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	var prune func(any) any
	prune = func(v any) any {
		if list, ok := v.([]any); ok {
			for i := range list {
				list[i] = prune(list[i])
			}
		}
		object, ok := v.(map[string]any)
		if !ok {
			return v
		}
		for key, value := range object {
			switch value = prune(value); value := value.(type) {
			case bool:
				if !value {
					delete(object, key)
				}
			case map[string]any:
				if len(value) == 0 {
					delete(object, key)
				}
			}
		}
		return object
	}
	return prune(v)
}

func TestManifestAddresses(t *testing.T) {
	text := string(manifestOf(t, slack.ManifestOptions{URL: "https://gate.example/bot/"}))
	for _, path := range []string{"events", "interactions", "commands"} {
		if !strings.Contains(text, `"https://gate.example/bot/slack/`+path+`"`) {
			t.Errorf("%s has no address in\n%s", path, text)
		}
	}
	for _, wrong := range []string{
		"http://gate.example", "gate.example", "https://", "https://me:secret@gate.example",
		"https://gate.example/?a=b", "https://a.b/#c", "%",
	} {
		if err := (slack.ManifestOptions{URL: wrong}).Run(io.Discard); core.CategoryOf(err) != core.Invalid {
			t.Errorf("%q is taken: %v", wrong, err)
		}
	}
}

// TestManifestSchemaRefuses checks the schema itself: each of these is a mistake that Slack refuses.
func TestManifestSchemaRefuses(t *testing.T) {
	s := manifestSchema(t)
	drop := func(key, item string) func(map[string]any) {
		return func(m map[string]any) {
			path := strings.Split(key, ".")
			for _, step := range path[:len(path)-1] {
				m = m[step].(map[string]any)
			}
			last := path[len(path)-1]
			m[last] = slices.DeleteFunc(m[last].([]any), func(v any) bool { return v == item })
		}
	}
	set := func(key string, value any) func(map[string]any) {
		return func(m map[string]any) {
			path := strings.Split(key, ".")
			for _, step := range path[:len(path)-1] {
				m = m[step].(map[string]any)
			}
			m[path[len(path)-1]] = value
		}
	}
	for name, spoil := range map[string]func(map[string]any){
		"long name":             set("display_information.name", strings.Repeat("g", 36)),
		"long description":      set("display_information.description", strings.Repeat("g", 141)),
		"unknown field":         set("settings.sockets", true),
		"no bot":                set("features", map[string]any{}),
		"address in socket":     set("settings.event_subscriptions.request_url", "https://gate.example"),
		"no address in http":    set("settings.socket_mode_enabled", false),
		"view without scope":    drop("oauth_config.scopes.bot", "assistant:write"),
		"view without event":    drop("settings.event_subscriptions.bot_events", "assistant_thread_started"),
		"mention without scope": drop("oauth_config.scopes.bot", "app_mentions:read"),
		"messages of channels":  drop("oauth_config.scopes.bot", "channels:history"),
		"messages of groups":    drop("oauth_config.scopes.bot", "groups:history"),
		"direct messages":       drop("oauth_config.scopes.bot", "im:history"),
		"group messages":        drop("oauth_config.scopes.bot", "mpim:history"),
		"command without scope": drop("oauth_config.scopes.bot", "commands"),
	} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(manifestOf(t, slack.ManifestOptions{Assistant: true})))
		if err != nil {
			t.Fatal(err)
		}
		spoil(doc.(map[string]any))
		if s.Validate(doc) == nil {
			t.Errorf("%s: the schema takes it", name)
		}
	}
}
