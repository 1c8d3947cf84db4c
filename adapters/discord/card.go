package discord

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/preflight"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// drawCard draws an approval's current state, always as one message, whatever its fields hold. A decided one has no buttons but that of an
// expired one to ask again. pressed: the buttons are disabled, since one of them was just pressed.
func drawCard(seal func(fields ...string) string, d core.Delivery, link string, pressed bool) (drawn, error) {
	c := *d.Card
	face, late, below, foot := cardText.Face(d), "", "", foot(c)
	if d.Late && c.State == core.Open {
		late = latePrefix
	}
	if d.Copy {
		below = contextOf(c)
	} else {
		link = ""
	}
	if c.Question != nil {
		face = asQuestion(face, c, maxCard-chat.Units(late)-chat.Units(below)-chat.Units(foot))
	}
	above := late + head(face)
	shown, folded := "", false
	if c.Question == nil {
		shown, folded = arguments(c, maxCard-chat.Units(above)-chat.Units(below)-chat.Units(foot))
	}
	rows, err := cardRows(seal, c, d.Pressed, folded, link)
	if err != nil {
		return drawn{}, err
	}
	m := drawn{Card: &container{Color: int(face.Color)}}
	for _, text := range []string{above, shown, below} {
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
	m.Card.Parts = append(m.Card.Parts, discordgo.TextDisplay{Content: foot})
	if c.State == core.Open && !d.Quiet && d.Person == "" {
		m.Users, m.Roles = told(c)
	}
	return m, nil
}

// leavesOut reports whether a card with every note, or a copy of it with the longest context, leaves out some arguments.
func leavesOut(c core.Card) bool {
	above := head(cardText.Face(core.Delivery{Post: core.Post{LeftOut: 1000}, Card: &c})) + latePrefix
	_, folded := arguments(c, maxCard-chat.Units(above)-maxContext-chat.Units(foot(c)))
	return folded
}

// head draws what is above the arguments.
func head(face chat.Face[string]) string {
	text := "### " + face.Title + "\n" + face.Lead + "\n" + fields(face)
	for _, note := range face.Notes {
		text += "\n" + strings.Join(note, "")
	}
	return text
}

func foot(c core.Card) string { return "-# Approval " + inlineCode(chat.ShortID(c.Approval), maxTool) }

// fields draws the fields of a card, two on a line.
func fields(face chat.Face[string]) string {
	var lines []string
	half := false // the last line has room for another one
	for _, f := range face.Fields {
		text := "**" + f.Label + ":** " + strings.Join(f.Value, "")
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
	for i, id := range cardText.Approvers(c) {
		if i == maxApprovers {
			break
		}
		if role := preflight.RoleID.FindStringSubmatch(id); role != nil {
			roles = append(roles, role[1])
		} else if user, ok := userOf(id); ok {
			users = append(users, user)
		}
	}
	return users, roles
}

// cardText draws the card without its arguments.
var cardText = chat.CardText[string]{
	Platform: Name,
	Limits:   chat.CardLimits{Summary: maxSummary, Approvers: maxApprovers, Message: maxMessage, Changed: maxChanged, Reason: maxReasonOut},
	Inline:   inline,
	Said:     said,
	Text:     func(s string) string { return s },
	Bold:     func(s string) string { return "**" + s + "**" },
	Tool:     func(name string) string { return inlineCode(name, maxTool) },
	Person:   person,
	Approver: approver,
	Time:     func(t time.Time) string { return timestamp(t, "f") },
	Deadline: func(t time.Time) []string { return []string{timestamp(t, "f"), " (", timestamp(t, "R"), ")"} },
}

// timestamp formats a time so that Discord shows it in the reader's time zone and language.
func timestamp(t time.Time, style string) string { return fmt.Sprintf("<t:%d:%s>", t.Unix(), style) }

// person names a person: a Discord user by a mention; anyone else by name.
func person(who core.Actor, name string) string {
	if user, ok := userOf(who.ID); ok {
		return "<@" + user + ">"
	}
	return chat.PersonName(who, name, func(s string) string { return said(s, maxPerson) })
}

// approver names a person or role that may decide.
func approver(id string) string {
	if role := preflight.RoleID.FindStringSubmatch(id); role != nil {
		return "<@&" + role[1] + ">"
	}
	if user, ok := userOf(id); ok {
		return "<@" + user + ">"
	}
	if id == core.LocalPerson {
		return chat.LocalApprover
	}
	return cmp.Or(chat.Elsewhere(id), chat.OrNone(inline(id, maxApprover)))
}

// arguments draws a call's arguments within a limit of UTF-16 units, and reports whether some are left out. Those of a decided call are
// folded: it shows them only if they are short.
func arguments(c core.Card, room int) (text string, folded bool) {
	all := unfenced(chat.Arguments(c))
	before, after := "**Arguments**\n```\n", codeEnd
	if strings.HasPrefix(all, "{") || strings.HasPrefix(all, "[") {
		before = "**Arguments**\n" + codeStart
	}
	if all == "" {
		return "No arguments", false
	}
	_, count := chat.Head(all, 0)
	how := "press Show all arguments"
	if c.State != core.Open {
		how = chat.ShowCommand(c.Approval)
		if chat.Units(all) > maxFolded {
			return "-# The arguments (" + chat.Thousands(count) + " characters) are not shown here. To see them: " + how, true
		}
	}
	note := func(left int) string { return chat.Thousands(left) + " more characters: " + how }
	room -= chat.Units(before) + chat.Units(after)
	shown, left := chat.Head(all, min(room, maxArguments))
	if left == 0 {
		return before + shown + after, false
	}
	shown, left = chat.Head(all, min(room-chat.Units(note(count)), maxArguments))
	if chat.Units(shown) < minArguments {
		return "The arguments (" + chat.Thousands(count) + " characters) are not shown here. To see them: " + how, true
	}
	return before + shown + after + note(left), true
}

// contextOf draws the context for a person who may not see the conversation: its last messages.
func contextOf(c core.Card) string {
	text := "This was asked in another conversation."
	lines, speakers := chat.LastLines(c, maxLines)
	for i, l := range lines {
		if i == 0 {
			text += " Its last messages:"
		}
		text += "\n> **" + speakers[i] + ":** " + cmp.Or(said(l.Text, maxLine), "(empty)")
	}
	return text
}

// cardRows are the rows of a card: how people answer a question, and the buttons.
func cardRows(seal func(fields ...string) string, c core.Card, again, folded bool, link string) (rows [][]discordgo.MessageComponent, err error) {
	if c.Question != nil && c.State == core.Open {
		if rows, err = questionRows(seal, c); err != nil {
			return nil, err
		}
	}
	buttons, err := cardButtons(seal, c, again, folded, link)
	if err != nil || len(buttons) == 0 {
		return rows, err
	}
	var row []discordgo.MessageComponent
	for _, b := range buttons {
		row = append(row, b)
	}
	return append(rows, row), nil
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

// cardButtons are the buttons of a card, without those that answer a question. What is dangerous, or not all on the card, needs a second confirmation, and its button is red;
// Deny never is. again: it was already asked again.
func cardButtons(seal func(fields ...string) string, c core.Card, again, folded bool, link string) ([]discordgo.Button, error) {
	type choice struct {
		text   string
		action chat.Action
		style  discordgo.ButtonStyle
	}
	approve := choice{"Approve", chat.ActionApprove, discordgo.SuccessButton}
	if folded || c.Question == nil && cardText.Cautions(c, 0) != "" {
		approve.action = chat.ActionConfirm
	}
	if c.Risk == core.Dangerous {
		approve.style = discordgo.DangerButton
	}
	var choices []choice
	switch {
	case c.State == core.Expired && !again:
		choices = append(choices, choice{"Ask again", chat.ActionAskAgain, discordgo.SecondaryButton})
	case c.State == core.Open && c.Question != nil:
		choices = append(choices, choice{"Withdraw", chat.ActionWithdraw, discordgo.SecondaryButton})
	case c.State == core.Open:
		if !c.Altered {
			choices = append(choices, approve)
		}
		choices = append(choices, choice{"Deny", chat.ActionReason, discordgo.SecondaryButton})
		if _, ok := chat.EditText(c, maxInput); ok && !folded {
			choices = append(choices, choice{"Edit", chat.ActionEdit, discordgo.SecondaryButton})
		}
		if folded {
			choices = append(choices, choice{"Show all arguments", chat.ActionArguments, discordgo.SecondaryButton})
		}
		choices = append(choices, choice{"Withdraw", chat.ActionWithdraw, discordgo.SecondaryButton})
	}
	var all []discordgo.Button
	for _, one := range choices {
		made, err := newButton(seal, one.text, one.style, chat.CardButton(c, one.action))
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	if link != "" {
		all = append(all, discordgo.Button{Label: "Open the conversation", Style: discordgo.LinkButton, URL: link})
	}
	return all, nil
}
