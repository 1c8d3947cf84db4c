package core_test

import (
	"encoding/json"
	"reflect"
	"strings"
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
	escalated := with(func(a *core.Approval) {
		a.CreatedAt, a.Rule.Escalate = noon, core.Escalation{After: time.Hour, To: []string{core.LocalPerson}}
	})
	people := with(func(a *core.Approval) {
		a.Rule.People = map[string]string{"x:ann": "ann", "y:ann": "ann", "x:bob": "bob", "y:bob": "bob"}
	})
	for name, c := range map[string]struct {
		a     core.Approval
		d     core.Decision
		at    time.Time
		state core.ApprovalState
		fail  core.Category
	}{
		"an approver approves": {open, vote(1, bob, core.Approve), noon, core.Approved, ""},
		"an approver refuses":  {open, vote(1, bob, core.Deny), noon, core.Denied, ""},
		"a member of a group":  {open, vote(1, cat, core.Approve), noon, core.Approved, ""},
		"a stranger":           {open, vote(1, here, core.Approve), noon, core.Open, core.NotAllowed},
		"the requester":        {open, vote(1, ann, core.Approve), noon, core.Open, core.NotAllowed},
		"the requester, listed": {with(func(a *core.Approval) {
			a.Rule.Approvers = []string{"x:ann"}
		}), vote(1, ann, core.Approve), noon, core.Open, core.NotAllowed},
		"the requester, allowed": {with(func(a *core.Approval) {
			a.Rule = core.Rule{Approvers: []string{"x:ann"}, Self: true}
		}), vote(1, ann, core.Approve), noon, core.Approved, ""},
		"the local person": {with(func(a *core.Approval) {
			a.Rule = core.Rule{Approvers: []string{core.LocalPerson}}
		}), vote(1, here, core.Approve), noon, core.Approved, ""},
		"local is not for others": {with(func(a *core.Approval) {
			a.Rule = core.Rule{Approvers: []string{core.LocalPerson}}
		}), vote(1, bob, core.Approve), noon, core.Open, core.NotAllowed},
		"an unknown choice": {open, vote(1, bob, "maybe"), noon, core.Open, core.Invalid},
		"at the deadline it is late": {with(func(a *core.Approval) {
			a.Deadline = noon
		}), vote(1, bob, core.Approve), noon, core.Open, core.ApprovalExpired},
		"before the deadline": {with(func(a *core.Approval) {
			a.Deadline = noon.Add(1)
		}), vote(1, bob, core.Approve), noon, core.Approved, ""},
		"expiry in time": {with(func(a *core.Approval) {
			a.Deadline = noon
		}), core.Decision{Expire: true}, noon, core.Expired, ""},
		"expiry too soon": {with(func(a *core.Approval) {
			a.Deadline = noon.Add(1)
		}), core.Decision{Expire: true}, noon, core.Open, core.Invalid},
		"expiry without a deadline": {open, core.Decision{Expire: true}, noon, core.Open, core.Invalid},
		"cancelled":                 {open, core.Decision{Cancel: true, By: ann}, noon, core.Cancelled, ""},
		"cancelled after a refusal": {with(func(a *core.Approval) {
			a.State = core.Denied
		}), core.Decision{Cancel: true}, noon, core.Denied, core.ApprovalDecided},
		"a second decision": {with(func(a *core.Approval) {
			a.State = core.Approved
		}), vote(2, bob, core.Deny), noon, core.Approved, core.ApprovalDecided},
		"half of a quorum": {with(func(a *core.Approval) {
			a.Rule.Quorum = 2
		}), vote(1, bob, core.Approve), noon, core.Open, ""},
		"one refusal vetoes a quorum": {with(func(a *core.Approval) {
			a.Rule.Quorum = 2
		}), vote(1, bob, core.Deny), noon, core.Denied, ""},
		"the first of two vetoes": {with(func(a *core.Approval) {
			a.Rule.Vetoes = 2
		}), vote(1, bob, core.Deny), noon, core.Open, ""},
		"a denial without a reason": {with(func(a *core.Approval) {
			a.Rule.Reason = true
		}), core.Decision{Vote: &core.Vote{Actor: bob, Choice: core.Deny, Reason: " "}}, noon, core.Open, core.Invalid},
		"a denial with the reason": {with(func(a *core.Approval) {
			a.Rule.Reason = true
		}), vote(1, bob, core.Deny), noon, core.Denied, ""},
		"too early for an escalation": {
			escalated, vote(1, here, core.Approve), noon.Add(time.Hour - 1), core.Open, core.NotAllowed,
		},
		"after the escalation": {
			escalated, vote(1, here, core.Approve), noon.Add(time.Hour), core.Approved, "",
		},
		"the first ones, after it": {
			escalated, vote(1, bob, core.Approve), noon.Add(time.Hour), core.Approved, "",
		},
		"another account of an approver": {
			people, vote(1, core.Actor{ID: "y:bob"}, core.Approve), noon, core.Approved, "",
		},
		"another account of who asked": {
			people, vote(1, core.Actor{ID: "y:ann", Groups: []string{"x:group:ops"}}, core.Approve), noon, core.Open,
			core.NotAllowed,
		},
		"withdrawn from another account": {
			people, core.Decision{Event: 1, Vote: &core.Vote{Actor: core.Actor{ID: "y:ann"}, Choice: core.Withdraw}},
			noon, core.Cancelled, "",
		},
		"nothing asked": {open, core.Decision{}, noon, core.Open, core.Invalid},
		"the admin": {with(func(a *core.Approval) {
			a.Rule.Quorum = 3
		}), core.Decision{Admin: true, Vote: &core.Vote{Actor: here, Choice: core.Approve}}, noon, core.Approved, ""},
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
	a := core.Approval{
		ID: "a1", State: core.Open, Requester: ann,
		Rule: core.Rule{Approvers: []string{"x:bob", "x:group:ops"}, Quorum: 2},
	}
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

func TestLaw7_PeopleCountAndNotAccounts(t *testing.T) {
	a := core.Approval{ID: "a1", State: core.Open, Requester: ann, Rule: core.Rule{
		Approvers: []string{"x:bob", "x:group:ops"}, Quorum: 2, Vetoes: 2,
		People: map[string]string{"x:bob": "bob", "y:bob": "bob"},
	}}
	decide := func(d core.Decision, state core.ApprovalState, fails core.Category) {
		t.Helper()
		got, err := a.Decide(d, noon)
		if got.Approval.State != state || core.CategoryOf(err) != fails {
			t.Fatalf("%s, %v; want %s, %q", got.Approval.State, err, state, fails)
		}
		a = got.Approval
	}
	other := core.Actor{ID: "y:bob", Groups: []string{"x:group:ops"}}
	decide(vote(1, bob, core.Approve), core.Open, "")
	decide(vote(2, other, core.Approve), core.Open, core.ApprovalDecided)
	decide(vote(3, other, core.Deny), core.Open, "") // bob thinks better of it
	if votes := a.Standing(); len(votes) != 1 || votes[0].Choice != core.Deny || votes[0].Actor.ID != "y:bob" ||
		len(a.Votes) != 2 {
		t.Errorf("got %+v", votes)
	}
	decide(vote(4, cat, core.Approve), core.Open, "")
	decide(vote(5, bob, core.Approve), core.Approved, "") // and again
	decide(vote(6, bob, core.Deny), core.Approved, core.ApprovalDecided)
}

func TestAPersonVotesAndEditsALimitedNumberOfTimes(t *testing.T) {
	rule := core.Rule{
		Approvers: []string{"x:bob", "x:group:ops"}, Quorum: 2, Vetoes: 2, Edit: true,
		People: map[string]string{"x:bob": "bob", "y:bob": "bob"},
	}
	accounts := []core.Actor{bob, {ID: "y:bob"}} // of one person
	for name, choices := range map[string][]core.Choice{
		"votes": {core.Approve, core.Deny}, "changes": {core.Edit, core.Edit},
	} {
		a := core.Approval{ID: "a1", State: core.Open, Requester: ann, Rule: rule}
		next := func(who core.Actor) (core.Decided, error) {
			n := len(a.Votes)
			d := vote(int64(n+1), who, choices[n%2])
			d.Vote.Edits, d.Edit = a.Edits(), &core.Call{Tool: "pay"}
			return a.Decide(d, noon)
		}
		for n := range core.MaxVotes {
			got, err := next(accounts[n/2%2])
			if err != nil {
				t.Fatalf("%s, %d: %v", name, n, err)
			}
			a = got.Approval
		}
		got, err := next(bob)
		if core.CategoryOf(err) != core.ApprovalDecided || !strings.Contains(core.MessageOf(err), "20 times") ||
			len(got.Approval.Votes) != core.MaxVotes {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := next(cat); err != nil {
			t.Errorf("%s of another person: %v", name, err)
		}
	}
}

func TestLaw7_WhoApprovedOtherArgumentsHasNotApproved(t *testing.T) {
	a := core.Approval{
		ID: "a1", State: core.Open, Requester: ann, Call: core.Call{Tool: "pay", Digest: "d0"}, Rule: core.Rule{
			Approvers: []string{"x:bob", "x:group:ops"}, Quorum: 2, Vetoes: 2, Edit: true,
		},
	}
	edit := func(event int64, who core.Actor, edits int, digest string) core.Decision {
		d := vote(event, who, core.Edit)
		d.Vote.Edits, d.Edit = edits, &core.Call{Tool: "pay", Digest: digest}
		return d
	}
	on := func(d core.Decision, edits int) core.Decision {
		d.Vote.Edits = edits
		return d
	}
	decide := func(d core.Decision, state core.ApprovalState, fails core.Category) {
		t.Helper()
		got, err := a.Decide(d, noon)
		if got.Approval.State != state || core.CategoryOf(err) != fails {
			t.Fatalf("%s, %v; want %s, %q", got.Approval.State, err, state, fails)
		}
		a = got.Approval
	}
	decide(edit(1, ann, 0, "d1"), core.Open, core.NotAllowed)
	decide(vote(2, bob, core.Approve), core.Open, "")
	decide(vote(3, here, core.Deny), core.Open, core.NotAllowed)
	decide(edit(4, cat, 0, "d1"), core.Open, "")
	decide(edit(4, cat, 0, "d1"), core.Open, "") // the same press again
	if a.Call.Digest != "d1" || a.Requested != "d0" || a.Edits() != 1 || a.Editor().ID != cat.ID ||
		len(a.Standing()) != 0 {
		t.Errorf("%+v", a)
	}
	decide(vote(5, bob, core.Approve), core.Open, core.Invalid)   // of the card as it was
	decide(edit(6, bob, 0, "d2"), core.Open, core.Invalid)        // likewise
	decide(on(vote(7, bob, core.Deny), 0), core.Open, "")         // a denial is of the request
	decide(edit(8, cat, 1, "d2"), core.Open, "")                  // which it outlasts
	decide(on(vote(9, bob, core.Approve), 2), core.Open, "")      // he thinks better of it
	decide(on(vote(10, cat, core.Approve), 2), core.Approved, "") // and this is the second
	decide(edit(11, cat, 2, "d3"), core.Approved, core.ApprovalDecided)
	if a.Call.Digest != "d2" || a.Requested != "d0" {
		t.Errorf("%+v", a)
	}
	a.State, a.Rule.Edit = core.Open, false
	decide(edit(12, cat, 2, "d3"), core.Open, core.NotAllowed)
}

func TestLaw7_OnlyWhoAskedWithdrawsWhatTheyAskedFor(t *testing.T) {
	open := core.Approval{
		ID: "a1", State: core.Open, Requester: ann, Deadline: noon,
		Rule: core.Rule{Approvers: []string{"x:bob", "x:ann"}, Quorum: 2},
	}
	got, err := open.Decide(vote(7, ann, core.Withdraw), noon)
	if a := got.Approval; err != nil || !got.Settled || a.State != core.Cancelled || a.DecidedBy.ID != ann.ID ||
		a.Reason != "withdrawn by Ann" || len(a.Votes) != 0 || !a.DecidedAt.Equal(noon) {
		t.Errorf("who asked: %+v, %v", got, err)
	}
	again, err := got.Approval.Decide(vote(7, ann, core.Withdraw), noon)
	if err != nil || !again.Counted || !again.Settled {
		t.Errorf("the same press again: %+v, %v", again, err)
	}
	if _, err := got.Approval.Decide(vote(8, ann, core.Withdraw),
		noon.Add(1)); core.CategoryOf(err) != core.ApprovalDecided ||
		!strings.Contains(core.MessageOf(err), "cancelled") {
		t.Errorf("a second press: %v", err)
	}
	for name, d := range map[string]core.Decision{
		"an approver": vote(9, bob, core.Withdraw), "a stranger": vote(9, cat, core.Withdraw),
		"the admin": {Admin: true, Vote: &core.Vote{Actor: core.Actor{ID: core.LocalAdmin}, Choice: core.Withdraw}},
	} {
		got, err := open.Decide(d, noon)
		if got.Approval.State != core.Open || core.CategoryOf(err) != core.NotAllowed ||
			core.MessageOf(err) != "Only the person who asked can withdraw this request." {
			t.Errorf("%s: %s, %v", name, got.Approval.State, err)
		}
	}
	decided := open
	decided.State, decided.DecidedBy, decided.DecidedAt = core.Denied, bob, noon
	if _, err := decided.Decide(vote(9, ann, core.Withdraw), noon); core.MessageOf(err) != decided.StateSentence() {
		t.Errorf("decided before: %v", err)
	}
}

func TestLaw7_AnAlteredRequestCanBeDeniedAndNotApproved(t *testing.T) {
	a := core.Approval{ID: "a1", State: core.Open, Requester: ann, Rule: core.Rule{Approvers: []string{"x:bob"}}}
	d := vote(7, bob, core.Approve)
	d.Altered = true
	got, err := a.Decide(d, noon)
	if got.Approval.State != core.Open || core.CategoryOf(err) != core.Invalid ||
		!strings.Contains(core.MessageOf(err), "not the one that was asked for") {
		t.Errorf("%+v, %v", got, err)
	}
	d.Admin = true
	if _, err := a.Decide(d, noon); core.CategoryOf(err) != core.Invalid {
		t.Errorf("the admin: %v", err)
	}
	if got, err := a.Decide(vote(8, bob, core.Deny), noon); err != nil || got.Approval.State != core.Denied {
		t.Errorf("denied: %+v, %v", got, err)
	}
}

func TestARefusalSaysWhy(t *testing.T) {
	const stranger, own = "You are not an approver of this request.",
		"You asked for this yourself, so another approver has to decide."
	for name, c := range map[string]struct {
		rule core.Rule
		who  core.Actor
		want string
	}{
		"an approver":                        {core.Rule{Approvers: []string{"x:bob"}}, bob, ""},
		"a stranger":                         {core.Rule{Approvers: []string{"x:bob"}}, here, stranger},
		"who asked, no approver":             {core.Rule{Approvers: []string{"x:bob"}}, ann, stranger},
		"who asked, no approver, may decide": {core.Rule{Approvers: []string{"x:bob"}, Self: true}, ann, stranger},
		"who asked, an approver":             {core.Rule{Approvers: []string{"x:ann", "x:bob"}}, ann, own},
		"who asked, by a group": {
			core.Rule{Approvers: []string{"x:group:ops"}}, core.Actor{ID: ann.ID, Groups: cat.Groups}, own,
		},
		"who asked, an approver, may decide": {core.Rule{Approvers: []string{"x:ann"}, Self: true}, ann, ""},
		"who asked, the local person": {
			core.Rule{Approvers: []string{core.LocalPerson}}, core.Actor{ID: ann.ID, Local: true}, own,
		},
		"a member of a group of approvers":     {core.Rule{Approvers: []string{"x:group:ops"}}, cat, ""},
		"a group that is not looked up so far": {core.Rule{Approvers: []string{"x:group:ops"}}, bob, stranger},
	} {
		a := core.Approval{ID: "a1", State: core.Open, Requester: ann, Rule: c.rule}
		_, voted := a.Decide(vote(1, c.who, core.Approve), noon)
		shown := core.Card{Approvers: c.rule.Approvers, Self: c.rule.Self, Requested: ann}.Refusal(c.who)
		for from, err := range map[string]error{"the decision": voted, "the card": shown} {
			if got := core.MessageOf(err); got != c.want || err != nil && core.CategoryOf(err) != core.NotAllowed {
				t.Errorf("%s, %s: %q (%v), want %q", name, from, got, err, c.want)
			}
		}
		if c.rule.MayDecide(c.who, ann) != (c.want == "") {
			t.Errorf("%s: MayDecide disagrees", name)
		}
	}
}

func TestOnlyWhoAskedAsksAgainForWhatExpired(t *testing.T) {
	a := core.Approval{ID: "a1", State: core.Expired, Requester: ann, DecidedAt: noon}
	if err := a.RefusalToAskAgain(ann); err != nil {
		t.Errorf("who asked: %v", err)
	}
	if err := a.RefusalToAskAgain(bob); core.CategoryOf(err) != core.NotAllowed ||
		core.MessageOf(err) != "Only the person who asked can ask again." {
		t.Errorf("somebody else: %v", err)
	}
	for state, want := range map[core.ApprovalState]core.Category{
		core.Open: core.Invalid, core.Approved: core.ApprovalDecided, core.Denied: core.ApprovalDecided,
		core.Cancelled: core.ApprovalDecided,
	} {
		a.State = state
		if err := a.RefusalToAskAgain(ann); core.CategoryOf(err) != want || core.MessageOf(err) != a.StateSentence() {
			t.Errorf("%s: %v", state, err)
		}
	}
}

func TestTheSignalNamesItsPauseAndHasAFixedID(t *testing.T) {
	a := core.Approval{
		ID: "a1", Invocation: "i1", Conversation: "x:room", Address: core.Address{Platform: "x"}, State: core.Denied,
		Reason: "no", DecidedBy: bob,
	}
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
	if p.SignalID != "a1" || p.Invocation != "i1" ||
		!reflect.DeepEqual(d, core.DecisionPayload{Approval: "a1", State: core.Denied, By: "Bob", Reason: "no"}) {
		t.Errorf("payload: %+v, %+v", p, d)
	}
}
