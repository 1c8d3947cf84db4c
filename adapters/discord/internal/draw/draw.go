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

// Sealer seals the value of a button, so that it can't be forged. Each value fits a button, whatever ids it has.
type Sealer interface{ Seal(fields ...string) string }

// Painter draws deliveries with the texts of a deployment.
type Painter struct {
	Sealer
	*wording.Texts
}

// Button makes a button with a sealed value.
func (p Painter) Button(label string, style discordgo.ButtonStyle, b outbound.Button) discordgo.Button {
	return discordgo.Button{Label: label, Style: style, CustomID: p.Seal(b.Fields()...)}
}

func Row(parts ...discordgo.MessageComponent) []discordgo.MessageComponent {
	return []discordgo.MessageComponent{discordgo.ActionsRow{Components: parts}}
}

// Draw returns the messages of a delivery, at least one. The same delivery yields the same messages. For the copy of a
// card, link leads to the card's conversation; "" if there is none.
//
// A reply is drawn from its tree; any other text by a model or a person is literal, or code. No message pings anyone
// but an open card, which pings the approvers that it names. A card is a container with a coloured edge, which no reply
// can be.
func (p Painter) Draw(d core.Delivery, link string) ([]Message, error) {
	return outbound.Painter[Message]{Drawer: drawer{p}, Texts: p.Texts}.Draw(d, link)
}

// drawer draws each kind of post.
type drawer struct{ painter Painter }

func (d drawer) Reply(text string) []Message { return drawReplies(text, d.painter.Texts) }

func (drawer) Plain(text string) Message { return Message{Text: Literal(text, MaxPlain)} }

func (drawer) Steps(line string) Message {
	return Message{Text: StepsPrefix + Literal(safetext.OrNone(line), outbound.MaxSteps)}
}

func (d drawer) Late(m Message) Message { return m.Under(Late(d.painter.Texts)) }

func (d drawer) Button(_ core.Delivery, m Message, label string, b outbound.Button) (Message, error) {
	m.Rows = Row(d.painter.Button(label, discordgo.PrimaryButton, b))
	return m, nil
}

func (d drawer) Card(post core.Delivery, link string) (Message, error) {
	return d.painter.Card(post, link, false), nil
}
