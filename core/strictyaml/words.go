package strictyaml

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agnivade/levenshtein"
)

// Meant is the remedy for an unknown word: the known one that is nearest to it, if one is near, or else the known ones.
func Meant(word string, known []string) string {
	if len(known) == 0 {
		return "there is none yet"
	}
	const compared = 500
	best := slices.MinFunc(known[:min(len(known), compared)], func(a, b string) int {
		return distance(word, a) - distance(word, b)
	})
	if distance(word, best) <= max(2, len(best)/2) {
		return "did you mean " + best + "?"
	}
	const most = 20
	if len(known) > most {
		known = append(slices.Clone(known[:most]), "…")
	}
	return "use one of " + strings.Join(known, ", ")
}

// distance is the edit distance between two words, of which only the first bytes count.
func distance(a, b string) int {
	const most = 100
	return levenshtein.ComputeDistance(strings.ToLower(a[:min(len(a), most)]), strings.ToLower(b[:min(len(b), most)]))
}

// Quoted shows a word of a file, of a long one its beginning.
func Quoted(word string) string {
	const most = 80
	if runes := []rune(word); len(runes) > most {
		word = string(runes[:most]) + "…"
	}
	return strconv.Quote(word)
}
