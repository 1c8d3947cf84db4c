package expr_test

import (
	"reflect"
	"strings"
	"testing"

	"gatehouse/core/hrf/expr"
)

func TestTemplatesInsertValuesAsText(t *testing.T) {
	s := expr.Scope{
		Vars: object(
			`{"a": "A", "n": 3, "f": 1.50, "i": 2.0, "e": 1e3, "tiny": 1e-9, "huge": -1.25e40, "small": 0.00010, ` +
				`"zero": -0.0, "far": 10e99999999999999999999, "big": 123456789012345678901234567890,
			"t": true, "nil": null, "o": {"b": [1, "<&>"], "a": null}, "sly": "{{vars.a}}", "list": ["x", "y"]}`),
		Input: object(`{"text": "hi"}`),
	}
	for text, want := range map[string]string{
		"":                                  "",
		"plain":                             "plain",
		"Hi {{vars.a}}, {{ vars.n }} left":  "Hi A, 3 left",
		"{{input.text}}{{vars.a}}":          "hiA",
		"[{{vars.missing}}{{vars.nil}}]":    "[]",
		"{{vars.f}} {{vars.i}} {{vars.e}}":  "1.5 2 1000",
		"{{vars.tiny}} {{vars.huge}}":       "1e-9 -1.25e40",
		"{{vars.far}}":                      "10e99999999999999999999",
		"{{vars.small}} {{vars.zero}}":      "0.0001 0",
		"{{vars.big}}":                      "123456789012345678901234567890",
		"{{vars.t}}":                        "true",
		"{{vars.o}}":                        `{"a":null,"b":[1,"<&>"]}`,
		"{{vars.o.b[0]}} {{vars.list[1]}}":  "1 y",
		"{{vars.list.length}}":              "2",
		"{{vars.sly}}":                      "{{vars.a}}", // never read again
		"{{{vars.a}}}":                      "{A}",
		"{{ {{vars.a}} }}":                  "{{ A }}",
		"{{{{{{vars.a}}":                    "{{{{A",
		"{{places.length}} {{$vars.a}}":     "{{places.length}} {{$vars.a}}",
		"{{vars.a} }":                       "{{vars.a} }",
		"{{vars.a":                          "{{vars.a",
		"{{vars.}} {{vars.a b}} {{Vars.a}}": "{{vars.}} {{vars.a b}} {{Vars.a}}",
		"{{}} {} {{ }}":                     "{{}} {} {{ }}",
	} {
		if got, ok := expr.CompileTemplate(text).Render(s, 1000); !ok || got != want {
			t.Errorf("%s renders %s, want %s", text, got, want)
		}
	}
}

func TestWhatATemplateMentions(t *testing.T) {
	got := expr.CompileTemplate("é {{vars.a.b}} {{ input.c }} {{places.length}} {{ $vars.x }}")
	if want := []expr.Ref{
		{Root: "vars", Name: "a", Column: 6}, {Root: "input", Name: "c", Column: 20},
	}; !reflect.DeepEqual(got.Refs(), want) {
		t.Errorf("refs %v", got.Refs())
	}
	if want := []string{"places.length", "$vars.x"}; !reflect.DeepEqual(got.Unknown(), want) {
		t.Errorf("unknown %q", got.Unknown())
	}
}

func TestATextOverTheLimitIsNotRendered(t *testing.T) {
	s := expr.Scope{Vars: map[string]any{"a": strings.Repeat("x", 100)}}
	template := expr.CompileTemplate(strings.Repeat("{{vars.a}}", 100_000))
	if text, ok := template.Render(s, 9_999); ok || text != "" {
		t.Errorf("rendered %d bytes", len(text))
	}
	if text, ok := expr.CompileTemplate("{{vars.a}}").Render(s, 100); !ok || len(text) != 100 {
		t.Errorf("rendered %d bytes", len(text))
	}
}

func TestBracesWithoutEndTakeLinearTime(t *testing.T) {
	for _, text := range []string{"{", "{{a", "{{vars.a}", "{{}", "{{ {{ }} "} {
		long := strings.Repeat(text, 1<<17)
		if got, ok := expr.CompileTemplate(long).Render(expr.Scope{}, len(long)); !ok || got != long {
			t.Errorf("%q repeated renders something else", text)
		}
	}
}
