package slack_test

import (
	"strings"
	"testing"
	"time"

	"gatehouse/adapters/adaptertest"
	"gatehouse/adapters/slack/slacktest"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

const milk = "{\n  \"text\": \"buy milk \\u202e & <!channel>\"\n}"

// editable makes a card whose arguments have been changed twice and may be changed.
func editable(c *core.Card) { c.Editable, c.Edits, c.Arguments = true, 2, milk }

// opened presses a button and returns the form that it opens for bob.
func (r *running) opened(b slacktest.Button) slacktest.View {
	r.t.Helper()
	r.none(r.bob.Presses(b))
	v, err := r.WaitForModal(r.ctx, "U2BOB")
	if err != nil {
		r.t.Fatal(err)
	}
	return v
}

// TestArgumentsAreChangedInAForm: it is filled with the present ones, whatever card its button was on, and the
// submission says which they are.
func TestArgumentsAreChangedInAForm(t *testing.T) {
	onBoth(t, setup{slack: cardOf(editable)}, func(t *testing.T, r *running) {
		root := r.ann.Posts("C1", "work", slacktest.WithoutEvent())
		b := r.button("C1", r.sealed("a1", "edit.1"), slacktest.InThread(root.TS))
		if v := r.opened(b); v.Title != "Change the arguments" || !strings.Contains(v.Shown(), "Add milk") {
			t.Errorf("bob sees %s", v.Shown())
		}
		d := r.bob.Submits(nil)
		e := r.one(d)
		if e.Kind() != core.KindClick || e.Subject() != "a1" || e.Address.Channel != "C1" ||
			e.Address.Thread != root.TS || e.Actor.ID != "slack:U2BOB" {
			t.Errorf("got %+v", e)
		}
		if c := r.click(e); c != (core.Click{Approval: "a1", Choice: core.Edit, Edits: 2, Changed: milk}) {
			t.Errorf("what the form was filled with came back as %+v", c)
		}
		if again := r.one(d.Again()); again.ID != e.ID {
			t.Errorf("submitted twice its ids are %q and %q", e.ID, again.ID)
		}
		r.opened(b)
		other := r.one(r.bob.Submits(map[string]string{"arguments": " {\"text\": \"tea & <b>\"}\n"}))
		want := core.Click{Approval: "a1", Choice: core.Edit, Edits: 2, Changed: `{"text": "tea & <b>"}`}
		if c := r.click(other); c != want || other.ID == e.ID {
			t.Errorf("%s: Parse gave %+v", other.ID, c)
		}
	})
}

// TestADecisionSaysWhichArgumentsItsCardShowed, so that the core can refuse an approval of others.
func TestADecisionSaysWhichArgumentsItsCardShowed(t *testing.T) {
	onBoth(t, setup{slack: cardOf(editable)}, func(t *testing.T, r *running) {
		for _, action := range []string{"approve", "deny", "withdraw"} {
			if c := r.click(r.one(r.bob.Presses(r.button("C1", r.sealed("a1", action+".1"))))); c.Choice != core.Choice(
				action) || c.Edits != 1 {
				t.Errorf("%s: Parse gave %+v", action, c)
			}
		}
		r.opened(r.button("C1", r.sealed("a1", "reason.1")))
		if c := r.click(r.one(r.bob.Submits(map[string]string{"reason": "no"}))); c.Choice != core.Deny ||
			c.Edits != 1 || c.Reason != "no" {
			t.Errorf("Parse gave %+v", c)
		}
	})
}

func TestNoFormForArgumentsThatCanNotBeChanged(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*core.Card)
		want   string
	}{
		"not editable": {func(c *core.Card) { editable(c); c.Editable = false }, wording.BuiltIn.PressNoEdit},
		"too long": {func(c *core.Card) {
			editable(c)
			c.Arguments = `{"text": "` + strings.Repeat("x", 3000) + `"}`
		}, wording.BuiltIn.PressNoEdit},
		"decided": {func(c *core.Card) {
			editable(c)
			c.State, c.DecidedAt = core.Approved, time.Unix(1_800_000_000, 0)
		}, "pproved"},
		"not an approver": {func(c *core.Card) {
			editable(c)
			c.Approvers = []string{"slack:U9"}
		}, "You are not an approver of this request."},
	} {
		t.Run(name, func(t *testing.T) {
			r := start(t, setup{slack: cardOf(c.change)}).known()
			r.none(r.bob.Presses(r.button("C1", r.sealed("a1", "edit.2"))))
			if _, err := r.WaitForEphemeral(r.ctx, "C1", "U2BOB", c.want); err != nil {
				t.Error(err)
			}
			if _, open := r.Modal("U2BOB"); open {
				t.Error("a form is open")
			}
		})
	}
}

// TestStoredDecisionsAreRead: decisions of an earlier gatehouse, as it stored them.
func TestStoredDecisionsAreRead(t *testing.T) {
	r := start(t, setup{})
	adaptertest.StoredClicks(t, r.p, "testdata/stored.json")
	press := `{"type":"block_actions","user":{"id":"U2BOB"},"actions":[{"value":"` + r.sealed("a1", "edit.2") +
		`"}],"view":{"state":{"values":{"arguments":{"arguments":{"value":"{}"}}}}}}`
	for name, payload := range map[string]string{
		"a press of Edit is no change": press,
		"no form": strings.Replace(press, `"view":{`, `"view":{"callback_id":"edit_arguments",`,
			1), "forged": `{"actions":[{"value":"a1~approve"}]}`,
	} {
		if c, err := r.p.OldClick(
			core.Event{Body: core.ClickEvent{Approval: "a1"}, Payload: []byte(payload)}); core.CategoryOf(
			err) != core.Invalid {
			t.Errorf("%s: %+v, %v", name, c, err)
		}
	}
}

func TestAMalformedCountIsAForgedButton(t *testing.T) {
	r := start(t, setup{slack: cardOf(editable)}).known()
	r.none(r.bob.Presses(r.button("C1", r.sealed("a1", "approve.0"))))
	if _, err := r.WaitForEphemeral(r.ctx, "C1", "U2BOB", "nothing was done"); err != nil {
		t.Error(err)
	}
}
