package discord

import (
	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// sealer signs the values of buttons. Each value fits a button, whatever ids it has.
type sealer func(fields ...string) string

// button makes a button with a sealed value.
func (seal sealer) button(label string, style discordgo.ButtonStyle, b chat.Button) discordgo.Button {
	return discordgo.Button{Label: label, Style: style, CustomID: seal(b.Fields()...)}
}

func rowOf(parts ...discordgo.MessageComponent) []discordgo.MessageComponent {
	return []discordgo.MessageComponent{discordgo.ActionsRow{Components: parts}}
}

// newPainter returns a painter of deliveries. A reply is drawn from its tree; any other text by a model or a person is
// literal, or code. No message pings anyone but an open card, which pings the approvers that it names. A card is a
// container with a coloured edge, which no reply can be.
func newPainter(seal sealer, t *wording.Texts) chat.Painter[drawn] {
	return chat.Painter[drawn]{
		Reply: func(text string) []drawn { return drawReplies(text, t) },
		Plain: func(text string) drawn { return drawn{Text: literal(text, maxPlain)} },
		Steps: func(line string) drawn { return drawn{Text: stepsPrefix + literal(chat.OrNone(line), chat.MaxSteps)} },
		Late:  func(m drawn) drawn { return m.under(late(t)) },
		Button: func(m drawn, text string, b chat.Button) (drawn, error) {
			m.Rows = rowOf(seal.button(text, discordgo.PrimaryButton, b))
			return m, nil
		},
		Card:  func(d core.Delivery, link string) (drawn, error) { return seal.card(t, d, link, false), nil },
		Texts: t,
	}
}

// parts draws the messages of a delivery. A long reply is slow to draw, so it stays cached until its last part is sent.
func (d *Discord) parts(delivery core.Delivery) ([]drawn, error) {
	if delivery.Kind == core.PostReply && len(delivery.Text) > maxReply {
		return d.long.Parts(delivery, func() ([]drawn, error) { return d.painter.Draw(delivery, "") })
	}
	return d.painter.Draw(delivery, cardLink(delivery))
}

// cardLink returns the link of a reminder to its card, "" in another channel, whose server is not known; and of a
// card's copy to the card's conversation, "" if there is none.
func cardLink(delivery core.Delivery) string {
	guild := guildOf(delivery.Conversation)
	switch {
	case delivery.Copy && (delivery.First == "" || delivery.Reminds == "") && delivery.Card != nil:
		return linkTo(delivery.Conversation, delivery.Card.From)
	case delivery.Person != "":
		guild = direct
	case delivery.Copy:
		return ""
	}
	if delivery.First == "" {
		return ""
	}
	return "https://discord.com/channels/" + guild + "/" + string(delivery.First)
}
