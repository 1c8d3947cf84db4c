package hrf_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"pgregory.net/rapid"

	"gatehouse/core/hrf"
)

// compiled compiles a schema, after checking it against its own meta-schema.
func compiled(t testing.TB, name string, text []byte) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource(name, doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// agree fails if Parse and the schema differ on a text, apart from what the schema can't say.
func agree(t rapid.TB, schema *jsonschema.Schema, text []byte, report *hrf.Report) {
	t.Helper()
	if slices.ContainsFunc(report.Errors, func(f hrf.Finding) bool { return strings.HasPrefix(f.Rule, "text.") }) {
		return // no document, or a repeated key
	}
	structural := slices.ContainsFunc(report.Errors, func(f hrf.Finding) bool { return f.Rule != "expression.syntax" })
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	if err := schema.Validate(doc); (err != nil) != structural {
		t.Fatalf("%s\nParse says %+v\nthe schema %v", text, report.Errors, err)
	}
}

// TestSchemaAgreesWithParse compares the verdicts on thousands of generated envelopes, of both kinds.
func TestSchemaAgreesWithParse(t *testing.T) {
	schema := compiled(t, "envelope", hrf.Schema)
	verdicts := map[bool]int{}
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			text, err := json.Marshal(envelopes(t))
			if err != nil {
				t.Fatal(err)
			}
			_, report := hrf.Parse(text, hrf.Strict)
			verdicts[report.Valid()]++
			agree(t, schema, text, report)
		}
	})
	t.Logf("%d valid, %d invalid", verdicts[true], verdicts[false])
	if !t.Failed() && (verdicts[true] < 100 || verdicts[false] < 100) {
		t.Error("there are too few of one kind")
	}
}

// TestScriptSchemaStandsAlone compiles the schema of scripts by itself.
func TestScriptSchemaStandsAlone(t *testing.T) {
	schema := compiled(t, "script", hrf.ScriptSchema())
	for text, valid := range map[string]bool{
		`{"steps":[{"type":"halt"}]}`: true, `{"steps":[]}`: false, `{"steps":[{"type":"halt","x":1}]}`: false,
	} {
		doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(doc); (err == nil) != valid {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// odd are values that are wrong in most places.
var odd = []any{
	nil, true, 1.5, "", " ", "\u0085\u2003", ".", "x", []any{}, []any{"x"}, map[string]any{}, map[string]any{"x": 1},
}

// pick draws one of good, or, seldom, something odd.
func pick(t *rapid.T, label string, good ...any) any {
	if rapid.IntRange(0, 99).Draw(t, label+" odd") == 0 {
		return rapid.SampledFrom(odd).Draw(t, label)
	}
	return rapid.SampledFrom(good).Draw(t, label)
}

// spoil seldom takes a member away or adds one.
func spoil(t *rapid.T, o map[string]any) map[string]any {
	switch rapid.IntRange(0, 99).Draw(t, "spoil") {
	case 0:
		keys := slices.Sorted(func(yield func(string) bool) {
			for k := range o {
				if !yield(k) {
					return
				}
			}
		})
		delete(o, rapid.SampledFrom(keys).Draw(t, "missing"))
	case 1:
		o[rapid.SampledFrom([]string{"x", "Role", "saveAs", "content_type", "hrfVersion", "type", "content"}).Draw(t,
			"added")] = rapid.SampledFrom(odd).Draw(t, "odd")
	}
	return o
}

func envelopes(t *rapid.T) any {
	messages := make([]any, rapid.IntRange(1, 2).Draw(t, "messages"))
	for i := range messages {
		messages[i] = pick(t, "message", messagesOf(t))
	}
	return pick(t,
		"envelope",
		spoil(t, map[string]any{"HRFVersion": pick(t, "version", "1.0", "x"), "messages": pick(t, "list", messages)}))
}

func messagesOf(t *rapid.T) any {
	m := map[string]any{"role": pick(t, "role", "system", "user", "assistant", "functions.f", "functions. \n x")}
	switch rapid.IntRange(0, 2).Draw(t, "content") {
	case 0:
		m["content"] = pick(t, "text", "hello", "")
	case 1:
		m["contentType"] = pick(t, "type", "json")
		m["content"] = rapid.SampledFrom(odd).Draw(t, "json")
	default:
		m["contentType"] = pick(t, "type", "harmony-script")
		m["content"] = pick(t,
			"script",
			spoil(t,
				map[string]any{
					"vars": pick(t, "vars", map[string]any{"v": odd}), "steps": pick(t, "steps", stepsOf(t, 2)),
				}))
	}
	if m["role"] == "assistant" || rapid.Bool().Draw(t, "channel") {
		m["channel"] = pick(t, "channel", "analysis", "commentary", "final")
	}
	if m["role"] == "assistant" {
		m["termination"] = pick(t, "termination", "end", "return", "call", nil)
	}
	if rapid.Bool().Draw(t, "recipient") {
		m["recipient"] = pick(t, "recipient", "a.b", "anything", nil)
	}
	return spoil(t, m)
}

func stepsOf(t *rapid.T, depth int) []any {
	steps := make([]any, rapid.IntRange(1, 2).Draw(t, "steps"))
	for i := range steps {
		steps[i] = pick(t, "step", stepOf(t, depth))
	}
	return steps
}

func stepOf(t *rapid.T, depth int) any {
	kind := pick(t, "kind", "extract-input", "tool-call", "if", "assistant-message", "halt")
	s := map[string]any{"type": kind}
	switch {
	case kind == "extract-input":
		s["output"] = pick(t,
			"output",
			map[string]any{rapid.SampledFrom([]string{"a", "b", "c", "d", "e", "f", "", "\u2003"}).Draw(t,
				"name"): pick(t, "expression", "$input.x", "$vars.", "hello")})
	case kind == "tool-call":
		s["recipient"] = pick(t, "recipient", "a.b", "A_-9.z", "a.b", "x.y", "a.b.c", "a.", ".b", "a b.c")
		s["channel"] = pick(t, "channel", "commentary")
		s["args"] = pick(t, "args", map[string]any{"k": odd}, map[string]any{"k": "$len("})
		s["save_as"] = pick(t, "save_as", "r")
	case kind == "if" && depth > 0:
		s["condition"] = pick(t, "condition", "$vars.v == 1", "5 > 3")
		s["then"] = pick(t, "then", stepsOf(t, depth-1))
		s["else"] = pick(t, "else", stepsOf(t, depth-1))
	case kind == "assistant-message":
		s["channel"] = pick(t, "channel", "analysis", "final")
		for _, text := range []string{"content", "content_template"} {
			if rapid.Bool().Draw(t, text) {
				s[text] = pick(t, text, "", " . ", ".\n", "\u00a0", "hello", "..")
			}
		}
	}
	return spoil(t, s)
}
