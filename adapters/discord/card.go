package discord

import (
	"fmt"
	"strings"
	"time"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/discord/internal/preflight"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// newPainter returns a painter of deliveries. Replies go through neutral; any other text by a model or a person is literal, or code. No
// message pings anyone: each has empty allowed_mentions. seal signs the value of a button.
func newPainter(seal func(fields ...string) string) chat.Painter[drawn] {
	return chat.Painter[drawn]{
		Parts: markdown,
		Reply: func(part string) drawn { return drawn{Text: part} },
		Plain: func(text string) drawn { return drawn{Text: literal(text, maxPlain)} },
		Steps: func(line string) drawn { return drawn{Text: stepsPrefix + literal(chat.OrNone(line), chat.MaxSteps)} },
		Late: func(m drawn) drawn {
			m.Text = latePrefix + m.Text
			return m
		},
		Button: func(m drawn, text string, b chat.Button) (drawn, error) {
			made, err := newButton(seal, text, discordgo.PrimaryButton, b)
			m.Rows = rowOf(made)
			return m, err
		},
		Card: func(d core.Delivery, link string) (drawn, error) { return drawCard(seal, d, link) },
	}
}

// parts draws the messages of a delivery. A long reply is slow to draw, so it stays cached until its last part is sent.
func (d *Discord) parts(delivery core.Delivery) ([]drawn, error) {
	if delivery.Kind == core.PostReply && len(delivery.Text) > maxReply {
		return d.long.Parts(delivery, func() ([]drawn, error) { return d.painter.Draw(delivery, "") })
	}
	link := ""
	if delivery.Copy && delivery.Card != nil {
		link = linkTo(delivery.Conversation, delivery.Card.From)
	}
	return d.painter.Draw(delivery, link)
}

// drawCard draws an approval's current state, always as one message, whatever its fields hold. A decided one has no buttons.
func drawCard(seal func(fields ...string) string, d core.Delivery, link string) (drawn, error) {
	c := *d.Card
	above, below := strings.Join(cardText.Face(c), ""), ""
	if d.Late && c.State == core.Open {
		above = latePrefix + above
	}
	if d.Copy {
		below = contextOf(c, link)
	}
	shown, folded := arguments(c, maxContent-chat.Units(above)-chat.Units(below))
	m := drawn{Text: above + shown + below}
	if c.State != core.Open {
		return m, nil
	}
	buttons, err := cardButtons(seal, c, folded)
	m.Rows = rowOf(buttons...)
	return m, err
}

// cardText draws the card without its arguments.
var cardText = chat.CardText[string]{
	Limits:   chat.CardLimits{Summary: maxSummary, Approvers: maxApprovers, Changed: maxChanged, Reason: maxReasonOut},
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

// person names a person: a Discord user by a mention, which pings no one here; anyone else by name.
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
	return chat.OrNone(inline(id, maxApprover))
}

// arguments draws a call's arguments within a limit of UTF-16 units, and reports whether some are left out.
func arguments(c core.Card, room int) (text string, folded bool) {
	const before, after = "\nArguments:\n" + codeStart, codeEnd
	all := unfenced(strings.TrimSpace(core.Reveal(c.Arguments)))
	if all == "" {
		return "\nArguments: none", false
	}
	how := "press Show all arguments"
	if c.State != core.Open {
		how = chat.ShowCommand(c.Approval)
	}
	note := func(left int) string { return chat.Thousands(left) + " more characters: " + how }
	room -= chat.Units(before) + chat.Units(after)
	shown, left := chat.Head(all, min(room, maxArguments))
	if left == 0 {
		return before + shown + after, false
	}
	_, count := chat.Head(all, 0)
	shown, left = chat.Head(all, min(room-chat.Units(note(count)), maxArguments))
	if chat.Units(shown) < minArguments {
		return "\nArguments: " + chat.Thousands(count) + " characters: " + how, true
	}
	return before + shown + after + note(left), true
}

// contextOf draws the context for a person who may not see the conversation: its last messages, and a link to it.
func contextOf(c core.Card, link string) string {
	text := ""
	lines, speakers := chat.LastLines(c, maxLines)
	for i, l := range lines {
		if i == 0 {
			text += "\nLast messages:"
		}
		text += "\n> **" + speakers[i] + ":** " + chat.OrNone(said(l.Text, maxLine))
	}
	text += "\nThis was asked in another conversation"
	if link != "" {
		return text + ": " + link
	}
	return text + "."
}

// cardButtons are the buttons of an open card. What is dangerous, or not all on the card, needs a second confirmation.
func cardButtons(seal func(fields ...string) string, c core.Card, folded bool) ([]discordgo.MessageComponent, error) {
	approve := chat.ActionApprove
	if folded || cardText.Cautions(c, 0) != "" {
		approve = chat.ActionConfirm
	}
	choices := []struct {
		text   string
		action chat.Action
		style  discordgo.ButtonStyle
	}{
		{"Approve", approve, discordgo.SuccessButton},
		{"Deny", chat.ActionDeny, discordgo.DangerButton},
		{"Deny with reason…", chat.ActionReason, discordgo.SecondaryButton},
		{"Show all arguments", chat.ActionArguments, discordgo.SecondaryButton},
	}
	if !folded {
		choices = choices[:3]
	}
	var all []discordgo.MessageComponent
	if c.Altered {
		choices = choices[1:]
	}
	for _, one := range choices {
		made, err := newButton(seal, one.text, one.style, chat.CardButton(c.Approval, one.action))
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}
