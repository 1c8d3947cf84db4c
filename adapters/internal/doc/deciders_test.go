package doc_test

import (
	"testing"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// onWeb is a person of the pages.
func onWeb(name string) core.Actor { return core.Actor{ID: "openharness:" + name, Name: name} }

// shared is an open card that ann asked for, for these people of the pages.
func shared(quorum int, voters []core.Actor, approvers ...string) *core.Card {
	c := &core.Card{
		State: core.Open, Requested: onWeb("ann"), Requester: "ann", Quorum: quorum, Voters: voters, Vetoes: 1,
	}
	for _, name := range approvers {
		c.Approvers = append(c.Approvers, "openharness:"+name)
	}
	return c
}

func seenBy(c *core.Card, who core.Actor) doc.Document {
	return doc.View(core.Delivery{Card: c}, doc.Reader{Platform: "openharness", Who: who})
}

// TestWhoAskedReadsWhoDecides, and not that they are no approver.
func TestWhoAskedReadsWhoDecides(t *testing.T) {
	for want, c := range map[string]*core.Card{
		"bob decides.":                          shared(1, nil, "bob"),
		"bob or eve decides.":                   shared(1, nil, "bob", "eve"),
		"bob, eve or joe decides.":              shared(0, nil, "bob", "eve", "joe", "ann"),
		"bob and eve must both approve.":        shared(2, nil, "bob", "eve"),
		"bob, eve and joe must all approve.":    shared(3, nil, "bob", "eve", "joe"),
		"two of bob, eve and joe must approve.": shared(2, nil, "bob", "eve", "joe"),
		"one of a, b, c, d, e and 2 more must approve.": shared(1, nil, "a", "b", "c", "d", "e", "f",
			"g"),
		"You asked for this yourself, so another approver has to decide.": shared(1, nil, "ann"),
	} {
		if got := seenBy(c, onWeb("ann")).Refusal(); got != want {
			t.Errorf("%v, %d: %q, want %q", c.Approvers, c.Quorum, got, want)
		}
	}
	c := shared(1, nil, "bob")
	c.Approvers = append(c.Approvers, "slack:U1", "slack:U2")
	if got := seenBy(c, onWeb("ann")).Refusal(); got != "bob or somebody elsewhere decides." {
		t.Errorf("%q", got)
	}
	if c.Quorum = 3; seenBy(c, onWeb("ann")).Refusal() != "three of bob and somebody elsewhere must approve." {
		t.Errorf("%q", seenBy(c, onWeb("ann")).Refusal())
	}
	if got := seenBy(c, onWeb("bob")).Refusal(); got != "" {
		t.Errorf("bob reads %q", got)
	}
}

// TestAButtonSaysWhichApprovalOfHowManyItIs where it takes several, and who comes then.
func TestAButtonSaysWhichApprovalOfHowManyItIs(t *testing.T) {
	eve, bob := onWeb("eve"), onWeb("bob")
	for _, c := range []struct {
		card *core.Card
		who  core.Actor
		want string
	}{
		{shared(1, nil, "bob", "eve"), bob, "Approve"},
		{shared(2, nil, "bob", "eve"), bob, "Approve (1 of 2; then eve)"},
		{shared(2, nil, "bob", "eve", "ann"), bob, "Approve (1 of 2; then eve)"},
		{shared(2, []core.Actor{bob}, "bob", "eve"), eve, "Approve (2 of 2)"},
		{shared(2, nil, "bob", "eve", "joe"), bob, "Approve (1 of 2; then eve or joe)"},
		{shared(3, nil, "bob", "eve", "joe"), bob, "Approve (1 of 3; then eve and joe)"},
		{shared(2, nil, "bob", "a", "b", "c", "d"), bob, "Approve (1 of 2)"},
		{shared(2, nil, "bob", "eve"), core.Actor{}, "Approve (1 of 2)"},
		{shared(2, []core.Actor{bob}, "bob", "eve"), bob, ""},
	} {
		got := ""
		for _, choice := range seenBy(c.card, c.who).Cut(0, 0) {
			if choice.Action == outbound.ActionApprove {
				got = choice.Label
			}
		}
		if got != c.want {
			t.Errorf("%v, %d, for %s: %q, want %q", c.card.Approvers, c.card.Quorum, c.who.ID, got, c.want)
		}
	}
}

// TestWhoHasVotedWaitsForOthers, on a copy that only they get, too.
func TestWhoHasVotedWaitsForOthers(t *testing.T) {
	bob := onWeb("bob")
	card := shared(2, []core.Actor{bob}, "bob", "eve")
	if got := seenBy(card, bob).Headline; got != "⏳ Waiting for others" {
		t.Errorf("bob reads %q", got)
	}
	for who, want := range map[string]string{
		"openharness:bob": "⏳ Waiting for others", "openharness:eve": "🔔 Approval needed", "": "🔔 Approval needed",
	} {
		copied := core.Delivery{Card: card, Post: core.Post{Person: who}}
		if got := doc.View(copied, doc.Reader{Platform: "openharness"}).Headline; got != want {
			t.Errorf("a copy for %s says %q", who, got)
		}
	}
}
