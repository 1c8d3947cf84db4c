package core_test

import (
	"testing"
	"time"

	"gatehouse/core"
)

// A remembered approval is one of the same call under the same rule, by people who could give it to whoever asks now.
func TestLaw5_ARememberedApprovalHoldsOnlyForTheSame(t *testing.T) {
	rule := core.Rule{
		Name: "notes", Verdict: core.VerdictAsk, Approvers: []string{"x:bob", "x:ann"}, Remember: time.Hour,
		People: map[string]string{"y:bob": "bob", "x:bob": "bob"},
	}
	call := core.Call{Tool: "pay", Digest: "d", Bound: core.Binding{Schema: "s"}}
	approved := core.Approval{
		State: core.Approved, Requester: ann, Call: call, Rule: rule,
		Votes: []core.Vote{{Actor: bob, Choice: core.Approve, Remember: true}},
	}
	for name, c := range map[string]struct {
		change func(a *core.Approval, call *core.Call, rule *core.Rule)
		who    core.Actor
		want   bool
	}{
		"the same again":          {nil, ann, true},
		"for somebody else":       {nil, cat, true},
		"for who approved it":     {nil, bob, false},
		"for their other account": {nil, core.Actor{ID: "y:bob"}, false},
		"other notes of people":   {func(_ *core.Approval, _ *core.Call, r *core.Rule) { r.People = nil }, ann, true},
		"another rule": {func(_ *core.Approval, _ *core.Call, r *core.Rule) {
			r.Name = "others"
		}, ann, false},
		"a higher quorum": {func(_ *core.Approval, _ *core.Call, r *core.Rule) { r.Quorum = 2 }, ann, false},
		"other arguments": {func(_ *core.Approval, c *core.Call, _ *core.Rule) { c.Digest = "e" }, ann, false},
		"another tool":    {func(_ *core.Approval, c *core.Call, _ *core.Rule) { c.Tool = "refund" }, ann, false},
		"another schema":  {func(_ *core.Approval, c *core.Call, _ *core.Rule) { c.Bound.Schema = "t" }, ann, false},
		"another risk": {func(_ *core.Approval, c *core.Call, _ *core.Rule) {
			c.Risk = core.Dangerous
		}, ann, false},
		"pressed for once": {func(a *core.Approval, _ *core.Call, _ *core.Rule) {
			a.Votes[0].Remember = false
		}, ann, false},
		"stopped": {func(a *core.Approval, _ *core.Call, _ *core.Rule) {
			a.Votes = append(a.Votes, core.Vote{Actor: ann, Choice: core.Forget})
		}, ann, false},
		"dangerous": {func(a *core.Approval, c *core.Call, _ *core.Rule) {
			a.Call.Risk, c.Risk = core.Dangerous, core.Dangerous
		}, ann, false},
		"dangerous, and the rule says so": {func(a *core.Approval, c *core.Call, r *core.Rule) {
			a.Call.Risk, c.Risk = core.Dangerous, core.Dangerous
			a.Rule.RememberDangerous, r.RememberDangerous = true, true
		}, ann, true},
		"one of two who remembers it": {func(a *core.Approval, _ *core.Call, r *core.Rule) {
			a.Rule.Quorum, r.Quorum = 2, 2
			a.Votes = append(a.Votes, core.Vote{Actor: core.Actor{ID: "x:cat"}, Choice: core.Approve})
		}, ann, false},
		"by whom it was escalated to, a moment before that was stored": {func(a *core.Approval, _ *core.Call,
			r *core.Rule) {
			a.Rule.Escalate = core.Escalation{After: time.Minute, To: []string{"x:dan"}}
			r.Escalate = a.Rule.Escalate
			a.CreatedAt = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
			a.DecidedAt = a.CreatedAt.Add(2 * time.Minute)
			a.Votes[0].Actor = core.Actor{ID: "x:dan"}
		}, ann, true},
		"a use of another one": {func(a *core.Approval, _ *core.Call, _ *core.Rule) {
			a.Use = &core.Use{Of: "a0"}
		}, ann, false},
		"denied": {func(a *core.Approval, _ *core.Call, _ *core.Rule) {
			a.State = core.Denied
		}, ann, false},
		"allowed by the policy": {func(a *core.Approval, _ *core.Call, _ *core.Rule) {
			a.Rule.Verdict = core.VerdictAllow
		}, ann, false},
		"approved by the local admin": {func(a *core.Approval, _ *core.Call, _ *core.Rule) {
			a.Votes[0].Actor = core.Actor{ID: core.LocalAdmin}
		}, ann, false},
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

// A remembered approval allows as many calls as its rule says, until then, and none after that.
func TestLaw5_EachUseIsCounted(t *testing.T) {
	decided := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	a := core.Approval{
		ID: "a1", State: core.Approved, DecidedAt: decided,
		Rule:  core.Rule{Verdict: core.VerdictAsk, Remember: time.Hour, Approvers: []string{bob.ID}},
		Votes: []core.Vote{{Actor: bob, Choice: core.Approve, Remember: true}},
	}
	for _, c := range []struct {
		uses, most int
		after      time.Duration
		want       int
	}{
		{0, 0, 0, 1}, {4, 0, 0, 5}, {5, 0, 0, 0}, {0, 1, 0, 1}, {1, 1, 0, 0}, {0, 0, time.Hour - 1, 1},
		{0, 0, time.Hour, 0},
	} {
		a.Rule.RememberUses = c.most
		got := 0
		if use := a.NextUse(c.uses, decided.Add(c.after)); use != nil {
			got = use.N
		}
		if got != c.want {
			t.Errorf("after %d of %d uses and %s: use %d, want %d", c.uses, c.most, c.after, got, c.want)
		}
	}
}

// Who may stop what is remembered: who asked, and who may decide; once, and only while it is remembered.
func TestWhoMayForget(t *testing.T) {
	decided := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	a := core.Approval{
		State: core.Approved, DecidedAt: decided, Requester: ann,
		Rule:  core.Rule{Verdict: core.VerdictAsk, Remember: time.Hour, Approvers: []string{"x:bob"}},
		Votes: []core.Vote{{Actor: bob, Choice: core.Approve, Remember: true}},
	}
	forget := func(a core.Approval, who core.Actor, after time.Duration) (core.Decided, error) {
		return a.Decide(core.Decision{Vote: &core.Vote{Actor: who, Choice: core.Forget}}, decided.Add(after))
	}
	for name, c := range map[string]struct {
		who   core.Actor
		after time.Duration
		want  core.Category
	}{
		"who asked": {ann, 0, ""}, "an approver": {bob, 0, ""}, "somebody else": {cat, 0, core.NotAllowed},
		"too late": {ann, time.Hour, core.ApprovalDecided},
	} {
		d, err := forget(a, c.who, c.after)
		if core.CategoryOf(err) != c.want || d.Settled || d.Counted != (err == nil) ||
			d.Approval.State != core.Approved {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
		if err != nil {
			continue
		}
		if d.Approval.Memory() != (core.Memory{}) || len(d.Approval.Standing()) != 1 {
			t.Errorf("%s: it is still remembered, or its approval counts no more: %+v", name, d.Approval)
		}
		if _, err := forget(d.Approval, c.who, c.after); core.CategoryOf(err) != core.ApprovalDecided {
			t.Errorf("%s, twice: %v", name, err)
		}
	}
}
