package policy

import (
	"slices"
	"strings"
	"time"

	"gatehouse/core"
)

// Defaults are the policy where no rule of a file matches, and the whole policy if there is no file. With the zero
// Defaults the local person decides, and requests from elsewhere are refused.
type Defaults struct {
	Approvers []string       // ids of people and groups
	Timeout   time.Duration  // 0: no deadline
	Platforms core.Platforms // those that ids may begin with
}

// ParseApprovers parses GATEHOUSE_APPROVERS, a comma-separated list of ids, each beginning with its platform, one that
// people act on. It reports all malformed ids, or else all of other platforms, in one error of category invalid.
func ParseApprovers(list string, timeout time.Duration, known core.Platforms) (Defaults, error) {
	d := Defaults{Timeout: timeout, Platforms: known}
	acting := slices.DeleteFunc(slices.Clone(known), func(p core.KnownPlatform) bool { return p.Person.Example == "" })
	var bad, foreign []string
	odd := "" // about an id that is none of its platform
	for _, id := range strings.Split(list, ",") {
		id = strings.TrimSpace(id)
		platform, name, _ := strings.Cut(id, ":")
		switch _, _, ok := acting.Of(id); {
		case id == "":
		case platform == "" || name == "":
			bad = append(bad, id)
		case !ok:
			foreign = append(foreign, id)
		case odd == "" && checked(known, id) != "":
			odd = checked(known, id)
		default:
			d.Approvers = append(d.Approvers, id)
		}
	}
	if len(bad) > 0 {
		return Defaults{}, core.Errorf(core.Invalid, "GATEHOUSE_APPROVERS: %q is not of the form platform:id, such "+
			"as %s.", strings.Join(bad, `", "`), known.Meant(bad[0]))
	}
	if len(foreign) > 0 {
		return Defaults{}, core.Errorf(core.Invalid, "GATEHOUSE_APPROVERS: %s: there is no such platform; begin each "+
			"id with %s.",
			strings.Join(foreign, ", "), acting.Prefixes())
	}
	if odd != "" {
		return Defaults{}, core.Errorf(core.Invalid, "GATEHOUSE_APPROVERS: %s.", odd)
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
	if rule.Approvers = slices.Clone(d.Approvers); len(d.Approvers) > 0 {
		return rule
	}
	if turn.Actor.Local {
		rule.Name, rule.Approvers = "local person", []string{core.LocalPerson}
		return rule
	}
	return core.Rule{Name: "no approvers", Verdict: core.VerdictDeny, Why: noApprovers}
}

const noApprovers = "No approvers are configured for changes requested here. An admin can set them with " +
	"GATEHOUSE_APPROVERS."
