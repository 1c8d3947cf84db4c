package adaptertest

import (
	"encoding/json"
	"html"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/question"
)

// Marked are replacements of all texts of cards, by their keys: each has a mark in place of every letter, and its
// places.
func Marked() map[string]string {
	all := map[string]string{}
	for key, text := range wording.Fields(wording.New(nil)) {
		all[key] = letterOrPlace.ReplaceAllStringFunc(*text, func(s string) string {
			if len(s) > 1 {
				return s
			}
			return "ω"
		})
	}
	return all
}

var letterOrPlace = regexp.MustCompile(wording.Place.String() + `|[A-Za-z]`)

// Longest are replacements of all texts of cards, by their keys, as long as they may be.
func Longest() map[string]string {
	all := map[string]string{}
	for key, text := range wording.Fields(wording.New(nil)) {
		longer := *text
		for what := ""; what == ""; what, _ = wording.Fault(*text, longer+"x") {
			longer += "x"
		}
		all[key] = longer
	}
	return all
}

// Unmarked are the words of a text that no replacement has, but for some that are known.
func Unmarked(text string, known ...string) (words []string) {
	for _, word := range latinWord.FindAllString(text, -1) {
		if !slices.Contains(known, word) {
			words = append(words, word)
		}
	}
	return words
}

var latinWord = regexp.MustCompile(`[A-Za-z]{2,}`)

// Forms are cards whose forms, together, have every text of forms: of a call, and of a question. They have no Latin
// letters of their own.
func Forms() (call, asks core.Card) {
	field := func(kind question.Kind, low, high json.Number) question.Field {
		return question.Field{Kind: kind, MaxLength: 500, Minimum: low, Maximum: high}
	}
	pick := field(question.Pick, "", "")
	for range question.MaxButtons + 1 {
		pick.Choices = append(pick.Choices, question.Choice{Title: "选"})
	}
	call = core.Card{
		Approval: "1", State: core.Open, Tool: "工具", Summary: "付款", Risk: core.Dangerous, Hidden: 2, Editable: true,
		Arguments: `{"数": 20}`,
	}
	asks = call
	asks.Question = &question.Question{Text: "几？", Form: true, Fields: []question.Field{
		field(question.Text, "", ""), field(question.Number, "", ""), field(question.Integer, "", ""),
		field(question.Number, "1", ""), field(question.Number, "", "1"), field(question.Number, "1", "2"), pick,
	}}
	return call, asks
}

// TextsIn are the texts that people read in a message or a form of a chat platform, those of its buttons and menus
// among them.
func TextsIn(t testing.TB, drawn any) string {
	t.Helper()
	data, err := json.Marshal(drawn)
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, found := range textMember.FindAllStringSubmatch(string(data), -1) {
		var text string
		if err := json.Unmarshal([]byte(found[1]), &text); err != nil {
			t.Fatal(err)
		}
		all = append(all, html.UnescapeString(text))
	}
	return strings.Join(all, "\n")
}

var textMember = regexp.MustCompile(
	`"(?:text|Text|title|content|label|description|placeholder|fallback|accessibility_label)":("(?:[^"\\\\]|\\\\.)*")`)
