package core

import (
	"bytes"
	"encoding/json"
)

// Remembers reports whether this approval allows a call of another requester, or of the same, under today's rule for that: the call, the tool's
// schema and the rule are the same, and those who approved could approve it for the requester. How long ago it was decided does not matter here.
func (a Approval) Remembers(call Call, rule Rule, requester Actor) bool {
	if a.State != Approved || a.Rule.Verdict != VerdictAsk || a.Call.Tool != call.Tool || a.Call.Digest != call.Digest || a.Call.Risk != call.Risk ||
		a.Call.Bound.Schema != call.Bound.Schema || !a.Rule.Same(rule) {
		return false
	}
	a.Rule, a.Requester = rule, requester
	approvals := 0
	for _, v := range a.Standing() {
		if v.Choice == Approve && rule.MayDecide(v.Actor, requester) {
			approvals++
		}
	}
	return approvals >= max(1, rule.Quorum)
}

// Same reports whether two rules say the same. Which accounts are noted as one person's depends on the requester, so it does not count.
func (r Rule) Same(other Rule) bool {
	r.People, other.People = nil, nil
	one, err := json.Marshal(r)
	two, err2 := json.Marshal(other)
	return err == nil && err2 == nil && bytes.Equal(one, two)
}
