package adaptertest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// Refusal is a press of a button, or the submission of a form, that does nothing, and what its person reads.
type Refusal struct {
	Action   outbound.Action
	Form     bool      // the form of Action is submitted
	Typed    string    // into its one input, or the second of the question's
	Foreign  bool      // it was made by a gatehouse with another key
	Card     core.Card // as it is now; its button was made before, when nobody had changed the arguments
	Err      error     // of looking the card up
	Unstored bool      // the store takes no event
	Said     string    // what the person reads contains this
}

// Cards returns the card.
func (r Refusal) Cards() CardFunc {
	return func(context.Context, core.ApprovalID, bool) (core.Card, error) { return r.Card, r.Err }
}

// Value is the sealed value of the button, or of the form.
func (r Refusal) Value(t testing.TB, key string, more ...string) string {
	t.Helper()
	if r.Foreign {
		key = "the key of another gatehouse"
	}
	b := outbound.Button{Action: r.Action, Approval: "a1", More: more}
	return Signer(t, key).Seal(b.Fields()...)
}

// order is the schema of the question that refused answers are for.
const order = `{"type":"object","required":["count"],"properties":{"size":{"enum":["s","m"]},` +
	`"count":{"type":"integer","minimum":3}}}`

// refusals are the refused presses by their names. bob is who presses.
func refusals(bob string) map[string]Refusal {
	card := func(change func(*core.Card)) core.Card {
		c := core.Card{
			Approval: "a1", State: core.Open, Tool: "note.add", Summary: "Add milk", Arguments: "{}", Editable: true,
			Approvers: []string{bob}, Quorum: 1,
			Requested: core.Actor{ID: "elsewhere:ann"}, Requester: "Ann",
		}
		if change != nil {
			change(&c)
		}
		return c
	}
	asked := func(c *core.Card) { c.Question = ask("Which?", order) }
	changed := card(func(c *core.Card) { c.Edits = 1 })
	decided := card(func(c *core.Card) { c.State, c.DecidedBy = core.Approved, "Cid" })
	foreign := card(func(c *core.Card) { c.Approvers, c.Requested.ID = []string{"elsewhere:cid"}, bob })
	busy, gone := core.Errorf(core.StoreBusy, "The store is busy."), core.Errorf(core.NotFound, "There is none.")
	const standing = "This was approved by Cid at"
	stranger := wording.BuiltIn.OthersDecide // it is who asked
	return map[string]Refusal{
		"a button of another key": {
			Action: outbound.ActionReason, Foreign: true, Card: card(nil), Said: wording.BuiltIn.PressNotOurs,
		},
		"a form of another key": {
			Action: outbound.ActionReason, Form: true, Foreign: true, Card: card(nil),
			Said: wording.BuiltIn.PressNotOurs,
		},
		"a button of another version": {
			Action: "explode", Card: card(nil), Said: wording.BuiltIn.PressOtherVersion,
		},
		"a form of another version": {
			Action: "explode", Form: true, Card: card(nil), Said: wording.BuiltIn.PressOtherVersion,
		},
		"a button of one unknown": {Action: outbound.ActionReason, Err: gone, Said: wording.BuiltIn.PressUnknown},
		"a form of one unknown": {
			Action: outbound.ActionReason, Form: true, Err: gone, Said: wording.BuiltIn.PressUnknown,
		},
		"a button that does not fit": {
			Action: outbound.ActionAnswer, Card: card(nil), Said: wording.BuiltIn.PressMisfit,
		},
		"a form that does not fit": {
			Action: outbound.ActionAnswer, Form: true, Card: card(nil), Said: wording.BuiltIn.PressMisfit,
		},
		"a button of one decided": {Action: outbound.ActionReason, Card: decided, Said: standing},
		"a form of one decided":   {Action: outbound.ActionReason, Form: true, Card: decided, Said: standing},
		"a button of a stranger":  {Action: outbound.ActionReason, Card: foreign, Said: stranger},
		"a form of a stranger":    {Action: outbound.ActionReason, Form: true, Card: foreign, Said: stranger},
		"a form of other arguments": {
			Action: outbound.ActionEdit, Form: true, Typed: "{}", Card: changed, Said: core.ErrChanged.Message,
		},
		"an approval of other arguments": {
			Action: outbound.ActionConfirm, Form: true, Typed: doc.ConfirmWord, Card: changed,
			Said: core.ErrChanged.Message,
		},
		"arguments that can't be changed": {
			Action: outbound.ActionEdit, Form: true, Typed: "{}", Card: card(func(c *core.Card) {
				c.Editable = false
			}), Said: wording.BuiltIn.PressNoEdit,
		},
		"a denial without a reason": {Action: outbound.ActionReason, Form: true, Card: card(func(c *core.Card) {
			c.NeedsWhy = true
		}), Said: "To deny this, a reason is needed."},
		"another word": {
			Action: outbound.ActionConfirm, Form: true, Typed: "yes", Card: card(func(c *core.Card) {
				c.Risk = core.Dangerous
			}), Said: wording.Fill(wording.BuiltIn.PressNotTyped, "{word}", doc.ConfirmWord),
		},
		"an answer that does not fit": {
			Action: outbound.ActionAnswer, Form: true, Typed: "2", Card: card(asked), Said: "his must be 3 or more.",
		},
		"one that can't be looked up": {
			Action: outbound.ActionReason, Err: busy, Said: wording.BuiltIn.PressUnread,
		},
		"one that can't be stored": {
			Action: outbound.ActionDeny, Card: card(nil), Unstored: true, Said: wording.BuiltIn.PressUnstored,
		},
	}
}

// RefusedPresses tests that every press that does nothing says so, with the same sentence on every platform. bob is the
// person who presses; press makes them do it, and returns what they read. without says, by the names of cases, why the
// platform has no such press.
func RefusedPresses(
	t *testing.T, bob string, without map[string]string, press func(t *testing.T, r Refusal) (said string),
) {
	all := refusals(bob)
	for name := range without {
		if _, known := all[name]; !known {
			t.Errorf("there is no refused press %q", name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		r, why := all[name], without[name]
		if why != "" {
			t.Logf("%s: %s", name, why)
			continue
		}
		t.Run(name, func(t *testing.T) {
			if said := press(t, r); !strings.Contains(said, r.Said) {
				t.Errorf("the person reads %q, want %q", said, r.Said)
			}
		})
	}
}
