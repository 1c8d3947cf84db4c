package admin

import (
	"strings"

	"gatehouse/core"
)

const (
	maxCandidates = 10 // what the error about an ambiguous part of an id lists
	leastOfID     = 4  // characters of an id that name it
)

// named is something that has an id, with a few words about it.
type named struct{ id, about string }

// theOne returns the id that begins or ends with a part; "" if none does. A part that is ambiguous, or shorter than
// leastOfID, is an error of category invalid; of an ambiguous one it lists the candidates.
func theOne(noun, part string, all []named) (string, error) {
	var found []named
	for _, n := range all {
		if strings.HasPrefix(n.id, part) || strings.HasSuffix(n.id, part) {
			found = append(found, n)
		}
	}
	switch {
	case part == "" || len(found) == 0:
		return "", nil
	case len(found) == 1 && len(part) < leastOfID:
		return "", core.Errorf(core.Invalid, "%q is too short to name %s: give %d characters or more of its id.",
			part, withArticle(noun), leastOfID)
	case len(found) == 1:
		return found[0].id, nil
	}
	lines := []string{}
	for i, n := range found {
		if i == maxCandidates {
			lines = append(lines, "…")
			break
		}
		lines = append(lines, strings.TrimRight(n.id+"  "+n.about, " "))
	}
	return "", core.Errorf(core.Invalid, "%s begin or end with %q. Give more of the id:\n  %s",
		count(len(found), noun), part, strings.Join(lines, "\n  "))
}

func withArticle(noun string) string {
	if strings.Contains("aeiou", noun[:1]) {
		return "an " + noun
	}
	return "a " + noun
}
