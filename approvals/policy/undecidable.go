package policy

import (
	"fmt"
	"strings"

	"gatehouse/core"
)

// external begins the names by which a policy knows the actions of other agents: external.PRINCIPAL.ACTION.
const external = "external."

// Requested reports whether a name is that of an action that another agent requests, not of a tool: tools' names have
// one dot.
func Requested(name string) bool {
	return strings.HasPrefix(name, external) && strings.Count(name, ".") > 1
}

// undecidable is why a request under the rule of a decision could never be approved, by anybody, and what to change; ""
// = it could, or nobody knows: how many people are in a group of a platform, and who is local, is not the policy's.
// agent: another agent requests it.
func (p *Policy) undecidable(d Decision, requester core.Actor, agent bool) string {
	if d.Rule.Verdict != core.VerdictAsk {
		return ""
	}
	people, known := p.roster.count(d.Rule.Groups())
	rest, _ := p.roster.count(without(d.Rule, requester.ID))
	need := max(1, d.Rule.Quorum)
	if !known || d.Rule.Self || rest == people || rest >= need {
		return ""
	}
	of, changes, besides := "GATEHOUSE_APPROVERS", []string{"name another approver there"}, "who asked"
	if agent {
		besides = "the agent's own token"
	}
	if d.Matched {
		of, changes = fmt.Sprintf("the rule %q", d.Rule.Name), []string{"name more approvers in it"}
		if need > 1 {
			changes = append(changes, "lower its quorum")
		}
		if people >= need && !agent {
			changes = append(changes, "set self: true")
		}
	}
	return fmt.Sprintf("Nobody could ever approve this: %s needs %s, and has %s besides %s. An admin can %s.",
		of, approvals(need), approvers(rest), besides, core.Either(changes))
}

// without are those of a rule's approvers who are not this person.
func without(r core.Rule, id string) (others []string) {
	for _, a := range r.Groups() {
		if r.Person(a) != r.Person(id) {
			others = append(others, a)
		}
	}
	return others
}

func approvals(n int) string {
	if n == 1 {
		return "1 approval"
	}
	return fmt.Sprintf("%d approvals", n)
}

func approvers(n int) string {
	switch n {
	case 0:
		return "no approver"
	case 1:
		return "1 approver"
	}
	return fmt.Sprintf("%d approvers", n)
}
