// Package draw writes what gatehouse says as messages of Discord: the reply "**yes**, see `a.go`" as a text, an
// approval as a container with a coloured edge and a row of buttons, a question as a form.
//
//	draw.go      what each kind of post becomes
//	card.go      an approval: texts, arguments, buttons; whom it pings
//	arguments.go all arguments of a call, for who asks for them
//	form.go      a form, and its pages; menu.go: a menu in it or on a card
//	reply.go     a reply's blocks, code as files where no fence can hold it
//	line.go      the spans of a line; span.go: those of a card
//	text.go      escaping and cutting of foreign text, and Discord's limits
//	message.go   a message, and the JSON that Discord takes
//
// All foreign text is escaped here and nowhere else, and is cut after that, so that each message is within Discord's
// limits, whatever its fields hold. Nothing here makes a call.
package draw

import (
	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// Sealer signs the values of buttons. Each value fits a button, whatever ids it has.
type Sealer func(fields ...string) string

// Button makes a button with a sealed value.
func (seal Sealer) Button(label string, style discordgo.ButtonStyle, b outbound.Button) discordgo.Button {
	return discordgo.Button{Label: label, Style: style, CustomID: seal(b.Fields()...)}
}

func Row(parts ...discordgo.MessageComponent) []discordgo.MessageComponent {
	return []discordgo.MessageComponent{discordgo.ActionsRow{Components: parts}}
}

// NewPainter returns a painter of deliveries. A reply is drawn from its tree; any other text by a model or a person is
// literal, or code. No message pings anyone but an open card, which pings the approvers that it names. A card is a
// container with a coloured edge, which no reply can be.
func NewPainter(seal Sealer, t *wording.Texts) outbound.Painter[Message] {
	return outbound.Painter[Message]{
		Reply: func(text string) []Message { return drawReplies(text, t) },
		Plain: func(text string) Message { return Message{Text: Literal(text, MaxPlain)} },
		Steps: func(line string) Message {
			return Message{Text: StepsPrefix + Literal(safetext.OrNone(line), outbound.MaxSteps)}
		},
		Late: func(m Message) Message { return m.Under(Late(t)) },
		Button: func(m Message, text string, b outbound.Button) (Message, error) {
			m.Rows = Row(seal.Button(text, discordgo.PrimaryButton, b))
			return m, nil
		},
		Card:  func(d core.Delivery, link string) (Message, error) { return seal.Card(t, d, link, false), nil },
		Texts: t,
	}
}
