package policy

import (
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

// calls are calls of the tools that a rule is for. Where none is known, they are of tools that it could be for.
func (w *warner) calls(r *rule) (all []core.Call) {
	for _, t := range w.tools {
		if r.covers(t.Call) {
			all = append(all, t.Call)
		}
	}
	for _, glob := range anyOf(r.tools, "*") {
		if !w.open(glob) && w.unknown(glob) == "" {
			continue // it is that of tools which are known
		}
		for _, risk := range []core.Risk{core.ReadOnly, core.Ordinary, core.Dangerous} {
			call := core.Call{Tool: strings.NewReplacer("*", "x", "?", "x").Replace(glob), Risk: risk}
			if strings.HasPrefix(glob, external) || !strings.Contains(call.Tool, ".") {
				call.Tool = strings.NewReplacer("*", "x.x", "?", "x").Replace(glob)
			}
			if Requested(call.Tool) && risk == core.ReadOnly { // agents need no approval to read
				continue
			}
			for hints := range 8 {
				call.Annotations = core.Annotations{
					ReadOnly: hints&1 > 0, Additive: hints&2 > 0, Idempotent: hints&4 > 0,
				}
				if r.covers(call) && (hints == 0 || r.when != nil && r.when.hints) {
					all = append(all, call)
				}
			}
		}
	}
	return all
}

func newTries() *tries {
	return &tries{args: map[string][]any{}, bounded: map[string]bool{}, whole: true}
}

// found is what a search for a call that a rule decides came to.
type found struct {
	holds bool     // there is a call for which its condition holds
	first bool     // and one that no rule before it decides
	by    []string // the rules that decide the others
	all   bool     // every call that can make a difference was tried
}

// search looks for a call of a tool that a rule decides, among those of tries. suits says whether it is one that is
// looked for; it may change the operands.
func (w *warner) search(r *rule, call core.Call, t *tries, into *found, suits func(operands) bool) {
	key := fmt.Sprint(t.asker, t.ids, t.people)
	if _, known := w.who[key]; !known {
		w.who[key] = w.worthTrying(t)
	}
	all := w.who[key].all && t.whole
	for _, who := range w.who[key].some {
		for _, place := range append([]string{""}, t.places...) {
			f := operands{Tool: call.Tool, Risk: RiskOf(call), Annotations: annotationsOf(call)}
			f.Requester, f.Conversation = who, place
			whole := t.each(func(args map[string]any) bool {
				f.Args = args
				if w.left--; w.left < 0 {
					all = false
					return false
				}
				if r.when != nil {
					if yes, err := r.when.holds(f, nil); err != nil || !yes {
						return true
					}
				}
				into.holds = true
				by := w.firstOf(f, call)
				if by == r {
					into.first = suits(f)
					return !into.first
				}
				if !slices.Contains(into.by, by.then.Name) {
					into.by = append(into.by, by.then.Name)
				}
				return true
			})
			if all = all && whole; into.first || w.left < 0 {
				into.all = into.all && all
				return
			}
		}
	}
	into.all = into.all && all
}

// firstOf is the rule that decides a call.
func (w *warner) firstOf(f operands, call core.Call) *rule {
	for _, r := range w.rules {
		if !r.covers(call) {
			continue
		}
		if w.left--; r.when == nil {
			return r
		}
		if yes, _ := r.matches(f, nil); yes {
			return r
		}
	}
	return nil
}

// tried are the tries for a rule's own condition or, with those before it, for all that may decide a call first.
func (w *warner) tried(r *rule, call core.Call, before bool) *tries {
	t := newTries()
	for _, one := range w.rules {
		w.left--
		if one.when != nil && (one == r || before && one.covers(call)) {
			t.add(one.when)
		}
		if one == r {
			break
		}
	}
	t.between()
	return t
}

// reach warns of a rule that decides no call.
func (w *warner) reach(r *rule) {
	calls := w.calls(r)
	var f found
	for _, before := range []bool{false, true} {
		f.all = true // of the wider search alone
		for _, call := range calls {
			if w.search(r, call, w.tried(r, call, before), &f, anyOperands); f.first || w.left < 0 {
				return
			}
		}
	}
	switch {
	case len(calls) == 0 && !slices.ContainsFunc(r.tools, func(glob string) bool { return w.unknown(glob) != "" }):
		w.warn(r.at, false, "remove risk, or name other tools",
			"%s decides no call: no tool that it names has the risk %s", r.called(), strings.Join(r.risks, " or "))
	case len(calls) == 0 || !f.all:
	case !f.holds:
		w.warn(r.at, false, "correct when", "%s decides no call: its condition never holds", r.called())
	default:
		for i, name := range f.by {
			f.by[i] = strictyaml.Quoted(name)
		}
		w.warn(r.at, false, "move it above, or make what comes before narrower",
			"%s decides no call: %s decides all of them before", r.called(), strings.Join(f.by, " or "))
	}
}

func anyOperands(operands) bool { return true }
