package adaptertest

import (
	"regexp"
	"slices"

	"gatehouse/adapters/wording"
)

// Marked are replacements of all texts of cards, by their keys: each has a mark in place of every letter, and its places.
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
