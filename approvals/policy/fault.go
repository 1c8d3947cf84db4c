package policy

import (
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
)

// Fault is one thing that is wrong with a policy's file.
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

// sorted orders faults by line, and drops repeated ones.
func (f Faults) sorted() Faults {
	slices.SortStableFunc(f, func(a, b Fault) int { return a.Line - b.Line })
	return slices.Compact(f)
}
