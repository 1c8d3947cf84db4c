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
		w.batches(r)
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

// batches warns of a rule that lets calls be decided together, some of which are not, since they are destructive.
func (w *warner) batches(r *rule) {
	if !r.then.Batch {
		return
	}
	for _, call := range w.calls(r) {
		if call.Risk == core.Dangerous {
			w.warn(r.at, true, "leave that tool to another rule",
				"%s says batch: true, but %s is destructive, so it is decided alone", r.called(), call.Tool)
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
