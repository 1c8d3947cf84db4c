package desk

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// Click is the decision that a press of a button, or the submission of its form, asks for; nothing is looked up. Error:
// it asks for none. The answer of a form is p.Whole.
func (d Desk) Click(b outbound.Button, p Press) (core.Click, error) {
	form := opens(b)
	c := core.Click{
		Approval: b.Approval, Choice: cmp.Or(form, core.Choice(b.Action)), Edits: b.Edits, Card: p.Card,
		Disabled: p.Disabled,
	}
	typed := ""
	if len(p.Typed) > 0 {
		typed = strings.TrimSpace(p.Typed[0])
	}
	if b.Action == outbound.ActionRemember || b.Action == outbound.ActionConfirmRemember {
		c.Choice, c.Remember = core.Approve, true
	}
	switch {
	case !slices.Contains([]core.Choice{core.Approve, core.Deny, core.Edit, core.Answer, core.Withdraw, core.Forget},
		c.Choice):
		return c, invalid(d.PressOtherVersion)
	case p.Form != (form != ""):
		return c, invalid(d.PressNotOurs)
	case form == core.Approve && !strings.EqualFold(typed, doc.ConfirmWord):
		return c, invalid(wording.Fill(d.PressNotTyped, "{word}", doc.ConfirmWord))
	case form == core.Answer:
		c.Answer = p.Whole
	case c.Choice == core.Answer:
		c.Option = b.Option
	case c.Choice == core.Deny:
		c.Reason = typed
	case c.Choice == core.Edit:
		c.Changed = typed
	}
	return c, nil
}

// opens is the choice that the submission of a button's form may be; "": the button opens none.
func opens(b outbound.Button) core.Choice {
	if b.Option > 0 {
		return ""
	}
	return map[outbound.Action]core.Choice{
		outbound.ActionReason: core.Deny, outbound.ActionConfirm: core.Approve,
		outbound.ActionConfirmRemember: core.Approve,
		outbound.ActionEdit:            core.Edit, outbound.ActionAnswer: core.Answer,
	}[b.Action]
}

// open opens a button's form. Nothing is stored.
func (d Desk) open(ctx context.Context, card core.Card, b outbound.Button, p Press) Answer {
	limit := d.Reason
	if b.Action == outbound.ActionEdit {
		b.Edits, limit = card.Edits, d.Input // it is filled with what is there now
	}
	err := d.Check(ctx, card, core.Click{Choice: opens(b), Edits: b.Edits, Reason: "…"}, p.Who)
	if b.Action == outbound.ActionAnswer && core.CategoryOf(err) == core.Invalid {
		err = nil // nothing is answered yet
	}
	if err != nil {
		return Say{Err: err}
	}
	form, fits := d.view(card).Form(b.Action, limit)
	if !fits {
		return refuse(d.PressNoEdit)
	}
	if opens(b) == core.Approve && d.Cautious != nil {
		form.Caution = d.Cautious.Cautions(card)
	}
	opened := Open{Form: form, Card: card}
	if d.Signer != nil {
		opened.Value = d.Signer.Seal(b.Fields()...)
	}
	return opened
}

func (d Desk) view(card core.Card) doc.Document {
	return doc.View(core.Delivery{Card: &card}, doc.Reader{Texts: d.Texts})
}

// look returns the card of a button.
func (d Desk) look(ctx context.Context, b outbound.Button) (core.Card, error) {
	card, err := d.Cards.Card(ctx, b.Approval, false)
	switch {
	case core.CategoryOf(err) == core.NotFound:
		err = core.Errorf(core.NotFound, "%s", d.PressUnknown)
	case err != nil:
		d.Log.Warn("an approval could not be looked up for a press", "button", b.Action,
			"category", core.CategoryOf(err), "err", err)
		err = core.Wrap(core.StoreBusy, err, "%s", d.PressUnread)
	}
	return card, err
}

// Check is why a decision would not count, for the person who made it, as far as the card shows; nil if it would, or if
// their groups can't be looked up now. The store decides by the same rules again.
func (d Desk) Check(ctx context.Context, card core.Card, c core.Click, who core.Actor) error {
	if c.Choice == core.Forget {
		return card.CheckForget(who)
	}
	if card.State != core.Open {
		category := core.ApprovalDecided
		if card.State == core.Expired {
			category = core.ApprovalExpired
		}
		return core.Errorf(category, "%s", d.view(card).Standing())
	}
	err := card.Check(c, who)
	if core.CategoryOf(err) == core.NotAllowed && d.Groups != nil && c.Choice != core.Withdraw {
		groups, fault := d.Groups.Groups(ctx, who, card.Approvers)
		if fault != nil {
			return nil
		}
		who.Groups = groups
		err = card.Check(c, who)
	}
	if core.CategoryOf(err) == core.NotAllowed && c.Choice != core.Withdraw && card.AskedBy(who) { // who decides then
		v := doc.View(core.Delivery{Card: &card}, doc.Reader{Platform: d.Platform, Who: who, Texts: d.Texts})
		return core.Wrap(core.NotAllowed, err, "%s", cmp.Or(v.Refusal(), core.MessageOf(err)))
	}
	if err == nil && c.Choice == core.Edit && !card.Editable {
		return invalid(d.PressNoEdit)
	}
	return err
}
