package discord

import (
	"context"
	"maps"
	"slices"
	"strconv"

	"gatehouse/adapters/discord/internal/draw"

	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// handlePress does what the desk says about a press of a button or a submitted form: it answers with an event, or with
// what the press shows, which must be the first answer to it.
func (d *Discord) handlePress(ctx context.Context, i interaction) *response {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	b, p := pressOf(i, d.desk.Open(i.Data.CustomID))
	p.Form = p.Form && b.Action != outbound.ActionAnswer // a page of an answer is not all of it
	return d.answerPress(ctx, i, b, p, d.desk.Press(ctx, b, p))
}

// answerPress answers a press as the desk says.
func (d *Discord) answerPress(
	ctx context.Context, i interaction, b outbound.Button, p desk.Press, answer desk.Answer,
) (r *response) {
	switch a := answer.(type) {
	case desk.Event:
		switch {
		case a.Click.Choice == "":
			r = acknowledged()
		case i.isPrivate():
			sent := d.desk.AnswerSent
			if a.Click.Choice == core.Edit {
				sent = d.desk.EditSent
			}
			r = d.privately(i, b, sent, "", 0)
		default:
			r = d.pressed(ctx, i, a.Click)
		}
		r.event = &a.Event
	case desk.Open:
		r = d.open(ctx, i, b, p, a)
	case desk.Show:
		r = ephemeralMessage(draw.Arguments(a.Card, d.desk.Texts))
	case desk.Say:
		r = ephemeral(draw.Literal(a.Text(), draw.MaxPlain))
		if a.Again != nil {
			r = d.editAgain(ctx, i, b, a)
		}
	}
	return r
}

// pressOf is what the desk is told of an interaction. A form that was opened below a private text has no card, and
// disables nothing.
func pressOf(i interaction, b outbound.Button) (outbound.Button, desk.Press) {
	p := desk.Press{
		Who: i.presser(), Conversation: i.conversation(), Address: i.address(address.PressPrefix), ID: i.ID,
		Disabled: !i.isPrivate(), Form: i.Type == discordgo.InteractionModalSubmit,
	}
	if p.Disabled && snowflake.Valid(i.Message.ID) {
		// the message with the button that was pressed or that opened the form
		p.Card = address.Ref(i.Channel, i.Message.ID)
	}
	switch {
	case b.OnReply():
		p.Address.Message = i.Message.ID
	case p.Form:
		p.Typed = slices.Collect(maps.Values(i.typed())) // of one input; an answer's is read with its form
	case b.Action == outbound.ActionAnswer && len(i.Data.Values) == 1: // a menu's; if it is no place, the form opens
		b.Option, _ = strconv.Atoi(i.Data.Values[0])
	}
	return b, p
}

var errClickShape = core.Errorf(core.Invalid,
	"The event from Discord is not a press of one of gatehouse's buttons. Press again.")

// OldClick reads a decision that was stored as the interaction that it came with.
func (d *Discord) OldClick(e core.Event) (core.Click, error) {
	var i interaction
	if err := inbound.Decode(e.Payload, &i); err != nil || i.person() == nil {
		return core.Click{}, errClickShape
	}
	b, p := pressOf(i, d.desk.Open(i.Data.CustomID))
	p.Whole = i.Answer
	c, err := d.desk.Click(b, p)
	if err != nil || string(c.Approval) != e.Subject() || c.Choice == core.Answer && c.Option == 0 && c.Answer == "" {
		return core.Click{}, errClickShape
	}
	return c, nil
}

// pressed answers a press that may end an approval: the card is shown with its buttons disabled until it is redrawn. It
// stays as it is for somebody whose press will not count, and if it can't be read now.
func (d *Discord) pressed(ctx context.Context, i interaction, c core.Click) *response {
	card, err := d.Cards.Card(ctx, c.Approval, true)
	if err != nil || i.Message.ID == "" || d.desk.Check(ctx, card, c, i.presser()) != nil {
		return acknowledged()
	}
	isCopy := i.Channel != address.Channel(card.From)
	delivery := core.Delivery{Post: core.Post{Conversation: card.Conversation, Copy: isCopy}, Card: &card}
	m := d.painter.Card(delivery, cardLink(delivery), true)
	return &response{Type: discordgo.InteractionResponseUpdateMessage, Data: m.Outgoing(), redraw: c.Approval}
}
