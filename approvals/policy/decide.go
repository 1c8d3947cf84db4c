package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"gatehouse/core"
)

// Decision is what the policy says of a call, and why.
type Decision struct {
	Rule    core.Rule // the snapshot
	Matched bool      // a rule of the file matched; otherwise the defaults decide
	Expires string    // as the file has it; without a rule: the default timeout, or never
	// the rules, the deciding one among them, whose conditions read the arguments: other arguments may mean another
	// decision
	ByArgs []string
	Line   int        // of the rule in the file
	Failed []Failure  // the conditions that failed, in the order of their rules
	Nobody *core.Rule // of a rule that asks, where nobody could ever approve, so the call is refused: what it says
}

// Decider names the rule that decided, for people.
func (d Decision) Decider() string {
	if !d.Matched {
		return "none matches"
	}
	return d.Rule.Name
}

// Because says what makes that rule decide, for people.
func (d Decision) Because() string {
	if !d.Matched {
		return "no rule is for it"
	}
	text := fmt.Sprintf("line %d", d.Line)
	if n := len(d.Failed); n > 0 && d.Failed[n-1].Matched {
		text += fmt.Sprintf(", whose condition fails (%v)", d.Failed[n-1].Err)
	}
	return text
}

// Happens says in a few words what happens to the call, and with which rules other arguments may be decided otherwise.
func (d Decision) Happens() (text string) {
	switch d.Rule.Verdict {
	case core.VerdictAllow:
		text = "runs without an approval"
	case core.VerdictAsk:
		if text = "asks " + strings.Join(d.Rule.Approvers, ", "); d.Rule.Quorum > 1 {
			text += fmt.Sprintf("; %d must approve", d.Rule.Quorum)
		}
	default:
		text = strings.TrimSuffix("is refused: "+d.Rule.Why, ": ")
	}
	if len(d.ByArgs) > 0 {
		text += fmt.Sprintf(" (other arguments: %s)", strings.Join(d.ByArgs, ", "))
	}
	return text
}

// Failure is a condition that failed when it was evaluated. A rule that allows does not match then; one that asks or
// denies does.
type Failure struct {
	Rule    string
	Err     error
	Matched bool
}

// Rule returns the rule for a call of a turn: the first that matches, as a snapshot. People has the accounts of those
// who are among the approvers, with all their accounts, and of the requester; of all people if a group of a platform or
// the local person is an approver. So a change of other people changes no snapshot.
func (p *Policy) Rule(turn core.Turn, call core.Call) core.Rule { return p.Decide(turn, call).Rule }

// Decide is Rule with the reasons.
func (p *Policy) Decide(turn core.Turn, call core.Call) Decision {
	d := Decision{Expires: Written(p.defaults.Timeout)}
	asks := core.Rule{Verdict: core.VerdictAsk, Self: true}
	if r := p.deciding(turn, call, &d); r != nil {
		d.Rule, d.Matched, d.Expires, d.Line, asks = p.snapshot(r, turn.Actor), true, r.expires, r.at.Line, r.then
	} else {
		d.Rule = p.defaults.Rule(turn, call)
		p.addPeople(&d.Rule, turn.Actor)
		if d.Rule.Verdict == core.VerdictAllow {
			asks.Verdict = core.VerdictAllow
		}
	}
	if Requested(call.Tool) {
		d.Rule.Self = d.Rule.Self && turn.Actor.Local // who holds the agent's token is not a second person
	}
	if why := p.undecidable(d, turn.Actor, Requested(call.Tool)); why != "" {
		asks = d.Rule
		d.Rule = core.Rule{Name: d.Rule.Name, Verdict: core.VerdictDeny, Why: why}
	}
	if asks.Verdict == core.VerdictAsk && d.Rule.Verdict == core.VerdictDeny {
		d.Nobody = &asks
	}
	return d
}

// deciding is the first rule that matches; nil: none does. It notes what the conditions of the rules until there were.
func (p *Policy) deciding(turn core.Turn, call core.Call, d *Decision) *rule {
	var f operands
	var argsErr error
	read := false
	for _, r := range p.rules {
		if !r.covers(call) {
			continue
		}
		if r.when == nil {
			return r
		}
		if !read {
			f, argsErr = p.operands(turn, call)
			read = true
		}
		if r.when.args {
			d.ByArgs = append(d.ByArgs, r.then.Name)
		}
		yes, err := r.matches(f, argsErr)
		if err != nil {
			d.Failed = append(d.Failed, Failure{Rule: r.then.Name, Err: err, Matched: yes})
		}
		if yes {
			return r
		}
	}
	return nil
}

// matches reports whether a rule's condition lets it decide. One that fails, which err says, does unless the rule
// allows.
func (r *rule) matches(f operands, argsErr error) (yes bool, err error) {
	if r.when == nil {
		return true, nil
	}
	if yes, err = r.when.holds(f, argsErr); err != nil {
		return r.then.Verdict != core.VerdictAllow, err
	}
	return yes, nil
}

// covers reports whether a rule is for calls of this tool and risk.
func (r *rule) covers(call core.Call) bool {
	return (len(r.tools) == 0 || slices.ContainsFunc(r.tools, func(glob string) bool {
		return matches(glob, call.Tool)
	})) &&
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

// operands are the variables of conditions; argsErr is why there are no arguments.
func (p *Policy) operands(turn core.Turn, call core.Call) (f operands, argsErr error) {
	f = operands{Tool: call.Tool, Risk: RiskOf(call), Conversation: string(turn.Conversation)}
	f.Requester = p.requester(turn.Actor)
	f.Annotations = annotationsOf(call)
	f.Args, argsErr = arguments(call.Arguments)
	return f, argsErr
}

// requester is who asks, as conditions see them.
func (p *Policy) requester(who core.Actor) requester {
	r := requester{ID: who.ID, Platform: PlatformOf(who.ID), Person: p.roster.people[who.ID]}
	if p.groups {
		r.Groups = p.roster.groupsOf(who)
	}
	return r
}

func annotationsOf(call core.Call) annotations {
	says := call.Annotations
	return annotations{ReadOnly: says.ReadOnly, Destructive: !says.Additive, Idempotent: says.Idempotent}
}

// snapshot is what a rule of the file says, as it is stored with an approval. Nobody but this approval may change its
// lists.
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
	then.Hours.Days = slices.Clone(then.Hours.Days)
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
