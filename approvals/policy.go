package approvals

import (
	"strings"
	"time"

	"gatehouse/core"
)

// Policy decides what happens to a mutating call. The zero Policy applies if no approvers are configured: the local person decides, and
// requests from elsewhere are refused.
type Policy struct {
	Approvers []string      // actor and group ids, "slack:U123"
	Timeout   time.Duration // 0: no deadline
}

// ParsePolicy parses GATEHOUSE_APPROVERS, a comma-separated list of ids, each beginning with its platform. It reports all malformed ids in
// one error of category invalid.
func ParsePolicy(list string, timeout time.Duration) (Policy, error) {
	p := Policy{Timeout: timeout}
	var bad []string
	for _, id := range strings.Split(list, ",") {
		id = strings.TrimSpace(id)
		platform, name, ok := strings.Cut(id, ":")
		switch {
		case id == "":
		case !ok || platform == "" || name == "":
			bad = append(bad, id)
		default:
			p.Approvers = append(p.Approvers, id)
		}
	}
	if len(bad) > 0 {
		return Policy{}, core.Errorf(core.Invalid, "GATEHOUSE_APPROVERS: %q is not of the form platform:id, such as slack:U123.", strings.Join(bad, `", "`))
	}
	if timeout < 0 {
		return Policy{}, core.Errorf(core.Invalid, "GATEHOUSE_APPROVAL_TIMEOUT must not be negative.")
	}
	return p, nil
}

// Rule returns the rule for a call of a turn. What only reads is allowed.
func (p Policy) Rule(turn core.Turn, call core.Call) core.Rule {
	switch {
	case call.Risk == core.ReadOnly:
		return core.Rule{Verdict: core.VerdictAllow}
	case len(p.Approvers) > 0:
		return core.Rule{Name: "approvers", Verdict: core.VerdictAsk, Approvers: p.Approvers, Self: true, Timeout: p.Timeout}
	case turn.Actor.Local:
		return core.Rule{Name: "local person", Verdict: core.VerdictAsk, Approvers: []string{core.LocalPerson}, Self: true, Timeout: p.Timeout}
	}
	return core.Rule{Name: "no approvers", Verdict: core.VerdictDeny,
		Why: "No approvers are configured for changes requested here. An admin can set them with GATEHOUSE_APPROVERS."}
}
