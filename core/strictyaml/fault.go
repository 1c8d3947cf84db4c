package strictyaml

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
)

// Fault is one thing that is wrong with a file.
type Fault struct {
	File   string
	Line   int    // 0: the file as a whole
	Column int    // 0: not known
	What   string // what is wrong
	Do     string // the remedy
}

// String is FILE:LINE:COLUMN: what is wrong; what to do.
func (f Fault) String() string { return fmt.Sprintf("%s: %s; %s", f.Where(), f.What, f.Do) }

// Where is FILE:LINE:COLUMN.
func (f Fault) Where() string {
	place := f.File
	for _, n := range []int{f.Line, f.Column} {
		if n > 0 {
			place += fmt.Sprintf(":%d", n)
		}
	}
	return place
}

// Faults are faults of files. As an error their category is invalid.
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

// sorted orders faults by file, line and column, and drops repeated ones.
func (f Faults) sorted() Faults {
	slices.SortStableFunc(f, func(a, b Fault) int {
		return cmp.Or(strings.Compare(a.File, b.File), a.Line-b.Line, a.Column-b.Column)
	})
	return slices.Compact(f)
}
