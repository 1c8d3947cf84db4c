package hrf

import (
	"fmt"
	"strings"

	"gatehouse/core/hrf/expr"
	"gatehouse/core/strictjson"
)

// flow follows a script in the order in which its steps run, and collects what looks like a mistake. Names of variables are compared in lower
// case, as references may write them in any.
type flow struct {
	set   map[string]bool // by what has run up to here, on some path
	order []string        // the names in set, in the order in which they came
	ever  map[string]bool // set anywhere
	used  map[string]bool // read anywhere

	declared []variable
	unset    []reading
	warnings []Finding
	replaced []Finding // of final texts
}

// variable is a name that the script sets, and where.
type variable struct {
	name  string
	place Place
}

// reading is where a variable is read that nothing has set before.
type reading struct {
	name  string
	place Place
}

func newFlow() *flow {
	return &flow{set: map[string]bool{}, ever: map[string]bool{}, used: map[string]bool{}}
}

func (f *flow) warn(n *node, about rule, hint, format string, args ...any) {
	f.warnings = append(f.warnings, n.place().finding(about, hint, fmt.Sprintf(format, args...)))
}

// declare notes a variable that is set by a member of an object, and should be read.
func (f *flow) declare(n *node, m strictjson.Member) {
	if !f.ever[strings.ToLower(m.Key)] {
		f.declared = append(f.declared, variable{m.Key, Place{n.member(m).pointer(), m.Line, m.Column}})
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

// judge adds the findings about the sense of a valid envelope.
func (r *reader) judge(e *Envelope) {
	if e.Script == nil {
		return
	}
	f := r.flow
	r.report.Warnings = append(r.report.Warnings, f.warnings...)
	if !r.endsEarly(e.Script) {
		r.report.Warnings = append(r.report.Warnings, f.replaced...)
	}
	for _, v := range f.declared {
		if !f.used[strings.ToLower(v.name)] {
			r.report.Warnings = append(r.report.Warnings, v.place.finding(varsUnused, "", "nothing reads the variable "+quote(v.name)))
		}
	}
	for _, u := range f.unset {
		switch {
		case f.ever[strings.ToLower(u.name)]:
			r.report.Warnings = append(r.report.Warnings, u.place.finding(varsEarly, "", fmt.Sprintf("the variable %s is read before a step sets it", quote(u.name))))
		case r.strictVars:
			r.report.Errors = append(r.report.Errors, u.place.finding(varsUnset, "", "nothing sets the variable "+quote(u.name)))
		default:
			r.report.Warnings = append(r.report.Warnings, u.place.finding(varsUnset, "", fmt.Sprintf("nothing sets the variable %s, so it is null", quote(u.name))))
		}
	}
}

// endsEarly warns if a termination ends the script after its first step, and reports whether one does.
func (r *reader) endsEarly(s *Script) bool {
	early := false
	for _, n := range r.terminations {
		if n.String != Call && len(s.Steps) > 1 {
			early = true
			r.warn(n, terminationEarly, "remove it, or leave the script one step", "%s ends the script after its first step", n.String)
		}
	}
	return early
}
