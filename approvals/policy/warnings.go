package policy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/strictjson"
	"gatehouse/core/strictyaml"
)

// Tool is what a policy can know of a tool: any call of it, and the schema of its arguments.
type Tool struct {
	Call   core.Call
	Schema json.RawMessage
}

// Warning is what a policy probably does not mean.
type Warning struct {
	strictyaml.Fault
	Works bool // what is written has an effect, and maybe another one than is meant; otherwise it has none
}

// Warnings are what is probably not meant in a policy, in the order of the file: names of tools and arguments that
// there are not, rules that never decide a call, bounds that one side lacks, and requests that nobody could approve.
// away are the servers whose tools are not known now: what may be about these is not told.
func (p *Policy) Warnings(tools []Tool, away []string) []Warning {
	w := &warner{Policy: p, tools: tools, away: away, left: mostEvaluations, who: map[string]askers{}}
	for _, r := range p.rules {
		w.globs(r, r.called())
		before := len(w.all)
		if r.when != nil {
			w.names(r)
			w.arguments(r)
		}
		if len(w.all) == before { // what is mistyped explains why it decides nothing
			w.reach(r)
		}
		w.bounds(r)
		w.people(r)
		w.remembers(r)
	}
	for _, a := range p.askers {
		w.globs(&a.rule, "an entry of asks")
	}
	slices.SortStableFunc(w.all, func(a, b Warning) int { return a.Line - b.Line })
	return w.all
}

// mostEvaluations bounds how often conditions are evaluated for the warnings of a policy: beyond, less is told.
const mostEvaluations = 200_000

// warner collects warnings.
type warner struct {
	*Policy
	tools []Tool
	away  []string
	left  int
	all   []Warning
	who   map[string]askers // those worth trying, by what makes a difference
}

func (w *warner) warn(at *yaml.Node, works bool, do, what string, args ...any) {
	fault := strictyaml.Fault{File: w.file, Line: at.Line, Column: at.Column, What: fmt.Sprintf(what, args...), Do: do}
	w.all = append(w.all, Warning{fault, works})
}

// open reports whether a name may be that of a tool that is not known now, or of an agent's action.
func (w *warner) open(glob string) bool {
	server, _, named := strings.Cut(glob, ".")
	star := strings.Contains(glob, "*")
	if matches(server+".", external) && (star || Requested(glob)) {
		return true
	}
	return slices.ContainsFunc(w.away, func(one string) bool { return named && matches(server, one) || !named && star })
}

// unknown is the remedy for a name that no tool has; "" = one has it, or may have.
func (w *warner) unknown(glob string) (do string) {
	has := func(form func(string) string) string {
		i := slices.IndexFunc(w.tools, func(t Tool) bool { return matches(form(glob), form(t.Call.Tool)) })
		if i < 0 {
			return ""
		}
		return w.tools[i].Call.Tool
	}
	if w.open(glob) || has(func(s string) string { return s }) != "" {
		return ""
	}
	if strings.HasPrefix(glob, external) {
		return "write external.PRINCIPAL.ACTION"
	}
	if other := has(strings.ToLower); other != "" {
		return "upper and lower case count: the tool is " + other
	}
	var names []string
	for _, t := range w.tools {
		names = append(names, t.Call.Tool)
	}
	return strictyaml.Meant(glob, names)
}

// globs warns of names of tools that there are not.
func (w *warner) globs(r *rule, called string) {
	for _, glob := range r.tools {
		if do := w.unknown(glob); do != "" {
			w.warn(r.at, false, do, "tools of %s: no tool has the name %s", called, strictyaml.Quoted(glob))
		}
	}
}

// names warns of names of tools and people in a condition that there are not.
func (w *warner) names(r *rule) {
	for _, one := range r.when.said {
		if one.operator != "==" && one.operator != "!=" && one.operator != "in" {
			continue
		}
		switch name := one.text; one.variable {
		case wordTool:
			if do := w.unknown(name); do != "" {
				w.warn(r.at, false, do, "when of %s: no tool has the name %s", r.called(), strictyaml.Quoted(name))
			}
		case wordPerson:
			if _, known := w.roster.accounts[name]; !known && name != "" {
				do := strictyaml.Meant(name, slices.Sorted(maps.Keys(w.roster.accounts)))
				w.warn(r.at, false, do, "when of %s: requester.person is never %s", r.called(), strictyaml.Quoted(name))
			}
		}
	}
}

// arguments warns of arguments that no tool has which a rule is for.
func (w *warner) arguments(r *rule) {
	var known []string
	if slices.ContainsFunc(anyOf(r.tools, "*"), w.open) { // these may have any
		return
	}
	for _, t := range w.tools {
		if !r.covers(t.Call) {
			continue
		}
		names, all := properties(t.Schema)
		if !all {
			return
		}
		known = append(known, names...)
	}
	if len(known) == 0 {
		return
	}
	t := newTries()
	t.add(r.when)
	told := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(t.args)) {
		name, _, _ := strings.Cut(path, sep)
		if !slices.Contains(known, name) && !told[name] {
			told[name] = true
			w.warn(r.at, false, strictyaml.Meant(name, known),
				"when of %s: no tool that it is for has the argument %s", r.called(), strictyaml.Quoted(name))
		}
	}
}

// properties are the names of the arguments in a schema; all is false if there may be others.
func properties(schema json.RawMessage) (names []string, all bool) {
	doc, err := strictjson.Parse(schema)
	if err != nil {
		return nil, false
	}
	others := []string{
		"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties", "dependentSchemas",
	}
	for _, key := range others {
		if doc.Get(key) != nil {
			return nil, false
		}
	}
	list := doc.Get("properties")
	if list == nil {
		return nil, false
	}
	for _, m := range list.Members {
		names = append(names, m.Key)
	}
	return names, true
}

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

// low and high are beyond every sensible amount.
const (
	low  = -1e12
	high = 1e12
)

// bounds warns of an argument that a rule which allows bounds above, and not below: a call with a low one passes, and
// the same call with a high one does not.
func (w *warner) bounds(r *rule) {
	if r.then.Verdict != core.VerdictAllow || r.when == nil {
		return
	}
	for _, call := range w.calls(r) {
		if w.left < 0 {
			return
		}
		for _, path := range slices.Sorted(maps.Keys(w.tried(r, call, false).bounded)) {
			var f found
			for _, before := range []bool{false, true} {
				w.search(r, call, w.tried(r, call, before).with(path, low), &f, func(lowest operands) bool {
					put(lowest.Args, strings.Split(path, sep), high)
					return w.firstOf(lowest, call) != r
				})
			}
			if f.first && !w.hasMinimum(call.Tool, path) {
				name := "args." + strings.ReplaceAll(path, sep, ".")
				w.warn(r.at, true, "add "+name+" >= 0, or the lowest that is meant",
					"%s bounds %s above and not below, so that every negative one passes", r.called(), name)
				return
			}
		}
	}
}

// remembers warns of a rule that remembers no approval of some of its calls, since these are destructive.
func (w *warner) remembers(r *rule) {
	if r.then.Remember == 0 || r.then.RememberDangerous {
		return
	}
	for _, call := range w.calls(r) {
		if call.Risk == core.Dangerous {
			w.warn(r.at, true, "add destructive: true to remember, or leave that tool to another rule",
				"%s remembers no approval of %s, which is destructive", r.called(), call.Tool)
			return
		}
	}
}

// hasMinimum reports whether the schema of a tool bounds an argument below.
func (w *warner) hasMinimum(name, path string) bool {
	i := slices.IndexFunc(w.tools, func(t Tool) bool { return t.Call.Tool == name })
	if i < 0 {
		return false
	}
	at, _ := strictjson.Parse(w.tools[i].Schema)
	for key := range strings.SplitSeq(path, sep) {
		if at = at.Get("properties"); at == nil {
			return false
		}
		if at = at.Get(key); at == nil {
			return false
		}
	}
	return at.Get("minimum") != nil || at.Get("exclusiveMinimum") != nil
}

// people warns of a rule under which what some people ask for could never be approved.
func (w *warner) people(r *rule) {
	if r.then.Verdict != core.VerdictAsk {
		return
	}
	if r.local && r.then.Quorum > 1 {
		w.warn(r.at, true, "name approvers, or remove quorum",
			"%s needs %s, and asks only the person at gatehouse's own machine", r.called(), approvals(r.then.Quorum))
		return
	}
	rule := r.then
	rule.People = w.roster.people
	people, known := w.roster.count(rule.Groups())
	if !known || people == 0 || rule.Self || people-1 >= rule.Quorum {
		return
	}
	w.warn(r.at, true, "name more approvers, or set self: true",
		"%s needs %s, and has %s: what one of these asks for is refused, since nobody could ever approve it",
		r.called(), approvals(rule.Quorum), approvers(people))
}
