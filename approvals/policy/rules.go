package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

// rule is an entry of the file's rules.
type rule struct {
	at      *yaml.Node  // its name, or the rule
	tools   []string    // globs; none: any tool
	risks   []string    // none: any
	when    *condition  // nil: always
	then    core.Rule   // what it says, without People
	expires string      // as written
	broken  bool        // there are faults in it
	local   bool        // nobody is named, neither here nor by default: the local person decides
	self    selfSetting // what the file says of it
}

// selfSetting is whether self is in the file.
type selfSetting struct{ set, value bool }

// The keys of a rule, and the further ones of a rule that asks.
var (
	ruleKeys = []string{"name", "tools", "risk", "when", "action", "why"}
	askKeys  = []string{
		"approvers", "quorum", "vetoes", "self", "expires", "remind", "escalate", "hours", "notify",
		"reason", "remember", "edit", "batch",
	}
)

// The words for risks.
const (
	riskRead        = "read"
	riskWrite       = "write"
	riskDestructive = "destructive"
)

var (
	risks   = []string{riskRead, riskWrite, riskDestructive}
	actions = []string{string(core.VerdictAllow), string(core.VerdictAsk), string(core.VerdictDeny)}
	reasons = []string{"optional", "required"}
)

// The values of a rule where the file has none.
const (
	defaultExpires = "24h"
	defaultTimeout = 24 * time.Hour
)

// rules reads the rules.
func (r *reader) rules(n *yaml.Node, in *roster, defaults Defaults) []*rule {
	var all []*rule
	names := map[string]int{}
	for _, item := range r.Items(n, "rules", "[{name: reads, risk: [read], action: allow}]") {
		one := r.rule(item, in, defaults)
		if one == nil {
			continue
		}
		if before, twice := names[one.then.Name]; twice && one.then.Name != "" {
			r.Fault(one.at, "give each rule a name of its own", "the name %s is that of two rules, in line %d too",
				strictyaml.Quoted(one.then.Name), before)
		}
		names[one.then.Name] = one.at.Line
		all = append(all, one)
	}
	r.overruled(slices.DeleteFunc(slices.Clone(all), func(one *rule) bool { return one.broken }))
	return all
}

// overruled reports the rules that ask or deny of which no call is left by rules before them that always allow.
func (r *reader) overruled(all []*rule) {
	var allow []*rule
	left := mostCompared
	for _, one := range all {
		if one.then.Verdict == core.VerdictAllow {
			if one.always() {
				allow = append(allow, one)
			}
			continue
		}
		if over := one.coveredBy(allow, &left); len(over) > 0 {
			names := make([]string, len(over))
			for i, o := range over {
				names[i] = fmt.Sprintf("%s in line %d", strictyaml.Quoted(o.then.Name), o.at.Line)
			}
			r.Fault(one.at, "move it above, or make what comes before narrower",
				"%s never gets to %s a call: %s allows all of them before",
				one.called(), one.then.Verdict, strings.Join(names, " and "))
		}
	}
}

// always reports whether a rule has no condition, or one that always holds.
func (r *rule) always() bool {
	if r.when == nil {
		return true
	}
	yes, err := r.when.holds(operands{}, nil)
	return r.when.fixed && err == nil && yes
}

// mostCompared bounds how many names are compared with others in a file: beyond, no rule is found to be overruled.
const mostCompared = 1_000_000

// coveredBy are those of other rules that are for every call that a rule is for; none if some call is left, or there is
// too much to compare.
func (r *rule) coveredBy(others []*rule, left *int) (all []*rule) {
	for _, glob := range anyOf(r.tools, "*") {
		for _, risk := range anyOf(r.risks, risks...) {
			var globs []string
			for _, o := range others {
				if !slices.Contains(anyOf(o.risks, risks...), risk) {
					continue
				}
				before := len(globs)
				for _, other := range anyOf(o.tools, "*") {
					if *left--; !apart(glob, other) {
						*left -= 100
						globs = append(globs, other)
					}
				}
				if len(globs) > before && !slices.Contains(all, o) {
					all = append(all, o)
				}
				if *left < 0 {
					return nil
				}
			}
			if !covered(glob, globs) {
				return nil
			}
		}
	}
	return all
}

// anyOf are the words of a list, or all where there are none.
func anyOf(some []string, all ...string) []string {
	if len(some) == 0 {
		return all
	}
	return some
}

func (r *reader) rule(n *yaml.Node, in *roster, defaults Defaults) *rule {
	faults := len(r.Faults)
	found := r.Entries(n, "a rule", slices.Concat(ruleKeys, askKeys))
	if n.Kind != yaml.MappingNode {
		return nil
	}
	has := map[string]*yaml.Node{}
	keys := map[string]*yaml.Node{}
	for _, e := range found {
		has[e.Key], keys[e.Key] = e.Value, e.At
	}
	one := &rule{at: n, expires: defaultExpires}
	one.then = core.Rule{Verdict: core.VerdictAsk, Quorum: 1, Vetoes: 1, Timeout: defaultTimeout}
	r.head(one, n, has, in)
	if has["action"] == nil {
		r.Fault(n, "add action: allow, ask or deny", "the rule %s has no action", strictyaml.Quoted(one.then.Name))
	} else if action, ok := r.Word(has["action"], "action", actions); ok {
		one.then.Verdict = core.Verdict(action)
		for _, key := range askKeys {
			if has[key] != nil && one.then.Verdict != core.VerdictAsk {
				r.Fault(keys[key], "remove it, or use action: ask", "%s makes no sense in a rule whose action is %s",
					key, action)
			}
		}
	}
	before := len(r.Faults)
	r.who(one, has, in, defaults)
	// the approvers are known
	counts := before == len(r.Faults) && (!in.broken || !named(has["approvers"]) && !named(has["escalate"]))
	before = len(r.Faults)
	r.times(one, has, in)
	counts = counts && (before == len(r.Faults) || has["escalate"] == nil)
	r.manner(one, has)
	if one.then.Verdict == core.VerdictAsk && counts {
		r.reachable(one, n, has, in)
	}
	one.broken = len(r.Faults) > faults
	return one
}

// named reports whether a value has the name of a person or a group.
func named(v *yaml.Node) bool {
	if v == nil {
		return false
	}
	return strings.HasPrefix(v.Value, "group:") || strings.HasPrefix(v.Value, "person:") || v.Alias != nil ||
		slices.ContainsFunc(v.Content, named)
}

// called is what a rule is called in a sentence.
func (r *rule) called() string { return "the rule " + strictyaml.Quoted(r.then.Name) }

// head reads what a rule is called, and which calls it is for.
func (r *reader) head(one *rule, n *yaml.Node, has map[string]*yaml.Node, in *roster) {
	if v := has["name"]; v == nil {
		r.Fault(n, "add name: and a few words", "a rule has no name")
	} else if name, ok := r.Text(v, "name", "big refunds"); ok {
		one.then.Name, one.at = name, v
	}
	if v := has["tools"]; v != nil {
		one.tools = r.globs(v, one.called())
	}
	if v := has["risk"]; v != nil {
		for _, item := range r.List(v, "risk", "[write, destructive]") {
			if risk, ok := r.Word(item, "risk", risks); ok {
				one.risks = append(one.risks, risk)
			}
		}
	}
	if v := has["when"]; v != nil {
		r.when(one, v, in)
	}
	if v := has["why"]; v != nil {
		one.then.Why, _ = r.Text(v, "why", "Refunds need a second person.")
		one.then.Why = strings.TrimSpace(one.then.Why)
	}
}

func (r *reader) when(one *rule, v *yaml.Node, in *roster) {
	text, ok := r.Text(v, "when", "args.amount > 1000")
	if !ok {
		return
	}
	compiled, mistakes := compile(text)
	one.when = compiled
	if compiled != nil && compiled.hints && (len(one.tools) == 0 || slices.ContainsFunc(one.tools, ofAnyServer)) {
		r.Fault(v, `add tools: ["SERVER.*"] with the names of the servers that you trust to annotate their tools`,
			"annotations count only in a rule that names the tools' servers")
	}
	if compiled != nil {
		for _, m := range r.unknownWords(compiled, text, in) {
			m.what += ", so " + one.called() + " does not say what is meant"
			mistakes = append(mistakes, m)
		}
	}
	for _, m := range mistakes {
		line, column := v.Line, v.Column // where lines are joined, the text's own do not count
		if v.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			line, column = line+m.line+1, 0 // the text begins below its mark
		}
		r.FaultAt(line, column, cmp.Or(m.do, "correct the expression; its variables are args, tool, risk, requester, "+
			"conversation and annotations"), "when: %s", m.what)
	}
}

// ofAnyServer reports whether a glob may match tools of different servers.
func ofAnyServer(glob string) bool {
	server, _, named := strings.Cut(glob, ".")
	return !named || strings.ContainsAny(server, "*?")
}
