package discord

import (
	"context"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// handlePress handles a press of one of our buttons: it returns the event, or what the press shows. A value that gatehouse did not seal is
// refused, with a message to the person.
func (d *Discord) handlePress(ctx context.Context, i interaction) (*response, *core.Event) {
	b, ok := chat.OpenButton(d.Signer, i.Data.CustomID)
	if !ok {
		d.Log.Warn("a button that is not gatehouse's was pressed", "person", i.person().ID)
		return ephemeral(notValid), nil
	}
	switch b.Action {
	case chat.ActionRetry, chat.ActionNew:
		to := i.address("")
		if i.Message != nil {
			to.Message = i.Message.ID
		}
		e := b.Event(Name, i.actor(), to)
		return acknowledged, &e
	case chat.ActionApprove, chat.ActionDeny, chat.ActionWithdraw:
		return d.pressed(ctx, i, b), decision(i, b.Approval)
	case chat.ActionAskAgain:
		e := chat.AskAgainEvent(b.Approval, *decision(i, b.Approval))
		return acknowledged, &e
	case chat.ActionAnswer:
		if i.option(b) > 0 {
			return d.pressed(ctx, i, b), decision(i, b.Approval)
		}
		return d.show(ctx, i, b), nil
	case chat.ActionReason, chat.ActionConfirm, chat.ActionEdit, chat.ActionArguments:
		return d.show(ctx, i, b), nil
	}
	d.Log.Warn("a button of an unknown kind was pressed", "kind", chat.Clip(string(b.Action)))
	return ephemeral("This button belongs to another version of gatehouse, so nothing was done. Ask again."), nil
}

// What a person reads who pressed a button that does nothing.
const (
	notValid        = "This button is not valid any more, so nothing was done. Ask again, or tell an admin."
	unknownApproval = "This approval is not known any more."
)

// show answers a press that only shows something: a form (its submission is the event) or all arguments. It must be the first answer to
// the press.
func (d *Discord) show(ctx context.Context, i interaction, b chat.Button) *response {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	card, err := d.Card(ctx, b.Approval, false)
	switch {
	case core.CategoryOf(err) == core.NotFound:
		return ephemeral(unknownApproval)
	case err != nil:
		d.Log.Warn("a button's answer could not be shown", "button", b.Action, "err", err)
		return ephemeral("It could not be shown, so nothing was decided. Press again.")
	case (b.Action == chat.ActionAnswer) != (card.Question != nil):
		return ephemeral(notValid)
	case b.Action == chat.ActionArguments:
		return allArguments(card)
	case card.State != core.Open:
		return ephemeral(literal(doc.Standing(card), maxPlain))
	}
	if err := chat.Refusal(ctx, d, card, i.actor()); err != nil {
		return ephemeral(core.MessageOf(err))
	}
	if b.Action == chat.ActionAnswer {
		return d.formModal(ctx, i, b, card)
	}
	form := doc.ReasonForm(card, maxReason)
	switch b.Action {
	case chat.ActionConfirm:
		form = confirmForm(card)
	case chat.ActionEdit:
		f, ok := doc.EditForm(card, maxInput)
		if !ok {
			return ephemeral(doc.NoEdit)
		}
		form, b.Edits = f, card.Edits // it is filled with what is there now
	}
	return &response{Type: discordgo.InteractionResponseModal, Data: drawForm(d.Signer.Seal(b.Fields()...), form)}
}

var errClickShape = core.Errorf(core.Invalid, "The event from Discord is not a press of one of gatehouse's buttons. Press again.")

// parseClick reads a decision: a press of Approve, Deny, Withdraw or an option, or a submitted form.
func (d *Discord) parseClick(e core.Event) (core.Input, error) {
	var i interaction
	if err := chat.Decode(e.Payload, &i); err != nil {
		return core.Input{}, errClickShape
	}
	b, ok := chat.OpenButton(d.Signer, i.Data.CustomID)
	if !ok || string(b.Approval) != e.Subject() {
		return core.Input{}, errClickShape
	}
	click := core.Click{Approval: b.Approval, Choice: core.Choice(b.Action), Edits: b.Edits, Disabled: true}
	submitted := i.Type == discordgo.InteractionModalSubmit
	switch {
	case submitted && b.Action == chat.ActionReason:
		click.Choice, click.Reason = core.Deny, inputOf(i.Data.Components)
	case submitted && b.Action == chat.ActionConfirm && isConfirmed(i):
		click.Choice = core.Approve
	case submitted && b.Action == chat.ActionEdit:
		click.Changed = inputOf(i.Data.Components)
	case submitted && b.Action == chat.ActionAnswer && i.Answer != "":
		click.Answer = i.Answer
	case !submitted && b.Action == chat.ActionAnswer && i.option(b) > 0:
		click.Option = i.option(b)
	case click.Choice != core.Approve && click.Choice != core.Deny && click.Choice != core.Withdraw:
		return core.Input{}, errClickShape
	}
	if i.isPrivate() { // the form was opened below the card
		click.Disabled = false
	} else if i.Message != nil && snowflake.Valid(i.Message.ID) && snowflake.Valid(i.Channel) {
		click.Card = refOf(i.Channel, i.Message.ID) // the message with the button that was pressed or that opened the form
	}
	return core.Input{Click: &click}, nil
}

// newButton makes a button with a sealed value.
func newButton(seal func(fields ...string) string, text string, style discordgo.ButtonStyle, b chat.Button) (discordgo.Button, error) {
	value, err := b.Value(seal, maxCustomID)
	return discordgo.Button{Label: text, Style: style, CustomID: value}, err
}

// pressed answers a press that may end an approval: the card is shown with its buttons disabled until it is redrawn. It stays as it is for
// somebody whose press will not count, and if it can't be read now.
func (d *Discord) pressed(ctx context.Context, i interaction, b chat.Button) *response {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	who, id := i.actor(), b.Approval
	card, err := d.Card(ctx, id, false)
	if err != nil || card.State != core.Open || i.Message == nil {
		return acknowledged
	}
	if !d.counts(ctx, card, who, b) {
		return acknowledged
	}
	delivery := core.Delivery{Post: core.Post{Kind: core.PostCard, Approval: id}, Card: &card}
	if delivery.Copy = i.Channel != channelOf(card.From); delivery.Copy {
		if card, err = d.Card(ctx, id, true); err != nil {
			return acknowledged
		}
		delivery.Conversation = card.Conversation
	}
	m, err := drawCard(d.Signer.Seal, delivery, cardLink(delivery), true)
	if err != nil {
		return acknowledged
	}
	return &response{Type: discordgo.InteractionResponseUpdateMessage, Data: m.outgoing(), redraw: id}
}

// counts reports whether a press, or the submission of a form, will count as far as the card shows.
func (d *Discord) counts(ctx context.Context, c core.Card, who core.Actor, b chat.Button) bool {
	switch b.Action {
	case chat.ActionWithdraw:
		return c.AskedBy(who)
	case chat.ActionAnswer: // the first answer counts
	case chat.ActionEdit:
		if !c.Editable || b.Edits != c.Edits {
			return false
		}
	case chat.ActionApprove, chat.ActionConfirm:
		if c.HasVoted(who, core.Approve) || b.Edits != c.Edits {
			return false
		}
	default:
		if c.HasVoted(who, core.Deny) {
			return false
		}
	}
	return chat.Refusal(ctx, d, c, who) == nil
}

func rowOf(buttons ...discordgo.MessageComponent) []discordgo.MessageComponent {
	return []discordgo.MessageComponent{discordgo.ActionsRow{Components: buttons}}
}
