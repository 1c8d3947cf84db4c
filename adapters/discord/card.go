package discord

import (
	"strings"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/preflight"
	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
	"gatehouse/core/question"
)

// channel reads a card.
var channel = doc.Reader{Platform: Name, Approvers: maxApprovers, Lines: maxLines, Input: maxInput}

// drawCard draws an approval's current state, always as one message, whatever its fields hold. pressed: the buttons are disabled, since one of
// them was just pressed.
func drawCard(seal func(fields ...string) string, d core.Delivery, link string, pressed bool) (drawn, error) {
	v := doc.View(d, channel)
	if !v.Elsewhere {
		link = ""
	}
	texts, left := layout(v, 0)
	rows, err := cardRows(seal, v, left, link)
	if err != nil {
		return drawn{}, err
	}
	m := drawn{Card: &container{Color: int(v.Color)}}
	foot := len(texts) - 1
	for _, text := range texts[:foot] {
		if text != "" {
			m.Card.Parts = append(m.Card.Parts, discordgo.TextDisplay{Content: text})
		}
	}
	for _, row := range rows {
		if pressed {
			row = disabled(row)
		}
		m.Card.Parts = append(m.Card.Parts, discordgo.ActionsRow{Components: row})
	}
	m.Card.Parts = append(m.Card.Parts, discordgo.TextDisplay{Content: texts[foot]})
	if d.Card.State == core.Open && !d.Quiet && d.Person == "" {
		m.Users, m.Roles = told(*d.Card)
	}
	return m, nil
}

// layout draws the texts of a card: what is above the arguments, the arguments, what is below them, and the foot. left is how many characters of
// the arguments it leaves out, if so much of its room is spared.
func layout(v doc.Document, spared int) (texts []string, left int) {
	above, below, foot := "### "+v.Headline+doc.Plain(v.For, textOf)+"\n", "", "-# "+cardLine(v.Foot)
	if v.Late != "" {
		above = "-# " + v.Late + "\n" + above
	}
	if v.Elsewhere {
		below = contextOf(v.Context)
	}
	rest := "\n" + fields(v.Fields)
	for _, note := range v.Notes {
		rest += "\n" + cardLine(note.Spans)
	}
	room := maxCard - chat.Units(above+rest+below+foot)
	above += leadOf(v.Lead, room) + rest
	code, left := arguments(v, maxCard-spared-chat.Units(above+below+foot))
	return []string{above, code, below, foot}, left
}

// fields draws the fields of a card, two on a line.
func fields(all []doc.Field) string {
	var lines []string
	half := false // the last line has room for another one
	for _, f := range all {
		text := "**" + f.Label + ":** " + cardLine(f.Value)
		if half && !f.Wide {
			lines[len(lines)-1] += " · " + text
		} else {
			lines = append(lines, text)
		}
		half = !half && !f.Wide
	}
	return strings.Join(lines, "\n")
}

// told returns whom an open card pings: the approvers that it names, and nobody else.
func told(c core.Card) (users, roles []string) {
	v := doc.View(core.Delivery{Card: &c}, channel)
	named := v.For
	for _, f := range v.Fields {
		named = append(named, f.Value...)
	}
	for _, s := range named {
		if s.Kind != doc.Approver {
			continue
		}
		if role := preflight.RoleID.FindStringSubmatch(s.Who.ID); role != nil {
			roles = append(roles, role[1])
		} else if user, ok := userOf(s.Who.ID); ok {
			users = append(users, user)
		}
	}
	return users, roles
}

// arguments draws a call's arguments within a limit of UTF-16 units, and returns how many characters of them are left out.
func arguments(v doc.Document, room int) (text string, left int) {
	code, instead := v.Shown()
	switch {
	case instead != "":
		return "-# " + instead, 0
	case code == "":
		return "", 0
	}
	all := unfenced(code)
	before, after := "**Arguments**\n```\n", codeEnd
	if strings.HasPrefix(all, "{") || strings.HasPrefix(all, "[") {
		before = "**Arguments**\n" + codeStart
	}
	_, count := chat.Head(all, 0)
	note := func(left int) string { return chat.Thousands(left) + " more characters: press Show all arguments" }
	room -= chat.Units(before) + chat.Units(after)
	shown, left := chat.Head(all, min(room, maxArguments))
	if left == 0 {
		return before + shown + after, 0
	}
	shown, left = chat.Head(all, min(room-chat.Units(note(count)), maxArguments))
	if chat.Units(shown) < minArguments {
		return "The arguments (" + chat.Thousands(count) + " characters) are not shown here. To see them: press Show all arguments", count
	}
	return before + shown + after + note(left), left
}

// contextOf draws the context for a person who may not see the conversation: its last messages.
func contextOf(context []doc.Line) string {
	text := doc.Copied
	if len(context) > 0 {
		text += " Its last messages:"
	}
	for _, l := range context {
		text += "\n> **" + l.Speaker + ":** " + doc.OrEmpty(said(l.Text, maxLine))
	}
	return text
}

// cardRows are the rows of a card that leaves out so many characters of the arguments: how people answer a question, and the buttons.
func cardRows(seal func(fields ...string) string, v doc.Document, left int, link string) (rows [][]discordgo.MessageComponent, err error) {
	answers := v.Answers()
	if len(answers) > question.MaxButtons {
		value, err := doc.Choice{Action: chat.ActionAnswer}.Button(v).Value(seal, maxCustomID)
		if err != nil {
			return nil, err
		}
		answers = nil
		all := menu{CustomID: value, Placeholder: "Choose an answer", MinValues: 1, MaxValues: 1, Options: menuOptions(v.Options, "")}
		rows = append(rows, []discordgo.MessageComponent{all})
	}
	for _, choices := range [][]doc.Choice{answers, v.Cut(left, leadCut(v))} {
		var row []discordgo.MessageComponent
		for _, c := range choices {
			if c.Cautions != "" {
				c.Action = chat.ActionConfirm
			}
			made, err := newButton(seal, plainLabel(c.Label, maxButton), styles[c.Look], c.Button(v))
			if err != nil {
				return nil, err
			}
			row = append(row, made)
		}
		if row != nil {
			rows = append(rows, row)
		}
	}
	if link != "" {
		open := discordgo.Button{Label: "Open the conversation", Style: discordgo.LinkButton, URL: link}
		if len(v.Cut(left, 0)) == 0 {
			rows = append(rows, nil)
		}
		rows[len(rows)-1] = append(rows[len(rows)-1], open)
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

// disabled is a row in which only links can be pressed.
func disabled(row []discordgo.MessageComponent) (all []discordgo.MessageComponent) {
	for _, one := range row {
		switch c := one.(type) {
		case discordgo.Button:
			c.Disabled = c.Style != discordgo.LinkButton
			one = c
		case menu:
			c.Disabled = true
			one = c
		}
		all = append(all, one)
	}
	return all
}
