package slack_test

import (
	"context"
	"testing"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// cardOf returns deps with one card, which bob may decide, changed by change.
func cardOf(change func(*core.Card)) core.Deps {
	card := core.Card{
		Approval: "a1", State: core.Open, Tool: "note.add", Summary: "Add milk", Arguments: "{}",
		Approvers: []string{"slack:U2BOB"}, Quorum: 1,
		Requested: core.Actor{ID: "slack:U1ANN"},
	}
	if change != nil {
		change(&card)
	}
	return core.Deps{Cards: adaptertest.CardFunc(func(context.Context, core.ApprovalID, bool) (core.Card, error) {
		return card, nil
	})}
}

// TestWhoMayNotDecideGetsNoForm but the reason, at once; nothing is stored.
func TestWhoMayNotDecideGetsNoForm(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*core.Card)
		want   string
	}{
		"a stranger": {func(c *core.Card) {
			c.Approvers = []string{"slack:U9"}
		}, "You are not an approver of this request."},
		"who asked, not an approver": {func(c *core.Card) {
			c.Approvers, c.Requested.ID = []string{"slack:U9"}, "slack:U2BOB"
		}, wording.BuiltIn.OthersDecide},
		"who asked, an approver": {func(c *core.Card) {
			c.Requested.ID = "slack:U2BOB"
		}, "You asked for this yourself, so another approver has to decide."},
	} {
		t.Run(name, func(t *testing.T) {
			onBoth(t, setup{slack: cardOf(c.change)}, func(t *testing.T, r *running) {
				for n, action := range []string{"reason", "edit"} {
					r.none(r.bob.Presses(r.button("C1", r.sealed("a1", action))))
					if text := r.told("C1", "U2BOB", n+1); text != c.want {
						t.Errorf("%s: bob reads %q", action, text)
					}
				}
				if _, open := r.Modal("U2BOB"); open {
					t.Error("a form is open")
				}
			})
		})
	}
}

func TestWithdrawAndAskAgain(t *testing.T) {
	onBoth(t, setup{slack: cardOf(nil)}, func(t *testing.T, r *running) {
		if e := r.one(r.ann.Presses(r.button("C1", r.sealed("a1", "withdraw")))); e.Kind() != core.KindClick ||
			r.click(e).Approval != "a1" || r.click(e).Choice != core.Withdraw {
			t.Errorf("got %+v", e)
		}
		b := r.button("C1", r.sealed("a1", "ask_again"))
		e := r.one(r.ann.Presses(b))
		if e.Kind() != core.KindAgain || e.Subject() != "a1" || e.Actor.ID != "slack:U1ANN" {
			t.Errorf("got %+v", e)
		}
		if again := r.one(r.ann.Presses(b)); again.ID != e.ID {
			t.Errorf("pressed twice its ids are %q and %q", e.ID, again.ID)
		}
		if other := r.one(r.bob.Presses(b)); other.ID == e.ID {
			t.Errorf("another person's press is the same event %q", e.ID)
		}
	})
}
