package settings

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/adapters/anthropic"
	"gatehouse/adapters/openai"
	"gatehouse/core/llm"
)

const someModels = `models:
  - {name: fast, vendor: anthropic, model: claude-sonnet-5-5, key_env: SOME_KEY, max_tokens: 1000, context: 5000}
  - name: azure
    vendor: openai
    model: my-deployment
    api: responses
    base_url: https://me.openai.azure.com/openai/v1
    key_file: key.txt
    headers: {X-Team: support}
    stream: false
    text_only: true
    extras: {service_tier: flex, reasoning: {effort: low}}
    price: {in: 1.25, cached: 0.125, out: 10}
`

// chosen are the models that a file and a list of names make, or the faults.
func chosen(t *testing.T, names, file string) (Model, []string) {
	t.Helper()
	t.Chdir(t.TempDir())
	t.Setenv("SOME_KEY", "sk-some")
	for name, text := range map[string]string{"models.yaml": file, "key.txt": "sk-file\n"} {
		if err := os.WriteFile(filepath.Clean(name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m := Model{Names: names, File: "models.yaml", Silence: 1e12, Calls: 1}
	return m,
		m.validate(
			[]llm.Vendor{&openai.Config{BaseURL: "https://api.openai.com/v1"}, &anthropic.Config{APIKey: "sk-env"}})
}

// TestAFileOfModels: two models of different vendors, in the order of their names, and one of the environment's key.
func TestAFileOfModels(t *testing.T) {
	m, faults := chosen(t, "azure, fast, anthropic:claude-opus-5-5", someModels)
	if len(faults) > 0 || len(m.Chosen) != 3 {
		t.Fatalf("%q, %+v", faults, m.Chosen)
	}
	azure, fast, env := m.Chosen[0], m.Chosen[1], m.Chosen[2]
	if azure.Vendor != "openai" || azure.Model != "my-deployment" || azure.API != openai.Responses ||
		azure.Key != "sk-file" || azure.Stream || !azure.TextOnly ||
		azure.Headers["X-Team"] != "support" || string(azure.Extras["reasoning"]) != `{"effort":"low"}` ||
		azure.Price != (Price{1.25, 0.125, 10}) ||
		azure.At.Own().BaseURL != "https://me.openai.azure.com/openai/v1" {
		t.Errorf("azure is %+v", azure)
	}
	if fast.Vendor != "anthropic" || fast.Key != "sk-some" || !fast.Stream || fast.MaxTokens != 1000 ||
		fast.String() != "fast" || fast.At.Own().Key != "sk-some" {
		t.Errorf("fast is %+v", fast)
	}
	if env.Vendor != "anthropic" || env.Model != "claude-opus-5-5" || env.Key != "sk-env" || !env.Stream {
		t.Errorf("the environment's is %+v", env)
	}
	if m.Context != 5000 || !m.TextOnly {
		t.Errorf("what all are shown is not limited by what one can take: %d, %t", m.Context, m.TextOnly)
	}
}

// TestFaultsOfAFileOfModels: each is told with its line.
func TestFaultsOfAFileOfModels(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"no models":         {"{}\n", "models.yaml:1"},
		"an unknown key":    {"models:\n  - {name: a, vendor: openai, model: m, modell: m}\n", `models.yaml:2`},
		"no vendor":         {"models:\n  - {name: a, model: m}\n", "the model has no vendor"},
		"an unknown vendor": {"models:\n  - name: a\n    vendor: opanai\n    model: m\n", "models.yaml:3"},
		"an unknown api": {
			"models:\n  - name: a\n    vendor: openai\n    model: m\n    api: both\n", "models.yaml:5",
		},
		"the same name twice": {"models:\n  - {name: a, vendor: openai, model: m}\n  - {name: a, vendor: openai, " +
			"model: n}\n", "models.yaml:3"},
		"a variable not set": {
			"models:\n  - name: a\n    vendor: openai\n    model: m\n    key_env: NO_SUCH_KEY\n", "models.yaml:5",
		},
		"a key file missing": {
			"models:\n  - name: a\n    vendor: openai\n    model: m\n    key_file: no.txt\n", "models.yaml:5",
		},
		"two keys": {"models:\n  - {name: a, vendor: openai, model: m, key_env: SOME_KEY, key_file: " +
			"key.txt}\n", "both key_env and key_file"},
		"a negative limit": {
			"models:\n  - name: a\n    vendor: openai\n    model: m\n    max_tokens: -1\n", "models.yaml:5",
		},
		"half a token": {
			"models:\n  - name: a\n    vendor: openai\n    model: m\n    context: 1.5\n", "models.yaml:5",
		},
		"an unknown price": {
			"models:\n  - name: a\n    vendor: openai\n    model: m\n    price: {inn: 1}\n", "models.yaml:5",
		},
		"a stream as an extra": {
			"models:\n  - name: a\n    vendor: openai\n    model: m\n    extras: {stream: true}\n", "models.yaml:5",
		},
		"options of a stream": {"models:\n  - name: a\n    vendor: openai\n    model: m\n    extras: " +
			"{stream_options: {include_usage: false}}\n", "the extras have stream_options"},
		"stream is no word": {
			"models:\n  - name: a\n    vendor: openai\n    model: m\n    stream: sometimes\n", "models.yaml:5",
		},
		"no key at OpenAI": {
			"models:\n  - {name: a, vendor: openai, model: m}\n",
			"GATEHOUSE_MODELS: the api_key of the model a: it is missing",
		},
		"a bad address": {
			"models:\n  - {name: a, vendor: openai, model: m, base_url: here}\n",
			"GATEHOUSE_MODELS: the base_url of the model a: it is not an address",
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, faults := chosen(t, "a", c.file)
			if text := strings.Join(faults, "\n"); !strings.Contains(text, c.want) ||
				!strings.Contains(text, "GATEHOUSE_MODELS: ") || strings.Contains(text, "sk-") {
				t.Errorf("the faults are %q, want %q", text, c.want)
			}
		})
	}
}

// TestAModelThatNeedsAKeyIsRefusedWithoutOne: at the vendor's own address; a server elsewhere may need none.
func TestAModelThatNeedsAKeyIsRefusedWithoutOne(t *testing.T) {
	for _, c := range []struct{ model, at, want string }{
		{"openai:gpt-6-sol", "https://api.openai.com/v1", "OPENAI_API_KEY: it is missing"},
		{"openai:gpt-6-sol", "https://api.openai.com/v1/", "OPENAI_API_KEY: it is missing"},
		{"openai:llama3.2", "http://127.0.0.1:11434/v1", ""},
		{"anthropic:claude-sonnet-5-5", "https://api.openai.com/v1", "ANTHROPIC_API_KEY: it is missing"},
	} {
		m := Model{Names: c.model, Silence: 1e12, Calls: 1}
		if faults := strings.Join(m.validate([]llm.Vendor{&openai.Config{BaseURL: c.at}, &anthropic.Config{}}),
			"\n"); faults != c.want {
			t.Errorf("%s at %s: %q, want %q", c.model, c.at, faults, c.want)
		}
	}
}
