package hrf

import (
	"strings"

	"gatehouse/core/hrf/expr"
	"gatehouse/core/strictjson"
)

// flow follows a script in the order in which its steps run, and collects what looks like a mistake. Names of variables
// are compared in lower case, as references may write them in any.
type flow struct {
	set   map[string]bool // by what has run up to here, on some path
	order []string        // the names in set, in the order in which they came
	ever  map[string]bool // set anywhere
	used  map[string]bool // read anywhere

	declared []declaration
	unset    []reading
	warnings []Finding
	replaced []Finding // of final texts
}

// declaration is a member of an object that sets a variable.
type declaration struct {
	object *node
	member strictjson.Member
}

// reading is where a variable is read before anything has set it.
type reading struct {
	name  string
	place Place
}

func newFlow() *flow {
	return &flow{set: map[string]bool{}, ever: map[string]bool{}, used: map[string]bool{}}
}

func (f *flow) warn(n *node, about rule, hint, format string, args ...any) {
	f.warnings = append(f.warnings, finding(n.place(), about, hint, format, args...))
}

// declare notes a variable that is set by a member of an object, and should be read.
func (f *flow) declare(n *node, m strictjson.Member) {
	if !f.ever[strings.ToLower(m.Key)] {
		f.declared = append(f.declared, declaration{n, m})
	}
	f.write(m.Key)
}

// write notes that a variable is set.
func (f *flow) write(name string) {
	name = strings.ToLower(name)
	f.ever[name] = true
	f.redo([]string{name})
}

// read notes that a variable is read.
func (f *flow) read(ref expr.Ref, place func() Place) {
	if ref.Root != "vars" {
		return
	}
	name := strings.ToLower(ref.Name)
	f.used[name] = true
	if !f.set[name] {
		f.unset = append(f.unset, reading{ref.Name, place()})
	}
}

// mark returns the point to which undo goes back.
func (f *flow) mark() int { return len(f.order) }

// undo forgets that the variables since a mark were set, and returns their names.
func (f *flow) undo(mark int) []string {
	names := append([]string(nil), f.order[mark:]...)
	for _, name := range names {
		delete(f.set, name)
	}
	f.order = f.order[:mark]
	return names
}

// redo notes that variables are set.
func (f *flow) redo(names []string) {
	for _, name := range names {
		if !f.set[name] {
			f.set[name] = true
			f.order = append(f.order, name)
		}
	}
}
