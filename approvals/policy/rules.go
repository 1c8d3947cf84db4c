package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
)

// rule is an entry of the file's rules.
type rule struct {
	line    int
	tools   []string    // globs; none: any tool
	risks   []string    // none: any
	when    *condition  // nil: always
	then    core.Rule   // what it says, without People
	expires string      // as written
	local   bool        // nobody is named, neither here nor by default: the local person decides
	self    selfSetting // what the file says of it
}

// selfSetting is whether self is in the file.
type selfSetting struct{ set, value bool }

// The keys of a rule, and the further ones of a rule that asks.
var (
	ruleKeys = []string{"name", "tools", "risk", "when", "action", "why"}
	askKeys  = []string{"approvers", "quorum", "vetoes", "self", "expires", "remind", "escalate", "notify", "reason", "remember", "edit"}
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

// maxQuorum bounds quorums that nobody can check, those of platforms' groups.
const maxQuorum = 1000

// rules reads the rules.
func (r *reader) rules(n *yaml.Node, in *roster, defaults Defaults) []*rule {
	var all []*rule
	if n.Kind != yaml.SequenceNode {
		r.fault(n.Line, "write it as a list, each rule with - before it", "rules is %s, not a list", kindOfNode(n))
		return nil
	}
	names := map[string]int{}
	for _, item := range n.Content {
		if r.exhausted() {
			break
		}
		one := r.rule(r.follow(item), in, defaults)
		if one == nil {
			continue
		}
		if before, twice := names[one.then.Name]; twice && one.then.Name != "" {
			r.fault(one.line, "give each rule a name of its own", "the name %s is that of two rules, in line %d too", quoted(one.then.Name), before)
		}
		names[one.then.Name] = one.line
		all = append(all, one)
	}
	return all
}

func (r *reader) rule(n *yaml.Node, in *roster, defaults Defaults) *rule {
	found := r.entries(n, "a rule", slices.Concat(ruleKeys, askKeys))
	if n.Kind != yaml.MappingNode {
		return nil
	}
	has := map[string]*yaml.Node{}
	lines := map[string]int{}
	for _, e := range found {
		has[e.key], lines[e.key] = e.value, e.line
	}
	one := &rule{line: n.Line, expires: defaultExpires}
	one.then = core.Rule{Verdict: core.VerdictAsk, Quorum: 1, Vetoes: 1, Timeout: defaultTimeout}
	r.head(one, n, has)
	if has["action"] == nil {
		r.fault(n.Line, "add action: allow, ask or deny", "the rule %s has no action", quoted(one.then.Name))
	} else if action, ok := r.word(has["action"], "action", actions); ok {
		one.then.Verdict = core.Verdict(action)
		for _, key := range askKeys {
			if has[key] != nil && one.then.Verdict != core.VerdictAsk {
				r.fault(lines[key], "remove it, or use action: ask", "%s makes no sense in a rule whose action is %s", key, action)
			}
		}
	}
	before := len(r.faults)
	r.who(one, has, in, defaults)
	counts := before == len(r.faults) && (!in.broken || !named(has["approvers"]) && !named(has["escalate"])) // the approvers are known
	before = len(r.faults)
	r.times(one, has)
	counts = counts && (before == len(r.faults) || has["escalate"] == nil)
	r.manner(one, has, in)
	if one.then.Verdict == core.VerdictAsk && counts {
		r.reachable(one, n, has, in)
	}
	return one
}

// named reports whether a value has the name of a person or a group.
func named(v *yaml.Node) bool {
	if v == nil {
		return false
	}
	return strings.HasPrefix(v.Value, "group:") || strings.HasPrefix(v.Value, "person:") || v.Alias != nil || slices.ContainsFunc(v.Content, named)
}

// head reads what a rule is called, and which calls it is for.
func (r *reader) head(one *rule, n *yaml.Node, has map[string]*yaml.Node) {
	if v := has["name"]; v == nil {
		r.fault(n.Line, "add name: and a few words", "a rule has no name")
	} else if name, ok := r.text(v, "name", "big refunds"); ok {
		one.then.Name, one.line = name, v.Line
	}
	if v := has["tools"]; v != nil {
		for _, item := range r.list(v, "tools", `["billing.*"]`) {
			if glob, ok := r.text(item, "an entry of tools", `"billing.*"`); ok {
				one.tools = append(one.tools, glob)
			}
		}
	}
	if v := has["risk"]; v != nil {
		for _, item := range r.list(v, "risk", "[write, destructive]") {
			if risk, ok := r.word(item, "risk", risks); ok {
				one.risks = append(one.risks, risk)
			}
		}
	}
	if v := has["when"]; v != nil {
		r.when(one, v)
	}
	if v := has["why"]; v != nil {
		one.then.Why, _ = r.text(v, "why", "Refunds need a second person.")
		one.then.Why = strings.TrimSpace(one.then.Why)
	}
}

func (r *reader) when(one *rule, v *yaml.Node) {
	text, ok := r.text(v, "when", "args.amount > 1000")
	if !ok {
		return
	}
	compiled, mistakes := compile(text)
	one.when = compiled
	for _, m := range mistakes {
		line := v.Line // where lines are joined, the text's own do not count
		if v.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
			line += m.line + 1 // the text begins below its mark
		}
		r.fault(line, cmp.Or(m.do, "correct the expression; its variables are args, tool, risk, requester and conversation"), "when: %s", m.what)
	}
}

// word reads one of some words.
func (r *reader) word(n *yaml.Node, key string, known []string) (string, bool) {
	text, ok := r.text(n, key, known[0])
	if ok && !slices.Contains(known, text) {
		r.fault(n.Line, meant(text, known), "unknown %s %s", key, quoted(text))
		return "", false
	}
	return text, ok
}

// who reads who decides.
func (r *reader) who(one *rule, has map[string]*yaml.Node, in *roster, defaults Defaults) {
	if v := has["approvers"]; v != nil {
		one.then.Approvers = r.ids(in, r.members(v, "approvers", in), nil)
	} else {
		one.then.Approvers = defaults.Approvers
		one.local = len(defaults.Approvers) == 0
	}
	if v := has["quorum"]; v != nil {
		if n, ok := r.count(v, "quorum"); ok {
			one.then.Quorum = n
		}
	}
	if v := has["vetoes"]; v != nil {
		if n, ok := r.count(v, "vetoes"); ok {
			one.then.Vetoes = n
		}
	}
	if v := has["self"]; v != nil {
		one.then.Self, _ = r.bool(v, "self")
		one.self = selfSetting{true, one.then.Self}
	}
}

// times reads when it ends, and what happens before.
func (r *reader) times(one *rule, has map[string]*yaml.Node) {
	if v := has["expires"]; v != nil {
		if v.Kind == yaml.ScalarNode && v.Value == never {
			one.then.Timeout, one.expires = 0, never
		} else if d, ok := r.duration(v, "expires", "24h, 7d or never"); ok {
			one.then.Timeout, one.expires = d, v.Value
		}
	}
	before := func(d time.Duration, line int, key string) {
		if one.then.Timeout > 0 && d >= one.then.Timeout {
			r.fault(line, "use a shorter time, or a longer expires", "%s is %s, but the request expires after %s", key, Written(d), one.expires)
		}
	}
	if v := has["remind"]; v != nil {
		for _, item := range r.list(v, "remind", "[1h, 6h]") {
			if d, ok := r.duration(item, "remind", "1h"); ok {
				before(d, item.Line, "remind")
				one.then.Remind = append(one.then.Remind, d)
			}
		}
		slices.Sort(one.then.Remind)
		one.then.Remind = slices.Compact(one.then.Remind)
	}
	if v := has["remember"]; v != nil {
		parts := r.part(v, "remember", "{for: 1h}", "for")
		if parts["for"] != nil {
			one.then.Remember, _ = r.duration(parts["for"], "for", "1h")
		}
	}
	if v := has["escalate"]; v != nil {
		parts := r.part(v, "escalate", "{after: 4h, to: [group:leads]}", "after", "to")
		if after := parts["after"]; after != nil {
			if d, ok := r.duration(after, "after", "4h"); ok {
				before(d, after.Line, "escalate after")
				one.then.Escalate.After = d
			}
		}
	}
}

// part reads a mapping in which no key may be missing.
func (r *reader) part(n *yaml.Node, what, example string, keys ...string) map[string]*yaml.Node {
	parts := map[string]*yaml.Node{}
	for _, e := range r.entries(n, what, keys) {
		parts[e.key] = e.value
	}
	for _, key := range keys {
		if n.Kind == yaml.MappingNode && parts[key] == nil && !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return c.Value == key }) {
			r.fault(n.Line, "write it like "+what+": "+example, "%s has no %s", what, key)
		}
	}
	return parts
}

// manner reads to whom it is escalated, and how it is asked and answered.
func (r *reader) manner(one *rule, has map[string]*yaml.Node, in *roster) {
	if v := has["escalate"]; v != nil && v.Kind == yaml.MappingNode {
		for _, e := range r.quietly(v) {
			if e.key == "to" {
				one.then.Escalate.To = r.ids(in, r.members(e.value, "to", in), nil)
			}
		}
	}
	if v := has["notify"]; v != nil {
		r.notify(one, v)
	}
	if v := has["reason"]; v != nil {
		reason, _ := r.word(v, "reason", reasons)
		one.then.Reason = reason == "required"
	}
	if v := has["edit"]; v != nil {
		one.then.Edit, _ = r.bool(v, "edit")
	}
}

// notify reads one place, or a list of them. One that is here alone is the same as none.
func (r *reader) notify(one *rule, v *yaml.Node) {
	items := []*yaml.Node{v}
	if v.Kind != yaml.ScalarNode {
		items = r.list(v, "notify", "[here, dm]")
	}
	for _, item := range items {
		place, ok := r.text(item, "notify", "here")
		if !ok {
			continue
		}
		if what, do := checkChannel(place); what != "" {
			r.fault(item.Line, do, "%s", what)
		} else if !slices.Contains(one.then.Notify, place) {
			one.then.Notify = append(one.then.Notify, place)
		}
	}
	if slices.Equal(one.then.Notify, []string{core.NotifyHere}) {
		one.then.Notify = nil
	}
}

// reachable checks that there are as many people as the quorum and the vetoes need, those of an escalation among them.
func (r *reader) reachable(one *rule, n *yaml.Node, has map[string]*yaml.Node, in *roster) {
	people, known := in.count(one.then.Groups())
	for _, need := range []struct {
		key    string
		people int
	}{{"quorum", one.then.Quorum}, {"vetoes", one.then.Vetoes}} {
		line := n.Line
		if has[need.key] != nil {
			line = has[need.key].Line
		} else if has["approvers"] != nil {
			line = has["approvers"].Line
		}
		switch {
		case need.people > maxQuorum:
			r.fault(line, "use "+strconv.Itoa(maxQuorum)+" at most", "%s: %d is too high", need.key, need.people)
		case known && !one.local && people < need.people:
			r.fault(line, "lower the "+need.key+", or name more approvers", "nobody can reach the %s of %d: the approvers are %s", need.key, need.people, counted(people))
		}
	}
}

func counted(people int) string {
	if people == 1 {
		return "1 person"
	}
	return strconv.Itoa(people) + " people"
}
