package discord

import (
	"context"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/snowflake"
	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/desk"
	"gatehouse/core"
)

// handlePress does what the desk says about a press of a button or a submitted form: it returns the event, or what the press shows, which must
// be the first answer to it.
func (d *Discord) handlePress(ctx context.Context, i interaction) (*response, *core.Event) {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
	defer cancel()
	b, p := pressOf(i, d.desk.Open(i.Data.CustomID))
	if p.Form && b.Action == chat.ActionAnswer {
		return d.submitAnswer(ctx, i, b, p)
	}
	answer := d.desk.Press(ctx, b, p)
	switch a := answer.(type) {
	case desk.Event:
		if a.Click.Choice == "" {
			return acknowledged, &a.Event
		}
		return d.pressed(ctx, i, a.Click), &a.Event
	case desk.Open:
		return d.open(ctx, i, b, a), nil
	case desk.Show:
		return allArguments(a.Card), nil
	}
	return why(answer), nil
}

// why is what the person reads where nothing happens.
func why(a desk.Answer) *response {
	if say, ok := a.(desk.Say); ok {
		return ephemeral(literal(say.Text(), maxPlain))
	}
	return acknowledged
}

// pressOf is what the desk is told of an interaction. A form that was opened below a private text has no card, and disables nothing.
func pressOf(i interaction, b chat.Button) (chat.Button, desk.Press) {
	p := desk.Press{
		Who: i.presser(), Conversation: i.conversation(), Address: i.address(pressPrefix), ID: i.ID, Disabled: !i.isPrivate(),
		Form: i.Type == discordgo.InteractionModalSubmit,
	}
	if p.Disabled && i.Message != nil && snowflake.Valid(i.Message.ID) && snowflake.Valid(i.Channel) {
		p.Card = refOf(i.Channel, i.Message.ID) // the message with the button that was pressed or that opened the form
	}
	switch {
	case b.OnReply():
		p.Address.Message = ""
		if i.Message != nil {
			p.Address.Message = i.Message.ID
		}
	case p.Form:
		for _, c := range inputsOf(i.Data.Components) {
			if c.Value != "" {
				p.Typed = []string{strings.TrimSpace(c.Value)}
				break
			}
		}
	case b.Action == chat.ActionAnswer && len(i.Data.Values) == 1: // a menu's; if it is no place, the form opens
		b.Option, _ = strconv.Atoi(i.Data.Values[0])
	}
	return b, p
}

// inputsOf returns the components of a form with those inside them.
func inputsOf(components []component) (all []component) {
	for _, c := range components {
		all = append(all, c)
		if c.Input != nil {
			c.Inputs = append(c.Inputs, *c.Input)
		}
		all = append(all, inputsOf(c.Inputs)...)
	}
	return all
}

var errClickShape = core.Errorf(core.Invalid, "The event from Discord is not a press of one of gatehouse's buttons. Press again.")

// OldClick reads a decision that was stored as the interaction that it came with.
func (d *Discord) OldClick(e core.Event) (core.Click, error) {
	var i interaction
	if err := chat.Decode(e.Payload, &i); err != nil || i.person() == nil {
		return core.Click{}, errClickShape
	}
	b, p := pressOf(i, d.desk.Open(i.Data.CustomID))
	p.Whole = i.Answer
	c, err := desk.Click(b, p)
	if err != nil || string(c.Approval) != e.Subject() || c.Choice == core.Answer && c.Option == 0 && c.Answer == "" {
		return core.Click{}, errClickShape
	}
	return c, nil
}

// newButton makes a button with a sealed value.
func newButton(seal func(fields ...string) string, text string, style discordgo.ButtonStyle, b chat.Button) (discordgo.Button, error) {
	value, err := b.Value(seal, maxCustomID)
	return discordgo.Button{Label: text, Style: style, CustomID: value}, err
}

// pressed answers a press that may end an approval: the card is shown with its buttons disabled until it is redrawn. It stays as it is for
// somebody whose press will not count, and if it can't be read now.
func (d *Discord) pressed(ctx context.Context, i interaction, c core.Click) *response {
	id := c.Approval
	card, err := d.Card(ctx, id, false)
	if err != nil || i.Message == nil || d.desk.Check(ctx, card, c, i.presser()) != nil {
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

func rowOf(buttons ...discordgo.MessageComponent) []discordgo.MessageComponent {
	return []discordgo.MessageComponent{discordgo.ActionsRow{Components: buttons}}
}
