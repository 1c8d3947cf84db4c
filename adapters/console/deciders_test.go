package console_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"gatehouse/adapters/console"
	"gatehouse/core"
)

// TestTheTerminalSaysWhoElseDecides: before the first of two approvals, after it, and to somebody who may not decide.
func TestTheTerminalSaysWhoElseDecides(t *testing.T) {
	ann := core.Actor{ID: "console:ann", Name: "ann"}
	card := core.Card{
		Approval: "a1", State: core.Open, Tool: "deploy", Summary: "Deploy", Quorum: 2, Vetoes: 1,
		Approvers: []string{"console:ann", "openharness:eve"}, Requested: core.Actor{ID: "slack:U1", Name: "Zoe"},
	}
	voted, others := card, card
	voted.Voters = []core.Actor{ann}
	others.Approval, others.Quorum, others.Requested = "a2", 1, ann
	others.Approvers = []string{"openharness:bob", "openharness:eve"}
	synctest.Test(t, func(t *testing.T) {
		s := newGateway(t, console.Options{In: strings.NewReader("y\n"), Actor: ann})
		s.draw(card)
		s.draw(voted)
		s.draw(others)
		said := s.output.String()
		for _, want := range []string{
			"approval> y: Approve (1 of 2; then eve)\n", "approval> ⏳ Waiting for others: Deploy\n",
			"approval> bob or eve decides.\n",
		} {
			if strings.Count(said, want) != 1 {
				t.Errorf("%q is not there once", want)
			}
		}
		if t.Failed() {
			t.Log(said)
		}
	})
}
