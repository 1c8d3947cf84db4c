package prompt

import (
	"fmt"
	"strings"

	"gatehouse/core"
)

// faults are the things that are wrong with files, one line each: FILE:LINE: what is wrong; what to do.
type faults []string

// add adds a fault. Line 0 is the file as a whole.
func (f *faults) add(file string, line int, do, what string, args ...any) {
	place := file
	if line > 0 {
		place = fmt.Sprintf("%s:%d", file, line)
	}
	*f = append(*f, place+": "+fmt.Sprintf(what, args...)+"; "+do)
}

// err is nil if there are none.
func (f faults) err() error {
	if len(f) == 0 {
		return nil
	}
	return core.Errorf(core.Invalid, "%s", strings.Join(f, "\n"))
}
