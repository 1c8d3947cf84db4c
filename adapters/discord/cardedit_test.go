package discord_test

import (
	"strings"
	"testing"

	"gatehouse/adapters/discord/discordtest"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

const milk = "{\n  \"text\": \"buy milk \\u202e & @everyone\"\n}"

// editable makes a card whose arguments have been changed twice and may be changed.
func editable(c *core.Card) { c.Editable, c.Edits, c.Arguments = true, 2, milk }

// opened presses a button and returns the form that it opens for bob.
func (r *inbound) opened(b discordtest.Button) discordtest.Modal {
	r.t.Helper()
	r.answered(r.bob.Presses(b), discordtest.ShowModal)
	m, err := r.WaitForModal(r.ctx, bobID)
	if err != nil {
		r.t.Fatal(err)
	}
	return m
}

// TestArgumentsAreChangedInAForm: it is filled with the present ones, whatever card its button was on, and the
// submission says which they are.
func TestArgumentsAreChangedInAForm(t *testing.T) {
	onBoth(t, setup{discord: newPressable(editable).options()}, func(t *testing.T, r *inbound) {
		b := r.button(general, r.sealed("a1", "edit.1"))
		m := r.opened(b)
		if m.Title != "Change the arguments" || len(m.Inputs) != 1 || m.Inputs[0].Value != milk || !m.Inputs[0].Long ||
			!m.Inputs[0].Required {
			t.Errorf("bob sees %+v", m)
		}
		if ids := r.inbox.IDs(); len(ids) != 0 {
			t.Errorf("the press alone is stored: %v", ids)
		}
		for typed, want := range map[string]string{
			milk: milk, " {\"text\": \"tea & <b>\"}\n": `{"text": "tea & <b>"}`,
		} {
			before := len(r.inbox.IDs())
			i := r.bob.SubmitsAgain(m, map[string]string{"arguments": typed})
			e := r.more(before)
			r.answered(i, discordtest.Update)
			if shown, _ := i.Shown(); !strings.Contains(shown.Shown(), "Approval needed") ||
				!shown.Buttons()[0].Disabled {
				t.Errorf("bob sees %s", shown.Shown())
			}
			if e.Kind() != core.KindClick || e.Subject() != "a1" || e.Address.Channel != general ||
				e.Actor.ID != "discord:"+bobID || !strings.HasSuffix(e.ID, "/"+i.ID) {
				t.Errorf("got %+v", e)
			}
			if c := r.click(e); c != (core.Click{
				Approval: "a1", Choice: core.Edit, Edits: 2, Changed: want, Card: core.Ref(general + "/" + b.Message),
				Disabled: true,
			}) {
				t.Errorf("Parse gave %+v", c)
			}
		}
	})
}

// TestADecisionSaysWhichArgumentsItsCardShowed, so that the core can refuse an approval of others.
func TestADecisionSaysWhichArgumentsItsCardShowed(t *testing.T) {
	onBoth(t, setup{discord: newPressable(editable).options()}, func(t *testing.T, r *inbound) {
		for _, action := range []string{"approve", "deny", "withdraw"} {
			before := len(r.inbox.IDs())
			r.bob.Presses(r.button(general, r.sealed("a1", action+".1")))
			if c := r.click(r.more(before)); c.Choice != core.Choice(action) || c.Edits != 1 {
				t.Errorf("%s: Parse gave %+v", action, c)
			}
		}
		for button, typed := range map[string]map[string]string{
			"reason.1": {"reason": "no"}, "confirm.2": {"confirm": "approve"},
		} {
			before := len(r.inbox.IDs())
			r.bob.SubmitsAgain(r.opened(r.button(general, r.sealed("a1", button))), typed)
			want := map[string]core.Click{
				"reason.1": {Choice: core.Deny, Edits: 1, Reason: "no"}, "confirm.2": {Choice: core.Approve, Edits: 2},
			}[button]
			if c := r.click(r.more(before)); c.Choice != want.Choice || c.Edits != want.Edits ||
				c.Reason != want.Reason {
				t.Errorf("%s: got %+v", button, c)
			}
		}
	})
}

// TestWhatIsDecidedOnAnOldCardChangesNoButton: it will not count. A denial does, whatever the arguments are.
func TestWhatIsDecidedOnAnOldCardChangesNoButton(t *testing.T) {
	for action, want := range map[string]discordtest.CallbackKind{
		"approve.1": discordtest.DeferredUpdate, "approve": discordtest.DeferredUpdate, "approve.2": discordtest.Update,
		"deny.1": discordtest.Update,
	} {
		t.Run(action, func(t *testing.T) {
			r := newInbound(t, setup{discord: newPressable(editable).options()}).known()
			r.answered(r.bob.Presses(r.button(general, r.sealed("a1", action))), want)
		})
	}
}

// TestAVoterMayChangeTheirMind: who approved may deny or change the arguments, and the card shows at once that it is
// taken.
func TestAVoterMayChangeTheirMind(t *testing.T) {
	p := newPressable(func(c *core.Card) { editable(c); c.Voters = []core.Actor{{ID: "discord:" + bobID}} })
	r := newInbound(t, setup{discord: p.options()}).known()
	for action, typed := range map[string]map[string]string{
		"reason.2": {"reason": "no"}, "edit.2": {"arguments": "{}"},
	} {
		r.answered(r.bob.SubmitsAgain(r.opened(r.button(general, r.sealed("a1", action))), typed), discordtest.Update)
	}
}

// TestAFormWhoseArgumentsWereChangedSinceSaysSo, when it is opened or when it is submitted: nothing is stored.
func TestAFormWhoseArgumentsWereChangedSinceSaysSo(t *testing.T) {
	p := newPressable(editable)
	r := newInbound(t, setup{discord: p.options()}).known()
	edit, confirm := r.opened(r.button(general, r.sealed("a1", "edit.2"))),
		r.opened(r.button(general, r.sealed("a1", "confirm.2")))
	p.mu.Lock()
	p.card.Edits = 3
	p.mu.Unlock()
	for name, i := range map[string]*discordtest.Interaction{
		"an edit":        r.bob.SubmitsAgain(edit, map[string]string{"arguments": "{}"}),
		"a confirmation": r.bob.SubmitsAgain(confirm, map[string]string{"confirm": "approve"}),
		"an old button":  r.bob.Presses(r.button(general, r.sealed("a1", "confirm.2"))),
	} {
		r.answered(i, discordtest.Reply)
		if m, _ := i.Shown(); !strings.HasPrefix(m.Content, core.ErrChanged.Message) || m.Ephemeral != bobID {
			t.Errorf("%s: bob sees %q", name, m.Content)
		}
	}
	if ids := r.inbox.IDs(); len(ids) != 0 {
		t.Errorf("stored: %v", ids)
	}
}

func TestNoFormForArgumentsThatCanNotBeChanged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*core.Card)
		want   string
	}{
		"not editable": {func(c *core.Card) { editable(c); c.Editable = false }, wording.BuiltIn.PressNoEdit},
		"too long": {func(c *core.Card) {
			editable(c)
			c.Arguments = `{"text": "` + strings.Repeat("x", 4000) + `"}`
		}, wording.BuiltIn.PressNoEdit},
		"decided": {func(c *core.Card) {
			editable(c)
			c.State, c.DecidedBy = core.Approved, "somebody"
		}, "approved by somebody"},
		"not an approver": {func(c *core.Card) {
			editable(c)
			c.Approvers = []string{"discord:1"}
		}, "You are not an approver of this request."},
	} {
		t.Run(name, func(t *testing.T) {
			r := newInbound(t, setup{discord: newPressable(c.change).options()}).known()
			i := r.bob.Presses(r.button(general, r.sealed("a1", "edit.2")))
			r.answered(i, discordtest.Reply)
			if m, _ := i.Shown(); m.Ephemeral != bobID || !strings.Contains(m.Content, c.want) {
				t.Errorf("bob sees %q", m.Content)
			}
			if ids := r.inbox.IDs(); len(ids) != 0 {
				t.Errorf("stored: %v", ids)
			}
		})
	}
}

func TestAMalformedCountIsAForgedButton(t *testing.T) {
	r := newInbound(t, setup{discord: newPressable(editable).options()}).known()
	i := r.bob.Presses(r.button(general, r.sealed("a1", "approve.0")))
	r.answered(i, discordtest.Reply)
	if m, _ := i.Shown(); !strings.Contains(m.Content, "nothing was done") {
		t.Errorf("bob sees %q", m.Content)
	}
}
