// Package wording has every sentence and label that gatehouse says on cards and forms and about presses, and nothing
// that says where they stand. Whoever runs gatehouse may replace each by its key, which is its field's name:
// HeadlineApproval is headline_approval.
//
// A name in braces is a place: what stands there is put in when the text is said.
package wording

import (
	"fmt"
	"iter"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// BuiltIn are the built-in texts.
var BuiltIn = New(nil)

// New returns the texts with those of replacements, by their keys, in place of the built-in ones.
func New(replacements map[string]string) *Texts {
	t := &Texts{}
	all := reflect.ValueOf(t).Elem()
	for i := range all.NumField() {
		field := all.Type().Field(i)
		text, replaced := replacements[keyOf(field)]
		if !replaced {
			text = field.Tag.Get("default")
		}
		all.Field(i).SetString(text)
	}
	return t
}

// Of is the text with a key; "" if there is none.
func (t *Texts) Of(key string) string {
	at, known := places[key]
	if !known {
		return ""
	}
	return reflect.ValueOf(t).Elem().Field(at).String()
}

// places are those of the texts, by their keys.
var places = func() map[string]int {
	all := map[string]int{}
	for key := range Fields(new(Texts)) {
		all[key] = len(all)
	}
	return all
}()

// Or returns t or, if it is nil, the built-in texts.
func (t *Texts) Or() *Texts {
	if t == nil {
		return BuiltIn
	}
	return t
}

// Fields are the texts in the struct that a pointer leads to, by their keys.
func Fields(texts any) iter.Seq2[string, *string] {
	all := reflect.ValueOf(texts).Elem()
	return func(yield func(string, *string) bool) {
		for i := range all.NumField() {
			if !yield(keyOf(all.Type().Field(i)), all.Field(i).Addr().Interface().(*string)) {
				return
			}
		}
	}
}

// keyOf writes NothingRuns as nothing_runs.
func keyOf(f reflect.StructField) string {
	key, small := make([]byte, 0, 2*len(f.Name)), false
	for _, c := range []byte(f.Name) {
		capital := 'A' <= c && c <= 'Z'
		if capital && small {
			key = append(key, '_')
		}
		small = 'a' <= c && c <= 'z'
		if capital {
			c += 'a' - 'A'
		}
		key = append(key, c)
	}
	return string(key)
}

// Place matches a place of a text.
var Place = regexp.MustCompile(`\{[a-z]+\}`)

// Fill puts values in the places of a text: each follows its place.
func Fill(text string, values ...string) string { return strings.NewReplacer(values...).Replace(text) }

// shortest is how many characters any replacement may have. Titles of forms have room for no more.
const shortest = 24

// Fault says what is wrong with a text in place of a built-in one, and what to do; "" = nothing. It needs the places of
// the built-in text and no others. Cards have limits, so it may be half as long again as the built-in one.
func Fault(builtIn, text string) (what, do string) {
	want, got := Place.FindAllString(builtIn, -1), Place.FindAllString(text, -1)
	for _, place := range want {
		if !slices.Contains(got, place) {
			return "has no " + place, "write it where that is to stand"
		}
	}
	for _, place := range got {
		if !slices.Contains(want, place) {
			return "must not have " + place, "leave it out: nothing is put in there"
		}
	}
	switch limit := max(shortest, utf8.RuneCountInString(builtIn)*3/2); {
	case strings.ContainsFunc(text, unicode.IsControl):
		return "has a line break or another control character", "write it on one line"
	case utf8.RuneCountInString(text) > limit:
		return fmt.Sprintf("is too long for a card: it has more than %d characters", limit), "say it shorter"
	}
	return "", ""
}
