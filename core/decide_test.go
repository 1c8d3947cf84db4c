package core_test

import (
	"encoding/json"
	"testing"
	"time"

	"gatehouse/core"
)

var (
	noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	ann  = core.Actor{ID: "x:ann", Name: "Ann"}
	bob  = core.Actor{ID: "x:bob", Name: "Bob"}
	cat  = core.Actor{ID: "x:cat", Name: "Cat", Groups: []string{"x:group:ops"}}
	here = core.Actor{ID: "y:me", Local: true}
)

func vote(event int64, who core.Actor, c core.Choice) core.Decision {
	return core.Decision{Approval: "a1", Event: event, Vote: &core.Vote{Actor: who, Choice: c, Reason: "because"}}
}

func TestLaw7_DecideUsesTheStoredApproval(t *testing.T) {
	rule := core.Rule{Approvers: []string{"x:bob", "x:group:ops"}}
	open := core.Approval{ID: "a1", State: core.Open, Requester: ann, Rule: rule}
	with := func(change func(*core.Approval)) core.Approval {
		a := open
		change(&a)
		return a
	}
	for name, c := range map[string]struct {
		a     core.Approval
		d     core.Decision
		at    time.Time
		state core.ApprovalState
		fail  core.Category
	}{
		"an approver approves":        {open, vote(1, bob, core.Approve), noon, core.Approved, ""},
		"an approver refuses":         {open, vote(1, bob, core.Deny), noon, core.Denied, ""},
		"a member of a group":         {open, vote(1, cat, core.Approve), noon, core.Approved, ""},
		"a stranger":                  {open, vote(1, here, core.Approve), noon, core.Open, core.NotAllowed},
		"the requester":               {open, vote(1, ann, core.Approve), noon, core.Open, core.NotAllowed},
		"the requester, listed":       {with(func(a *core.Approval) { a.Rule.Approvers = []string{"x:ann"} }), vote(1, ann, core.Approve), noon, core.Open, core.NotAllowed},
		"the requester, allowed":      {with(func(a *core.Approval) { a.Rule = core.Rule{Approvers: []string{"x:ann"}, Self: true} }), vote(1, ann, core.Approve), noon, core.Approved, ""},
		"the local person":            {with(func(a *core.Approval) { a.Rule = core.Rule{Approvers: []string{core.LocalPerson}} }), vote(1, here, core.Approve), noon, core.Approved, ""},
		"local is not for others":     {with(func(a *core.Approval) { a.Rule = core.Rule{Approvers: []string{core.LocalPerson}} }), vote(1, bob, core.Approve), noon, core.Open, core.NotAllowed},
		"an unknown choice":           {open, vote(1, bob, "maybe"), noon, core.Open, core.Invalid},
		"at the deadline it is late":  {with(func(a *core.Approval) { a.Deadline = noon }), vote(1, bob, core.Approve), noon, core.Open, core.ApprovalExpired},
		"before the deadline":         {with(func(a *core.Approval) { a.Deadline = noon.Add(1) }), vote(1, bob, core.Approve), noon, core.Approved, ""},
		"expiry in time":              {with(func(a *core.Approval) { a.Deadline = noon }), core.Decision{Expire: true}, noon, core.Expired, ""},
		"expiry too soon":             {with(func(a *core.Approval) { a.Deadline = noon.Add(1) }), core.Decision{Expire: true}, noon, core.Open, core.Invalid},
		"expiry without a deadline":   {open, core.Decision{Expire: true}, noon, core.Open, core.Invalid},
		"cancelled":                   {open, core.Decision{Cancel: true, By: ann}, noon, core.Cancelled, ""},
		"cancelled after a refusal":   {with(func(a *core.Approval) { a.State = core.Denied }), core.Decision{Cancel: true}, noon, core.Denied, core.ApprovalDecided},
		"a second decision":           {with(func(a *core.Approval) { a.State = core.Approved }), vote(2, bob, core.Deny), noon, core.Approved, core.ApprovalDecided},
		"half of a quorum":            {with(func(a *core.Approval) { a.Rule.Quorum = 2 }), vote(1, bob, core.Approve), noon, core.Open, ""},
		"one refusal vetoes a quorum": {with(func(a *core.Approval) { a.Rule.Quorum = 2 }), vote(1, bob, core.Deny), noon, core.Denied, ""},
		"nothing asked":               {open, core.Decision{}, noon, core.Open, core.Invalid},
		"the admin":                   {with(func(a *core.Approval) { a.Rule.Quorum = 3 }), core.Decision{Admin: true, Vote: &core.Vote{Actor: here, Choice: core.Approve}}, noon, core.Approved, ""},
	} {
		got, err := c.a.Decide(c.d, c.at)
		if got.Approval.State != c.state || core.CategoryOf(err) != c.fail {
			t.Errorf("%s: %s, %q; want %s, %q", name, got.Approval.State, core.CategoryOf(err), c.state, c.fail)
		}
		if got.Settled != (err == nil && c.state != core.Open) {
			t.Errorf("%s: settled %v", name, got.Settled)
		}
	}
}

func TestLaw7_CountsAPressOnceAndAPersonOnce(t *testing.T) {
	a := core.Approval{ID: "a1", State: core.Open, Requester: ann, Rule: core.Rule{Approvers: []string{"x:bob", "x:group:ops"}, Quorum: 2}}
	first, err := a.Decide(vote(7, bob, core.Approve), noon)
	if err != nil || len(first.Approval.Votes) != 1 {
		t.Fatalf("first: %v, %v", first, err)
	}
	again, err := first.Approval.Decide(vote(7, bob, core.Approve), noon)
	if err != nil || !again.Counted || len(again.Approval.Votes) != 1 {
		t.Errorf("the same press again: %+v, %v", again, err)
	}
	if _, err := first.Approval.Decide(vote(8, bob, core.Approve), noon); core.CategoryOf(err) != core.ApprovalDecided {
		t.Errorf("a second press of the same person: %v", err)
	}
	second, err := first.Approval.Decide(vote(9, cat, core.Approve), noon)
	if err != nil || second.Approval.State != core.Approved {
		t.Errorf("the second person: %+v, %v", second, err)
	}
	if len(a.Votes) != 0 || len(first.Approval.Votes) != 1 {
		t.Errorf("Decide changed its receiver")
	}
}

func TestTheSignalNamesItsPauseAndHasAFixedID(t *testing.T) {
	a := core.Approval{ID: "a1", Invocation: "i1", Conversation: "x:room", Address: core.Address{Platform: "x"}, State: core.Denied, Reason: "no", DecidedBy: bob}
	e := a.Signal()
	if e.ID != "signal/a1" || e.Kind() != core.KindSignal || e.Conversation != "x:room" || e.Platform != "x" {
		t.Errorf("event: %+v", e)
	}
	var p core.SignalPayload
	if err := json.Unmarshal(e.Payload, &p); err != nil {
		t.Fatal(err)
	}
	var d core.DecisionPayload
	if err := json.Unmarshal(p.Payload["decision"], &d); err != nil {
		t.Fatal(err)
	}
	if p.SignalID != "a1" || p.Invocation != "i1" || d != (core.DecisionPayload{Approval: "a1", State: core.Denied, By: "Bob", Reason: "no"}) {
		t.Errorf("payload: %+v, %+v", p, d)
	}
}
