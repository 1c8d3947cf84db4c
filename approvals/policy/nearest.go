package policy

import (
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// meant is the end of a remedy: the known word that is nearest to an unknown one, if one is near, and otherwise all of them.
func meant(name string, known []string) string {
	if len(known) == 0 {
		return "there is none yet"
	}
	const compared = 500
	near := known[:min(len(known), compared)]
	if best := slices.MinFunc(near, func(a, b string) int { return distance(name, a) - distance(name, b) }); distance(name, best) <= max(2, len(best)/2) {
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
