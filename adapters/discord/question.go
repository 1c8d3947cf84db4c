package discord

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/question"
)

// A question's card has its options as buttons, or in a menu if there are many; without options it has a button that opens its form (answerform.go).

// menu is a menu of texts of which one is chosen. It stands on a card and in a form: discordgo.SelectMenu always has fields that a form must not
// have.
type menu struct {
	Kind        discordgo.ComponentType `json:"type"`
	CustomID    string                  `json:"custom_id"`
	Placeholder string                  `json:"placeholder,omitempty"`
	MinValues   int                     `json:"min_values"`
	MaxValues   int                     `json:"max_values"`
	Options     []menuOption            `json:"options"`
	Disabled    bool                    `json:"disabled,omitempty"` // only on a card
	Required    *bool                   `json:"required,omitempty"` // only in a form
}

type menuOption struct {
	Label   string `json:"label"`
	Value   string `json:"value"`
	Default bool   `json:"default,omitempty"`
}

// Type is that of a menu of texts.
func (m menu) Type() discordgo.ComponentType { return discordgo.SelectMenuComponent }

// MarshalJSON writes the menu as Discord reads it.
func (m menu) MarshalJSON() ([]byte, error) {
	type plain menu
	m.Kind = m.Type()
	return json.Marshal(plain(m))
}

// menuOptions are a question's options for a menu: the value of each is its place, from 1. chosen: the value of the one that is chosen at first,
// "" for none.
func menuOptions(options []question.Choice, chosen string) (all []menuOption) {
	for i, o := range options {
		place := strconv.Itoa(i + 1)
		all = append(all, menuOption{Label: plainLabel(o.Title, maxOption), Value: place, Default: place == chosen})
	}
	return all
}

// plainLabel draws a text where Discord reads no Markdown, on one line within a limit.
func plainLabel(text string, limit int) string {
	text = chat.OneLine(mask.Escape(text))
	if chat.Units(text) > limit {
		text, _ = chat.Head(text, limit-1)
		return text + "…"
	}
	return chat.OrNone(text)
}

// questionRows are the rows below an open question: how people answer it.
func questionRows(seal func(fields ...string) string, c core.Card) ([][]discordgo.MessageComponent, error) {
	options := c.Question.Options()
	if len(options) > question.MaxButtons {
		value, err := chat.OptionButton(c, 0).Value(seal, maxCustomID)
		return [][]discordgo.MessageComponent{{
			menu{CustomID: value, Placeholder: "Choose an answer", MinValues: 1, MaxValues: 1, Options: menuOptions(options, "")},
		}}, err
	}
	labels := []string{"Answer"}
	if len(options) > 0 {
		labels = nil
		for _, o := range options {
			labels = append(labels, plainLabel(o.Title, maxButton))
		}
	}
	var row []discordgo.MessageComponent
	for i, label := range labels {
		place := i + 1
		if len(options) == 0 {
			place = 0
		}
		b, err := newButton(seal, label, discordgo.PrimaryButton, chat.OptionButton(c, place))
		if err != nil {
			return nil, err
		}
		row = append(row, b)
	}
	return [][]discordgo.MessageComponent{row}, nil
}

// questionText draws the text of a question whole and with its lines: as a quotation, which its own Markdown can't end, or as code if too much of it
// would have to be escaped. A note says how much of it is over the limit.
func questionText(text string, limit int) string {
	text = strings.TrimSpace(mask.Escape(text))
	if shown := quotation(literal(text, 2*chat.Units(text)+limit)); chat.Units(shown) <= limit {
		return shown
	}
	const start, end = "```\n", "\n```"
	text = strings.ReplaceAll(text, "```", "``"+gap+"`")
	room := limit - chat.Units(start+end)
	shown, left := chat.Head(text, room)
	if left == 0 {
		return start + shown + end
	}
	shown, left = chat.Head(text, room-chat.Units(chat.MoreNote(left+room)))
	return start + shown + end + chat.MoreNote(left)
}

// answerText draws an answer of several lines with these lines.
func answerText(text string) string {
	text = strings.TrimSpace(chat.Clean(text))
	for limit := maxAnswer; ; limit /= 2 { // each line takes more room as a quotation
		if shown := quotation(literal(chat.OrNone(text), limit)); chat.Units(shown) <= maxAnswer || limit < minArguments {
			return "\n" + shown
		}
	}
}

// quotation makes each line of a harmless text one of a quotation.
func quotation(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }

// asQuestion makes the face of a question's card show its texts with their lines. The question takes what room there is beside the rest.
func asQuestion(face chat.Face[string], c core.Card, room int) chat.Face[string] {
	for i, f := range face.Fields {
		if f.Label == answerLabel && strings.Contains(c.Answer, "\n") {
			face.Fields[i].Value = []string{answerText(c.Answer)}
		}
	}
	face.Lead = ""
	face.Lead = questionText(c.Question.Text, room-chat.Units(head(face)))
	return face
}

// answerLabel is how the face of a card calls the field of the answer.
const answerLabel = "Answer"
