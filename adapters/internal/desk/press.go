package desk

import (
	"context"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// Click is the decision that a press of a button, or the submission of its form, asks for; nothing is looked up. Error: it asks for none. The
// answer of a form is p.Whole.
func Click(b chat.Button, p Press) (core.Click, error) {
	c := core.Click{Approval: b.Approval, Choice: core.Choice(b.Action), Edits: b.Edits, Card: p.Card, Disabled: p.Disabled}
	typed := ""
	if len(p.Typed) > 0 {
		typed = strings.TrimSpace(p.Typed[0])
	}
	if b.Action == chat.ActionRemember || b.Action == chat.ActionConfirmRemember {
		c.Remember = true
		b.Action = map[bool]chat.Action{true: chat.ActionApprove, false: chat.ActionConfirm}[b.Action == chat.ActionRemember]
		c.Choice = core.Choice(b.Action)
	}
	switch {
	case !p.Form && b.Action == chat.ActionAnswer && b.Option > 0:
		c.Option = b.Option
	case !p.Form && b.Action == chat.ActionDeny:
		c.Reason = typed // where it is asked for beside the button
	case p.Form && b.Action == chat.ActionAnswer && b.Option == 0:
		c.Answer = p.Whole
	case p.Form && b.Action == chat.ActionReason:
		c.Choice, c.Reason = core.Deny, typed
	case p.Form && b.Action == chat.ActionEdit:
		c.Changed = typed
	case p.Form && b.Action == chat.ActionConfirm && strings.EqualFold(typed, doc.ConfirmWord):
		c.Choice = core.Approve
	case p.Form && b.Action == chat.ActionConfirm:
		return core.Click{}, ErrNotTyped
	case p.Form || c.Choice != core.Approve && c.Choice != core.Deny && c.Choice != core.Withdraw && c.Choice != core.Forget:
		return core.Click{}, ErrNotOurs
	}
	return c, nil
}

// decide makes the event of a button whose press decides.
func (d Desk) decide(ctx context.Context, b chat.Button, p Press) Answer {
	click, err := Click(b, p)
	if err == nil && d.Strict {
		var card core.Card
		if card, err = d.look(ctx, b); err == nil {
			err = d.Check(ctx, card, click, p.Who)
		}
	}
	if err != nil {
		return Say{Err: err}
	}
	return d.decision(click, p)
}

// show opens a button's form, or shows all arguments. Nothing is stored.
func (d Desk) show(ctx context.Context, b chat.Button, p Press) Answer {
	card, err := d.look(ctx, b)
	switch {
	case err != nil:
		return Say{Err: err}
	case (card.Question != nil) != (b.Action == chat.ActionAnswer):
		return Say{Err: ErrMisfit}
	case b.Action == chat.ActionArguments:
		return Show{Card: card}
	}
	would := core.Click{Choice: core.Deny, Reason: "…"} // that the submission may be
	var form doc.Form
	switch b.Action {
	case chat.ActionConfirm, chat.ActionConfirmRemember:
		would, form = core.Click{Choice: core.Approve, Edits: b.Edits, Remember: b.Action != chat.ActionConfirm}, d.confirm(card)
	case chat.ActionEdit:
		b.Edits = card.Edits // it is filled with what is there now
		would = core.Click{Choice: core.Edit, Edits: b.Edits}
	case chat.ActionAnswer:
		would, form = core.Click{Choice: core.Answer}, doc.AnswerForm(card)
	default:
		form = doc.ReasonForm(card, d.Reason)
	}
	err = d.Check(ctx, card, would, p.Who)
	if b.Action == chat.ActionAnswer && core.CategoryOf(err) == core.Invalid {
		err = nil // nothing is answered yet
	}
	if b.Action == chat.ActionEdit && err == nil {
		fits := false
		if form, fits = doc.EditForm(card, d.Input); !fits {
			err = ErrNoEdit
		}
	}
	if err != nil {
		return Say{Err: err}
	}
	if b.Action == chat.ActionConfirmRemember {
		form.Title, form.Submit = "Approve this, and remember it?", "Approve and remember"
	}
	opens := Open{Form: form, Card: card}
	if d.Signer != nil {
		opens.Value = d.Signer.Seal(b.Fields()...)
	}
	return opens
}

func (d Desk) confirm(c core.Card) doc.Form {
	if d.Confirm != nil {
		return d.Confirm(c)
	}
	return doc.ConfirmForm(c, doc.View(core.Delivery{Card: &c}, doc.Reader{}).Cautions(0))
}

// submit makes the event of a form. If its card can't be read now, the store decides about it later; only an answer needs its question.
func (d Desk) submit(ctx context.Context, b chat.Button, p Press) Answer {
	click, err := Click(b, p)
	if err != nil {
		return Say{Err: err}
	}
	card, err := d.look(ctx, b)
	switch {
	case core.CategoryOf(err) == core.StoreBusy && b.Action != chat.ActionAnswer && !d.Strict:
		return d.decision(click, p)
	case err != nil:
		return Say{Err: err}
	case (card.Question != nil) != (b.Action == chat.ActionAnswer):
		return Say{Err: ErrMisfit}
	}
	if b.Action == chat.ActionAnswer {
		return d.answer(ctx, card, click, p)
	}
	if err := d.Check(ctx, card, click, p.Who); err != nil {
		return Say{Err: err}
	}
	return d.decision(click, p)
}

// look returns the card of a button.
func (d Desk) look(ctx context.Context, b chat.Button) (core.Card, error) {
	card, err := d.Card(ctx, b.Approval, false)
	switch {
	case core.CategoryOf(err) == core.NotFound:
		return card, ErrUnknown
	case err != nil:
		d.Log.Warn("an approval could not be looked up for a press", "button", b.Action, "category", core.CategoryOf(err), "err", err)
		return card, core.Wrap(core.StoreBusy, err, "%s", ErrUnread.Message)
	}
	return card, nil
}

// Check is why a decision would not count, for the person who made it, as far as the card shows; nil if it would, or if their groups can't be
// looked up now. The store decides by the same rules again.
func (d Desk) Check(ctx context.Context, card core.Card, c core.Click, who core.Actor) error {
	if c.Choice == core.Forget {
		return card.CheckForget(who)
	}
	if card.State != core.Open {
		category := core.ApprovalDecided
		if card.State == core.Expired {
			category = core.ApprovalExpired
		}
		return core.Errorf(category, "%s", doc.Standing(card))
	}
	err := card.Check(c, who)
	if core.CategoryOf(err) == core.NotAllowed && d.Groups != nil && c.Choice != core.Withdraw {
		groups, fault := d.Groups(ctx, who, card.Approvers)
		if fault != nil {
			return nil
		}
		who.Groups = groups
		err = card.Check(c, who)
	}
	if err == nil && c.Choice == core.Edit && !card.Editable {
		return ErrNoEdit
	}
	return err
}
