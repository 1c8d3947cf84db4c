package policy

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/strictyaml"
)

// asker is an entry of the file's section asks: whom some tools may ask questions.
type asker struct {
	rule
	requester bool     // they may ask the person whose message is answered
	to        []member // and these
}

// Requester stands, in the section asks and in a tool's question, for the person whose message is answered.
const Requester = "requester"

var askerKeys = []string{"name", "tools", "to", "expires", "remind", "hours", "notify"}

// asks reads the section.
func (r *reader) asks(n *yaml.Node, in *roster) []*asker {
	var all []*asker
	for _, item := range r.Items(n, "asks", "[{tools: [people.ask], to: [requester, group:finance]}]") {
		if one := r.asker(item, in); one != nil {
			all = append(all, one)
		}
	}
	return all
}

func (r *reader) asker(n *yaml.Node, in *roster) *asker {
	has := map[string]*yaml.Node{}
	for _, e := range r.Entries(n, "an entry of asks", askerKeys) {
		has[e.Key] = e.Value
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	one := &asker{rule: rule{at: n, expires: defaultExpires}}
	one.then = core.Rule{
		Name: "asks", Verdict: core.VerdictAsk, Quorum: 1, Vetoes: 1, Self: true, Timeout: defaultTimeout,
	}
	if v := has["name"]; v != nil {
		if name, ok := r.Text(v, "name", "finance questions"); ok {
			one.then.Name = name
		}
	}
	if v := has["tools"]; v != nil {
		one.tools = r.globs(v, "an entry of asks")
	}
	if has["to"] == nil {
		r.Fault(n, "add to: [requester], or people and groups", "an entry of asks does not say who may be asked")
	} else {
		for _, item := range r.List(has["to"], "to", "[requester, group:finance]") {
			switch text, ok := r.Text(item, "an entry of to", "group:finance"); {
			case ok && text == Requester:
				one.requester = true
			case ok && r.member(item, text, in):
				one.to = append(one.to, member{text, item})
			}
		}
		one.then.Approvers = r.ids(in, one.to, nil)
	}
	r.times(&one.rule, has, in)
	r.manner(&one.rule, has)
	return one
}

// Asks returns who may answer a question that a call asks people, as a rule: one that asks, whose approvers they are;
// or one that denies, and says who may be asked. of are "requester", "person:NAME", "group:NAME", names of the policy's
// people and groups, or ids; none: the requester or, where another agent asks (requester is not a person), all whom the
// first entry for the tool names. The requester may be asked where no entry says otherwise. expires shortens the time
// that the policy gives; 0: it does not.
func (p *Policy) Asks(turn core.Turn, call core.Call, of []string, expires time.Duration, agent bool) core.Rule {
	entries := slices.Clone(p.askers)
	if !agent {
		entries = append(entries,
			&asker{rule: rule{then: core.Rule{
				Name: "requester", Verdict: core.VerdictAsk, Quorum: 1, Vetoes: 1, Self: true, Timeout: defaultTimeout,
			}}, requester: true})
		if len(of) == 0 {
			of = []string{Requester}
		}
	}
	known := []string{}
	for _, one := range entries {
		if !one.covers(call) {
			continue
		}
		ids, ok := p.reached(one, of, turn.Actor, agent)
		if !ok || len(ids) == 0 {
			known = append(known, one.names(agent)...)
			continue
		}
		rule := one.then
		rule.Approvers, rule.Remind, rule.Notify = ids, slices.Clone(rule.Remind), slices.Clone(rule.Notify)
		rule.Hours.Days = slices.Clone(rule.Hours.Days)
		if expires > 0 && (rule.Timeout == 0 || expires < rule.Timeout) {
			rule.Timeout = expires
			rule.Remind = slices.DeleteFunc(rule.Remind, func(d time.Duration) bool { return d >= expires })
		}
		p.addPeople(&rule, turn.Actor)
		if agent && !turn.Actor.Local && len(without(rule, turn.Actor.ID)) == 0 {
			return core.Rule{Name: "asks", Verdict: core.VerdictDeny, Why: ownQuestion}
		}
		return rule
	}
	return core.Rule{Name: "asks", Verdict: core.VerdictDeny, Why: refusalToAsk(call.Tool, of, known)}
}

func refusalToAsk(tool string, of, known []string) string {
	slices.Sort(known)
	known = slices.Compact(known)
	if len(known) == 0 {
		return fmt.Sprintf("The policy lets %s ask nobody. An admin can name people for it in the policy's section "+
			"asks.", tool)
	}
	return fmt.Sprintf("The policy does not let %s ask %s. It may ask: %s.", tool, strings.Join(of, ", "),
		strings.Join(known, ", "))
}

// names are those whom an entry lets be asked, as a question can name them.
func (a *asker) names(agent bool) (all []string) {
	if a.requester && !agent {
		all = append(all, Requester)
	}
	for _, m := range a.to {
		all = append(all, m.text)
	}
	return all
}

// reached returns the ids of those whom a question is for; ok is false if the entry does not let all of them be asked.
// No one named: all of the entry.
func (p *Policy) reached(one *asker, of []string, requester core.Actor, agent bool) (ids []string, ok bool) {
	if len(of) == 0 {
		return slices.Clone(one.then.Approvers), true
	}
	for _, who := range of {
		if who == Requester {
			if !one.requester || agent {
				return nil, false
			}
			ids = append(ids, requester.ID)
			if requester.Local {
				ids = append(ids, core.LocalPerson)
			}
			continue
		}
		found := p.idsOf(who)
		if len(found) == 0 {
			return nil, false
		}
		for _, id := range found {
			if !slices.Contains(one.then.Approvers, id) {
				return nil, false
			}
		}
		ids = append(ids, found...)
	}
	slices.Sort(ids)
	return slices.Compact(ids), true
}

// idsOf are the ids behind a name; a name without person: or group: may be either.
func (p *Policy) idsOf(who string) []string {
	name, person := strings.CutPrefix(who, "person:")
	if accounts := p.roster.accounts[name]; len(accounts) > 0 && (person || !strings.Contains(who, ":")) {
		return slices.Clone(accounts)
	}
	name, group := strings.CutPrefix(who, "group:")
	if g := p.roster.groups[name]; g != nil && (group || !strings.Contains(who, ":")) {
		return slices.Clone(g.flat)
	}
	if person || group || !strings.Contains(who, ":") {
		return nil
	}
	if owner, known := p.roster.people[who]; known {
		return p.Accounts(owner)
	}
	return []string{who}
}

const ownQuestion = "Nobody could ever answer this: it is for the agent's own account alone. " +
	"Ask somebody else, or have an admin name more people in the policy's section asks."

// globs reads the names of tools that something is for. One that can be no tool's is a fault: a rule that silently
// matches nothing is the opposite of what its author sees in it.
func (r *reader) globs(v *yaml.Node, of string) (all []string) {
	for _, item := range r.List(v, "tools", `["billing.*"]`) {
		glob, ok := r.Text(item, "an entry of tools", `"billing.*"`)
		if !ok {
			continue
		}
		if what, do := unfit(glob); what != "" {
			r.Fault(item, do, "tools of %s: %s %s", of, strictyaml.Quoted(glob), what)
		}
		all = append(all, glob)
	}
	return all
}
