package doc_test

import (
	"testing"

	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// TestArgumentsAreNotMistakenForOthers: no two different calls have the same text, and no value looks like further
// arguments.
func TestArgumentsAreNotMistakenForOthers(t *testing.T) {
	for _, c := range []struct{ arguments, want string }{
		{`{}`, ""},
		{"{\n  \"text\": \"milk\"\n}", "text: milk"},
		{"{\n  \"n\": 5,\n  \"text\": \"5\"\n}", "n: 5\ntext: \"5\""},
		{"{\n  \"text\": \"true\",\n  \"yes\": true,\n  \"no\": null\n}", "text: \"true\"\nyes: true\nno: null"},
		{"{\n  \"text\": \"milk, amount: 5\"\n}", `text: "milk, amount: 5"`},
		{"{\n  \"text\": \"milk\\namount: 5\"\n}", `text: "milk\namount: 5"`},
		{"{\n  \"text\": \"milk          amount 5\"\n}", `text: "milk          amount 5"`},
		{"{\n  \"text\": \" milk \",\n  \"other\": \"\"\n}", "text: \" milk \"\nother: \"\""},
		{"{\n  \"a: b\": \"milk\"\n}", `"a: b": milk`},
		{"{\n  \"text\": \"a\\\"b\",\n  \"brace\": \"}\"\n}", "text: \"a\\\"b\"\nbrace: }"},
		{"{\n  \"text\": \"a\\u200bb\"\n}", `text: "a\u200bb"`},
		{"{\n  \"text\": \"\u2003milk\"\n}", "text: \"\u2003milk\""},
		{"{\n  \"to\": [\n    \"ann\"\n  ]\n}", "{\n  \"to\": [\n    \"ann\"\n  ]\n}"},
		{"{\n  \"text\": \"x amount:\u00a05\"\n}", "text: \"x amount:\u00a05\""},
		{"{\n  \"text\": \"x amount：5\"\n}", "text: \"x amount：5\""},
		{"{\n  \"to\": {}\n}", "{\n  \"to\": {}\n}"},
		{"[\n  1\n]", "[\n  1\n]"},
		{"no JSON: at all", "no JSON: at all"},
	} {
		if got := doc.Arguments(core.Card{Arguments: c.arguments}); got != c.want {
			t.Errorf("%s is shown as %q, want %q", c.arguments, got, c.want)
		}
	}
}
