package policy

import (
	"strings"
	"time"

	"gatehouse/core"
)

// Defaults are the policy where no rule of a file matches, and the whole policy if there is no file. With the zero Defaults the local person
// decides, and requests from elsewhere are refused.
type Defaults struct {
	Approvers []string      // ids of people and groups, "slack:U123"
	Timeout   time.Duration // 0: no deadline
}

// ParseApprovers parses GATEHOUSE_APPROVERS, a comma-separated list of ids, each beginning with its platform. It reports all malformed ids
// in one error of category invalid.
func ParseApprovers(list string, timeout time.Duration) (Defaults, error) {
	d := Defaults{Timeout: timeout}
	var bad []string
	for _, id := range strings.Split(list, ",") {
		id = strings.TrimSpace(id)
		platform, name, ok := strings.Cut(id, ":")
		switch {
		case id == "":
		case !ok || platform == "" || name == "":
			bad = append(bad, id)
		default:
			d.Approvers = append(d.Approvers, id)
		}
	}
	if len(bad) > 0 {
		return Defaults{}, core.Errorf(core.Invalid, "GATEHOUSE_APPROVERS: %q is not of the form platform:id, such as slack:U123.", strings.Join(bad, `", "`))
	}
	if timeout < 0 {
		return Defaults{}, core.Errorf(core.Invalid, "GATEHOUSE_APPROVAL_TIMEOUT must not be negative.")
	}
	return d, nil
}

// Rule returns the rule for a call of a turn: what only reads is allowed, anything else needs an approver.
func (d Defaults) Rule(turn core.Turn, call core.Call) core.Rule {
	if call.Risk == core.ReadOnly {
		return core.Rule{Verdict: core.VerdictAllow}
	}
	rule := core.Rule{Name: "approvers", Verdict: core.VerdictAsk, Self: true, Timeout: d.Timeout}
	if rule.Approvers = d.Approvers; len(d.Approvers) > 0 {
		return rule
	}
	if turn.Actor.Local {
		rule.Name, rule.Approvers = "local person", []string{core.LocalPerson}
		return rule
	}
	return core.Rule{Name: "no approvers", Verdict: core.VerdictDeny, Why: noApprovers}
}

const noApprovers = "No approvers are configured for changes requested here. An admin can set them with GATEHOUSE_APPROVERS."
