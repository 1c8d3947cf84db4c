package doc_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
	"gatehouse/core/mask"
)

func TestTheFormForArgumentsIsFilledWithAllOfThemOrNotOffered(t *testing.T) {
	for name, c := range map[string]struct {
		arguments string
		change    func(*core.Card)
		want      bool
	}{
		"an object":           {arguments: "{\n  \"text\": \"buy milk\"\n}", want: true},
		"empty":               {arguments: "{}", want: true},
		"escaped":             {arguments: mask.Escape("{\n  \"text\": \"a\u202eb \\\\\u200b\"\n}"), want: true},
		"not escaped":         {arguments: "{\n  \"text\": \"a\u202eb\"\n}"},
		"as long as it may":   {arguments: `{"text": "` + strings.Repeat("x", 88) + `"}`, want: true},
		"too long":            {arguments: `{"text": "` + strings.Repeat("x", 89) + `"}`},
		"too long, in units":  {arguments: `{"text": "` + strings.Repeat("😀", 45) + `"}`},
		"no object":           {arguments: "[1]"},
		"no JSON":             {arguments: "{text}"},
		"nothing":             {},
		"not to be changed":   {arguments: "{}", change: func(c *core.Card) { c.Editable = false }},
		"of a decided call":   {arguments: "{}", change: func(c *core.Card) { c.State = core.Approved }},
		"with a key unquoted": {arguments: "text: buy milk"},
	} {
		card := core.Card{Approval: "a1", State: core.Open, Editable: true, Arguments: c.arguments}
		if c.change != nil {
			c.change(&card)
		}
		if text, ok := doc.EditText(card, 100); ok != c.want || ok && text != c.arguments {
			t.Errorf("%s: %q, %v", name, text, ok)
		}
	}
}
