package policy

import (
	"maps"
	"slices"

	"gatehouse/core"
)

// Decision is what the policy says of a call, and why.
type Decision struct {
	Rule    core.Rule  // the snapshot
	Matched bool       // a rule of the file matched; otherwise the defaults decide
	Expires string     // as the file has it; without a rule: the default timeout, or never
	ByArgs  []string   // the rules, the deciding one among them, whose conditions read the arguments: other arguments may mean another decision
	Failed  []Failure  // the conditions that failed, in the order of their rules
	Nobody  *core.Rule // of a rule that asks, where nobody is configured who could answer, so that the call is refused: what it says
}

// Failure is a condition that failed when it was evaluated. A rule that allows does not match then; one that asks or denies does.
type Failure struct {
	Rule    string
	Err     error
	Matched bool
}

// Rule returns the rule for a call of a turn: the first that matches, as a snapshot. People has the accounts of those who are among the
// approvers, with all their accounts, and of the requester; of all people if a group of a platform or the local person is an approver.
// So a change of other people changes no snapshot.
func (p *Policy) Rule(turn core.Turn, call core.Call) core.Rule { return p.Decide(turn, call).Rule }

// Decide is Rule with the reasons.
func (p *Policy) Decide(turn core.Turn, call core.Call) Decision {
	d := Decision{Expires: Written(p.defaults.Timeout)}
	var f facts
	var argsErr error
	read := false
	for _, r := range p.rules {
		if !r.covers(call) {
			continue
		}
		if r.when != nil {
			if !read {
				f, argsErr = p.facts(turn, call)
				read = true
			}
			if r.when.args {
				d.ByArgs = append(d.ByArgs, r.then.Name)
			}
			yes, err := r.when.holds(f, argsErr)
			if err != nil {
				yes = r.then.Verdict != core.VerdictAllow
				d.Failed = append(d.Failed, Failure{Rule: r.then.Name, Err: err, Matched: yes})
			}
			if !yes {
				continue
			}
		}
		d.Rule, d.Matched, d.Expires = p.snapshot(r, turn.Actor), true, r.expires
		if r.then.Verdict == core.VerdictAsk && d.Rule.Verdict != core.VerdictAsk {
			d.Nobody = &r.then
		}
		return d
	}
	d.Rule = p.defaults.Rule(turn, call)
	if d.Rule.Verdict == core.VerdictDeny {
		d.Nobody = &core.Rule{Verdict: core.VerdictAsk, Self: true}
	}
	p.addPeople(&d.Rule, turn.Actor)
	return d
}

// covers reports whether a rule is for calls of this tool and risk.
func (r *rule) covers(call core.Call) bool {
	return (len(r.tools) == 0 || slices.ContainsFunc(r.tools, func(glob string) bool { return matches(glob, call.Tool) })) &&
		(len(r.risks) == 0 || slices.Contains(r.risks, RiskOf(call)))
}

// RiskOf is the policy's word for a call's risk. An unknown one counts as destructive.
func RiskOf(call core.Call) string {
	switch call.Risk {
	case core.ReadOnly:
		return riskRead
	case core.Ordinary:
		return riskWrite
	}
	return riskDestructive
}

// facts are the variables of conditions; argsErr is why there are no arguments.
func (p *Policy) facts(turn core.Turn, call core.Call) (f facts, argsErr error) {
	f = facts{Tool: call.Tool, Risk: RiskOf(call), Conversation: string(turn.Conversation)}
	f.Requester = requester{ID: turn.Actor.ID, Platform: PlatformOf(turn.Actor.ID), Person: p.roster.people[turn.Actor.ID]}
	if p.asksGroups() {
		f.Requester.Groups = p.roster.groupsOf(turn.Actor)
	}
	f.Annotations = annotations{ReadOnly: call.Annotations.ReadOnly, Destructive: !call.Annotations.Additive, Idempotent: call.Annotations.Idempotent}
	f.Args, argsErr = arguments(call.Arguments)
	return f, argsErr
}

// snapshot is what a rule of the file says, as it is stored with an approval. Nobody but this approval may change its lists.
func (p *Policy) snapshot(r *rule, requester core.Actor) core.Rule {
	then := r.then
	if then.Verdict != core.VerdictAsk {
		return core.Rule{Name: then.Name, Verdict: then.Verdict, Why: then.Why}
	}
	if r.local {
		if !requester.Local {
			return core.Rule{Name: then.Name, Verdict: core.VerdictDeny, Why: noApprovers}
		}
		then.Approvers = []string{core.LocalPerson}
		then.Self = !r.self.set || r.self.value
	}
	then.Approvers, then.Escalate.To = slices.Clone(then.Approvers), slices.Clone(then.Escalate.To)
	then.Remind, then.Notify = slices.Clone(then.Remind), slices.Clone(then.Notify)
	p.addPeople(&then, requester)
	return then
}

// addPeople notes in a rule which accounts are those of one person.
func (p *Policy) addPeople(r *core.Rule, requester core.Actor) {
	if r.Verdict != core.VerdictAsk || len(p.roster.people) == 0 {
		return
	}
	r.People = maps.Clone(p.roster.peopleOf(append(r.Groups(), requester.ID)))
}
