package discord

import (
	"strings"
	"unicode/utf8"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/question"
)

// channel reads a card.
func channel(t *wording.Texts) doc.Reader {
	return doc.Reader{Platform: Name, Approvers: maxApprovers, Lines: maxLines, Input: maxInput, Texts: t}
}

// drawCard draws an approval's current state, always as one message, whatever its fields hold. pressed: the buttons are disabled, since one of
// them was just pressed.
func drawCard(
	seal func(fields ...string) string, t *wording.Texts, d core.Delivery, link string, pressed bool,
) (m drawn, err error) {
	v := doc.View(d, channel(t))
	if d.Card.State == core.Open && !d.Quiet && d.Person == "" {
		m.Users, m.Roles = told(v)
	}
	m.Card = &container{Color: int(v.Color)}
	if d.First != "" && link != "" {
		line := markdownOf(doc.Reminder(d, channel(t), link))
		m.Card.Parts = append(m.Card.Parts, discordgo.TextDisplay{Content: line})
		return m, nil
	}
	if !v.Elsewhere {
		link = ""
	}
	texts, left := layout(v, 0)
	rows, err := cardRows(seal, v, left, link, pressed)
	if err != nil {
		return drawn{}, err
	}
	foot := len(texts) - 1
	for _, text := range texts[:foot] {
		if text != "" {
			m.Card.Parts = append(m.Card.Parts, discordgo.TextDisplay{Content: text})
		}
	}
	for _, row := range rows {
		m.Card.Parts = append(m.Card.Parts, discordgo.ActionsRow{Components: row})
	}
	m.Card.Parts = append(m.Card.Parts, discordgo.TextDisplay{Content: texts[foot]})
	return m, nil
}

// layout draws the texts of a card: what is above the arguments, the arguments, what is below them, and the foot. left is how many characters of
// the arguments it leaves out, if so much of its room is spared.
func layout(v doc.Document, spared int) (texts []string, left int) {
	above, below, foot := "### "+v.Headline+doc.Plain(v.For, textOf)+"\n", contextOf(v), "-# "+markdownOf(v.Foot)
	if v.Late != "" {
		above = late(v.Texts) + above
	}
	rest := "\n" + fields(v.Fields)
	for _, note := range v.Notes {
		rest += "\n" + markdownOf(note.Spans)
	}
	above += leadOf(v.Lead, maxCard-chat.Units(above+rest+below+foot)) + rest
	code, left := arguments(v, maxCard-spared-chat.Units(above+below+foot))
	return []string{above, code, below, foot}, left
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

// told returns whom a card pings: the approvers that it names, and nobody else.
func told(v doc.Document) (users, roles []string) {
	named := v.For
	for _, f := range v.Fields {
		named = append(named, f.Value...)
	}
	for _, s := range named {
		user, role := accountOf(s.Who.ID)
		switch {
		case s.Kind != doc.Approver:
		case user != "":
			users = append(users, user)
		case role != "":
			roles = append(roles, role)
		}
	}
	return users, roles
}

// arguments draws a call's arguments within a limit of UTF-16 units, and returns how many characters of them are left out.
func arguments(v doc.Document, room int) (text string, left int) {
	code, instead := v.Shown()
	if instead != "" {
		return "-# " + instead, 0
	}
	if code == "" {
		return "", 0
	}
	code = unfenced(code)
	begin := "```\n"
	if strings.HasPrefix(code, "{") || strings.HasPrefix(code, "[") {
		begin = jsonFence
	}
	text, left = fenced("**"+v.LabelArguments+"**\n"+begin, code, min(room, maxArguments), func(left int) string {
		return chat.Counted(v.ArgumentsCut, left)
	})
	if count := utf8.RuneCountInString(code); left > 0 && count-left < minArguments {
		return chat.Counted(v.ArgumentsUnshown, count), count
	}
	return text, left
}

// contextOf draws the context of a copy, for a person who may not see the conversation: its last messages. "" for any other card.
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

// cardRows are the rows of a card that leaves out so many characters of the arguments: how people answer a question, and the buttons.
func cardRows(
	seal func(fields ...string) string, v doc.Document, left int, link string, pressed bool,
) (rows [][]discordgo.MessageComponent, err error) {
	answers := v.Answers()
	if len(answers) > question.MaxButtons {
		value, err := doc.Choice{Action: chat.ActionAnswer}.Button(v).Value(seal, maxCustomID)
		if err != nil {
			return nil, err
		}
		answers = nil
		rows = append(rows, []discordgo.MessageComponent{menu{
			CustomID: value, Placeholder: v.ChooseAnswer, MinValues: 1, MaxValues: 1, Options: menuOptions(v.Options, ""), Disabled: pressed,
		}})
	}
	for i, choices := range [][]doc.Choice{answers, v.Cut(left, leadCut(v))} {
		var row []discordgo.MessageComponent
		for _, c := range choices {
			if c.Cautions != "" {
				c.Action = chat.ActionConfirm
			}
			made, err := newButton(seal, plainLabel(c.Label, maxButton), styles[c.Look], c.Button(v))
			if err != nil {
				return nil, err
			}
			made.Disabled = pressed
			row = append(row, made)
		}
		if i > 0 && link != "" {
			row = append(row, discordgo.Button{Label: plainLabel(v.ButtonConversation, maxButton), Style: discordgo.LinkButton, URL: link})
		}
		if row != nil {
			rows = append(rows, row)
		}
	}
	return rows, nil
}

var styles = map[doc.Look]discordgo.ButtonStyle{
	doc.Calm: discordgo.SecondaryButton, doc.Good: discordgo.SuccessButton, doc.Danger: discordgo.DangerButton, doc.Pick: discordgo.PrimaryButton,
}

// leadCut is how much of what a card is about is left out.
func leadCut(v doc.Document) int {
	whole := v.Lead[0]
	whole.Limit = doc.NoLimit
	return max(0, chat.Units(textOf(whole))-maxSummary)
}
