package core_test

import (
	"testing"
	"time"

	"gatehouse/core"
)

// A remembered approval is one of the same call under the same rule, by people who could give it to whoever asks now.
func TestLaw5_ARememberedApprovalHoldsOnlyForTheSame(t *testing.T) {
	rule := core.Rule{Name: "notes", Verdict: core.VerdictAsk, Approvers: []string{"x:bob", "x:ann"}, Remember: time.Hour, People: map[string]string{"y:bob": "bob", "x:bob": "bob"}}
	call := core.Call{Tool: "pay", Digest: "d", Bound: core.Binding{Schema: "s"}}
	approved := core.Approval{State: core.Approved, Requester: ann, Call: call, Rule: rule, Votes: []core.Vote{{Actor: bob, Choice: core.Approve}}}
	for name, c := range map[string]struct {
		change func(a *core.Approval, call *core.Call, rule *core.Rule)
		who    core.Actor
		want   bool
	}{
		"the same again":              {nil, ann, true},
		"for somebody else":           {nil, cat, true},
		"for who approved it":         {nil, bob, false},
		"for their other account":     {nil, core.Actor{ID: "y:bob"}, false},
		"other notes of people":       {func(_ *core.Approval, _ *core.Call, r *core.Rule) { r.People = nil }, ann, true},
		"another rule":                {func(_ *core.Approval, _ *core.Call, r *core.Rule) { r.Name = "others" }, ann, false},
		"a higher quorum":             {func(_ *core.Approval, _ *core.Call, r *core.Rule) { r.Quorum = 2 }, ann, false},
		"other arguments":             {func(_ *core.Approval, c *core.Call, _ *core.Rule) { c.Digest = "e" }, ann, false},
		"another tool":                {func(_ *core.Approval, c *core.Call, _ *core.Rule) { c.Tool = "refund" }, ann, false},
		"another schema":              {func(_ *core.Approval, c *core.Call, _ *core.Rule) { c.Bound.Schema = "t" }, ann, false},
		"another risk":                {func(_ *core.Approval, c *core.Call, _ *core.Rule) { c.Risk = core.Dangerous }, ann, false},
		"denied":                      {func(a *core.Approval, _ *core.Call, _ *core.Rule) { a.State = core.Denied }, ann, false},
		"allowed by the policy":       {func(a *core.Approval, _ *core.Call, _ *core.Rule) { a.Rule.Verdict = core.VerdictAllow }, ann, false},
		"approved by the local admin": {func(a *core.Approval, _ *core.Call, _ *core.Rule) { a.Votes[0].Actor = core.Actor{ID: core.LocalAdmin} }, ann, false},
		"approved before an edit": {func(a *core.Approval, _ *core.Call, _ *core.Rule) {
			a.Votes = append(a.Votes, core.Vote{Actor: bob, Choice: core.Edit})
		}, ann, false},
	} {
		a, asked, today := approved, call, rule
		a.Votes = append([]core.Vote{}, approved.Votes...)
		if c.change != nil {
			c.change(&a, &asked, &today)
		}
		if got := a.Remembers(asked, today, c.who); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestWhoMayWithdraw(t *testing.T) {
	for name, c := range map[string]struct {
		rule core.Rule
		who  core.Actor
		want bool
	}{
		"who asked":                     {core.Rule{Vetoes: 2, Reason: true}, ann, true},
		"the local admin":               {core.Rule{Vetoes: 2}, core.Actor{ID: core.LocalAdmin}, true},
		"an approver":                   {core.Rule{Vetoes: 1}, bob, true},
		"one of several who must deny":  {core.Rule{Vetoes: 2}, bob, false},
		"an approver who owes a reason": {core.Rule{Reason: true}, bob, false},
		"somebody else":                 {core.Rule{}, cat, false},
	} {
		c.rule.Approvers = []string{"x:bob"}
		if got := (core.Approval{Requester: ann, Rule: c.rule}).MayWithdraw(c.who); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
