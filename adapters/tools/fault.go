package tools

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"

	"gatehouse/core"
)

// Fault is one thing that is wrong with the file of tools.
type Fault struct {
	File string
	Line int    // 0: the file as a whole
	What string // what is wrong
	Do   string // the remedy
}

// String is FILE:LINE: what is wrong; what to do.
func (f Fault) String() string {
	if f.Line == 0 {
		return fmt.Sprintf("%s: %s; %s", f.File, f.What, f.Do)
	}
	return fmt.Sprintf("%s:%d: %s; %s", f.File, f.Line, f.What, f.Do)
}

// Faults are all faults of one file, in the order of its lines. As an error their category is invalid.
type Faults []Fault

// Error is one line for each fault.
func (f Faults) Error() string {
	lines := make([]string, len(f))
	for i, fault := range f {
		lines[i] = fault.String()
	}
	return strings.Join(lines, "\n")
}

// ErrorCategory makes Faults a core.Categorized error.
func (f Faults) ErrorCategory() core.Category { return core.Invalid }

// sorted orders faults by line and text, and drops repeated ones.
func (f Faults) sorted() Faults {
	slices.SortFunc(f, func(a, b Fault) int { return cmp.Or(a.Line-b.Line, strings.Compare(a.What, b.What)) })
	return slices.Compact(f)
}

// meant is the remedy for an unknown word: the known one that is near, or else all of them.
func meant(word string, known []string) string {
	word = clip(strings.ToLower(word), 100)
	best := slices.MinFunc(known, func(a, b string) int {
		return levenshtein.ComputeDistance(word, a) - levenshtein.ComputeDistance(word, b)
	})
	if levenshtein.ComputeDistance(word, best) <= max(2, len(best)/2) {
		return "did you mean " + best + "?"
	}
	return "use one of " + strings.Join(known, ", ")
}

// quoted shows a word of the file.
func quoted(s string) string {
	if short := clip(s, 80); short != s {
		s = short + "…"
	}
	return fmt.Sprintf("%q", s)
}
