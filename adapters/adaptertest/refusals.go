package adaptertest

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// Refusal is a press of a button, or the submission of a form, that does nothing, and what its person reads.
type Refusal struct {
	Action   chat.Action
	Form     bool      // the form of Action is submitted
	Typed    string    // into its one input, or the second of the question's
	Foreign  bool      // it was made by a gatehouse with another key
	Card     core.Card // as it is now; its button was made before, when nobody had changed the arguments
	Err      error     // of looking the card up
	Unstored bool      // the store takes no event
	Said     string    // what the person reads contains this
	// Except says why a platform has no such press.
	Except map[string]string
}

// Look returns the card.
func (r Refusal) Look(context.Context, core.ApprovalID, bool) (core.Card, error) {
	return r.Card, r.Err
}

// Value is the sealed value of the button, or of the form.
func (r Refusal) Value(t testing.TB, key string, more ...string) string {
	t.Helper()
	if r.Foreign {
		key = "the key of another gatehouse"
	}
	b := chat.Button{Action: r.Action, Approval: "a1", More: more}
	return Signer(t, key).Seal(b.Fields()...)
}

// order is the schema of the question that refused answers are for.
const order = `{"type":"object","required":["count"],"properties":{"size":{"enum":["s","m"]},"count":{"type":"integer","minimum":3}}}`

// Why a platform has no such press.
const (
	typedOnly = "a terminal has no buttons and forms: what is typed is for a card that it has printed"
	dialogs   = "it confirms in another way"
	noValues  = "its forms have no sealed value: they name what is chosen"
	noEdit    = "arguments can't be changed there"
)

// refusals are the refused presses by their names. bob is who presses.
func refusals(bob string) map[string]Refusal {
	console := map[string]string{"console": typedOnly}
	with := func(more map[string]string) map[string]string {
		all := maps.Clone(console)
		maps.Copy(all, more)
		return all
	}
	card := func(change func(*core.Card)) core.Card {
		c := core.Card{
			Approval: "a1", State: core.Open, Tool: "note.add", Summary: "Add milk", Arguments: "{}", Editable: true, Approvers: []string{bob}, Quorum: 1,
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
	const standing, stranger = "This was approved by Cid at", "You are not an approver of this request."
	return map[string]Refusal{
		"a button of another key":         {Action: chat.ActionReason, Foreign: true, Card: card(nil), Said: desk.ErrNotOurs.Message, Except: with(map[string]string{"web": noValues})},
		"a form of another key":           {Action: chat.ActionReason, Form: true, Foreign: true, Card: card(nil), Said: desk.ErrNotOurs.Message, Except: with(map[string]string{"web": noValues})},
		"a button of another version":     {Action: "explode", Card: card(nil), Said: desk.ErrOtherVersion.Message, Except: console},
		"a form of another version":       {Action: "explode", Form: true, Card: card(nil), Said: desk.ErrOtherVersion.Message, Except: console},
		"a button of one unknown":         {Action: chat.ActionReason, Err: gone, Said: desk.ErrUnknown.Message, Except: with(map[string]string{"web": "an unknown approval has no page"})},
		"a form of one unknown":           {Action: chat.ActionReason, Form: true, Err: gone, Said: desk.ErrUnknown.Message, Except: with(map[string]string{"web": "an unknown approval has no page"})},
		"a button that does not fit":      {Action: chat.ActionAnswer, Card: card(nil), Said: desk.ErrMisfit.Message, Except: console},
		"a form that does not fit":        {Action: chat.ActionAnswer, Form: true, Card: card(nil), Said: desk.ErrMisfit.Message, Except: console},
		"a button of one decided":         {Action: chat.ActionReason, Card: decided, Said: standing, Except: console},
		"a form of one decided":           {Action: chat.ActionReason, Form: true, Card: decided, Said: standing, Except: console},
		"a button of a stranger":          {Action: chat.ActionReason, Card: foreign, Said: stranger, Except: console},
		"a form of a stranger":            {Action: chat.ActionReason, Form: true, Card: foreign, Said: stranger, Except: console},
		"a form of other arguments":       {Action: chat.ActionEdit, Form: true, Typed: "{}", Card: changed, Said: core.ErrChanged.Message, Except: with(map[string]string{"openharness": noEdit})},
		"an approval of other arguments":  {Action: chat.ActionConfirm, Form: true, Typed: doc.ConfirmWord, Card: changed, Said: core.ErrChanged.Message, Except: with(map[string]string{"slack": dialogs})},
		"arguments that can't be changed": {Action: chat.ActionEdit, Form: true, Typed: "{}", Card: card(func(c *core.Card) { c.Editable = false }), Said: doc.NoEdit, Except: with(map[string]string{"openharness": noEdit})},
		"a denial without a reason":       {Action: chat.ActionReason, Form: true, Card: card(func(c *core.Card) { c.NeedsWhy = true }), Said: "To deny this, a reason is needed.", Except: console},
		"another word": {
			Action: chat.ActionConfirm, Form: true, Typed: "yes", Card: card(func(c *core.Card) { c.Risk = core.Dangerous }), Said: desk.ErrNotTyped.Message,
			Except: map[string]string{"slack": dialogs, "openharness": dialogs, "web": dialogs},
		},
		"an answer that does not fit": {Action: chat.ActionAnswer, Form: true, Typed: "2", Card: card(asked), Said: "his must be 3 or more.", Except: console},
		"one that can't be looked up": {
			Action: chat.ActionReason, Err: busy, Said: desk.ErrUnread.Message,
			Except: with(map[string]string{"web": "the page can't be shown either", "openharness": "the request is answered as one to be repeated"}),
		},
		"one that can't be stored": {
			Action: chat.ActionDeny, Card: card(nil), Unstored: true, Said: desk.ErrUnstored.Message,
			Except: with(map[string]string{"web": "the page can't be shown either", "openharness": "the request is answered as one to be repeated"}),
		},
	}
}

// RefusedPresses tests that every press that does nothing says so, with the same sentence on every platform. bob is the person who presses;
// press makes them do it, and returns what they read.
func RefusedPresses(t *testing.T, platform, bob string, press func(t *testing.T, r Refusal) (said string)) {
	all := refusals(bob)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			r := all[name]
			if why := r.Except[platform]; why != "" {
				t.Skip(why)
			}
			if said := press(t, r); !strings.Contains(said, r.Said) {
				t.Errorf("the person reads %q, want %q", said, r.Said)
			}
		})
	}
}
