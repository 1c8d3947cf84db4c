package draw

import (
	"strings"
	"unicode/utf8"

	"gatehouse/adapters/discord/internal/address"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/question"
)

// Reader reads a card.
func Reader(t *wording.Texts) doc.Reader {
	return doc.Reader{Platform: address.Platform, Approvers: maxApprovers, Lines: maxLines, Input: MaxInput, Texts: t}
}

// Card draws an approval's current state, always as one message, whatever its fields hold. pressed: the buttons are
// disabled, since one of them was just pressed.
func (p Painter) Card(d core.Delivery, link string, pressed bool) (m Message) {
	reader := Reader(p.Texts)
	if d.Like != "" && !d.Copy {
		reader.First = link
	}
	v := doc.View(d, reader)
	if d.Card.State == core.Open && !d.Quiet && d.Person == "" {
		m.Users, m.Roles = Told(v)
	}
	m.Card = &discordgo.Container{AccentColor: new(int(v.Color))}
	if d.Reminds != "" && link != "" {
		m.write(markdownOf(doc.Reminder(d, Reader(p.Texts), link)))
		return m
	}
	texts, foot, left := layout(v, 0)
	m.write(texts...)
	m.Card.Components = append(m.Card.Components, p.rows(v, left, link, pressed)...)
	m.write(foot)
	return m
}

// layout draws the texts of a card: what is above the arguments, the arguments, what is below them, and the foot. left
// is how many characters of the arguments it leaves out, if so much of its room is spared.
func layout(v doc.Document, spared int) (texts []string, foot string, left int) {
	above, below, foot := "### "+v.Headline+doc.Plain(v.For, textOf)+"\n", contextOf(v), "-# "+markdownOf(v.Foot)
	if v.Late != "" {
		above = Late(v.Texts) + above
	}
	rest := "\n" + fields(v.Fields)
	for _, note := range v.Notes {
		rest += "\n" + markdownOf(note.Spans)
	}
	above += leadOf(v.Lead, maxCard-safetext.Units(above+rest+below+foot)) + rest
	code, left := arguments(v, maxCard-spared-safetext.Units(above+below+foot))
	return []string{above, code, below}, foot, left
}

// fields draws the fields of a card, two on a line.
func fields(all []doc.Field) (text string) {
	half := false // the last line has room for another one
	for i, f := range all {
		if half = half && !f.Wide; half {
			text += " · "
		} else if i > 0 {
			text += "\n"
		}
		text += "**" + f.Label + ":** " + markdownOf(f.Value)
		half = !half && !f.Wide
	}
	return text
}

// arguments draws a call's arguments within a limit of UTF-16 units, and returns how many characters of them are left
// out.
func arguments(v doc.Document, room int) (text string, left int) {
	code, instead := v.Shown()
	switch {
	case instead != "":
		return "-# " + instead, 0
	case code == "":
		return "", 0
	}
	code = unfenced(code)
	begin := "```\n"
	if strings.HasPrefix(code, "{") || strings.HasPrefix(code, "[") {
		begin = jsonFence
	}
	text, left = fenced("**"+v.LabelArguments+"**\n"+begin, code, min(room, maxArguments), func(left int) string {
		return safetext.Counted(v.ArgumentsCut, left)
	})
	if count := utf8.RuneCountInString(code); left > 0 && count-left < minArguments {
		return safetext.Counted(v.ArgumentsUnshown, count), count
	}
	return text, left
}

// contextOf draws the context of a copy, for a person who may not see the conversation: its last messages. "" for any
// other card.
func contextOf(v doc.Document) string {
	if !v.Elsewhere {
		return ""
	}
	text := v.CardElsewhere
	if len(v.Context) > 0 {
		text += " " + v.ItsLastMessages
	}
	for _, l := range v.Context {
		text += "\n> **" + l.Speaker + ":** " + said(l.Text, maxLine)
	}
	return text
}

// rows are the rows of a card that leaves out so many characters of the arguments: how people answer a question, and
// the buttons.
func (p Painter) rows(v doc.Document, left int, link string, pressed bool) (rows []discordgo.MessageComponent) {
	answers := v.Answers()
	if len(answers) > question.MaxButtons {
		value := p.Seal(doc.Choice{Action: outbound.ActionAnswer}.Button(v).Fields()...)
		m := menuOf(value, v.ChooseAnswer, v.Options, "")
		m.Disabled = pressed
		rows, answers = Row(m), nil
	}
	for i, choices := range [][]doc.Choice{answers, v.Cut(left, leadCut(v))} {
		var row []discordgo.MessageComponent
		for _, c := range choices {
			if c.Cautions != "" {
				c.Action = confirming[c.Action]
			}
			b := p.Button(plainLabel(c.Label, maxButton), styles[c.Look], c.Button(v))
			b.Disabled = pressed
			row = append(row, b)
		}
		if i > 0 && v.Elsewhere && link != "" {
			row = append(row, discordgo.Button{
				Label: plainLabel(v.ButtonConversation, maxButton), Style: discordgo.LinkButton, URL: link,
			})
		}
		if row != nil {
			rows = append(rows, Row(row...)...)
		}
	}
	return rows
}

// confirming are the actions that open a form first, since Discord has no dialog that confirms a press.
var confirming = map[outbound.Action]outbound.Action{
	outbound.ActionApprove: outbound.ActionConfirm, outbound.ActionRemember: outbound.ActionConfirmRemember,
}

var styles = map[doc.Look]discordgo.ButtonStyle{
	doc.Calm: discordgo.SecondaryButton, doc.Good: discordgo.SuccessButton,
	doc.Danger: discordgo.DangerButton, doc.Pick: discordgo.PrimaryButton,
}

// leadCut is how much of what a card is about is left out.
func leadCut(v doc.Document) int {
	whole := v.Lead[0]
	whole.Limit = doc.NoLimit
	return max(0, safetext.Units(textOf(whole))-maxSummary)
}

// Told returns whom a card pings: the approvers that it names, and nobody else.
func Told(v doc.Document) (users, roles []string) {
	for _, f := range append(v.Fields, doc.Field{Value: v.For}) {
		for _, s := range f.Value {
			account := address.Account(s.Who.ID)
			role, isRole := strings.CutPrefix(account, "&")
			switch {
			case s.Kind != doc.Approver || account == "":
			case isRole:
				roles = append(roles, role)
			default:
				users = append(users, account)
			}
		}
	}
	return users, roles
}
