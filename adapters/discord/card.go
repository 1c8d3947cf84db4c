package discord

import (
	"fmt"
	"gatehouse/adapters/internal/chattext"
	"regexp"
	"strings"
	"time"

	api "github.com/bwmarrin/discordgo"

	"gatehouse/core"
)

// drawCard draws an approval as it stands, always as one message, whatever its fields hold. Once it is decided it has no buttons.
func (p painter) drawCard(d core.Delivery, link string) ([]drawn, error) {
	c := *d.Card
	above, below := face(c), ""
	if d.Late && c.State == core.Open {
		above = lateNote + above
	}
	if d.Copy {
		below = elsewhere(c, link)
	}
	shown, folded := arguments(c, maxShown-units(above)-units(below))
	m := drawn{Text: above + shown + below}
	if c.State != core.Open {
		return []drawn{m}, nil
	}
	buttons, err := p.buttons(c, folded)
	if err != nil {
		return nil, err
	}
	m.Rows = rowOf(buttons...)
	return []drawn{m}, nil
}

// headline says in a few words where an approval stands.
func headline(c core.Card) string {
	switch c.State {
	case core.Open:
		if c.Risk == core.Dangerous {
			return "⚠️ Approval needed for something dangerous"
		}
		return "Approval needed"
	case core.Approved:
		return "✅ Approved"
	case core.Refused:
		return "⛔ Refused"
	case core.Expired:
		return "⌛ Expired: nobody decided in time"
	case core.Cancelled:
		return "🚫 Cancelled"
	}
	return "Approval: " + inline(string(c.State), maxPerson)
}

// face is the card but for its arguments.
func face(c core.Card) string {
	text := decision(c) + "\n**" + orNone(inline(c.Summary, maxSummary)) + "**\nTool: " + codeWord(c.Tool, maxTool) +
		"\nAsked by: " + person(c.Requested, c.Requester)
	if c.State == core.Open {
		text += waits(c)
	}
	if c.Changed != "" {
		text += "\n**The request was changed after it was asked:** " + inline(c.Changed, maxChanged)
	}
	return text
}

// decision is the card's first line: where it stands and, once decided, by whom, when and why.
func decision(c core.Card) string {
	text := "**" + headline(c) + "**"
	switch c.State {
	case core.Open:
		if c.Risk == core.Dangerous {
			text += "\nThis is hard or impossible to undo."
		}
		return text
	case core.Approved, core.Refused, core.Cancelled:
		if c.DecidedBy != "" || c.Decided.ID != "" {
			text += " by " + person(c.Decided, c.DecidedBy)
		}
	}
	if !c.DecidedAt.IsZero() {
		text += ", " + moment(c.DecidedAt, "f")
	}
	if c.Reason != "" {
		text += "\nReason: " + inline(c.Reason, maxReasonOut)
	}
	return text
}

// waits is what an open card waits for.
func waits(c core.Card) string {
	text := ""
	for i, id := range c.Approvers {
		if i == maxApprovers {
			text += fmt.Sprintf(" and %d more", len(c.Approvers)-i)
			break
		}
		switch i {
		case 0:
			text += "\nMay decide: "
		default:
			text += ", "
		}
		text += approver(id)
	}
	if c.Quorum > 1 {
		text += fmt.Sprintf("\nApprovals: %d of %d", c.Votes, c.Quorum)
	}
	if !c.Deadline.IsZero() {
		text += "\nDecide by: " + moment(c.Deadline, "f") + " (" + moment(c.Deadline, "R") + ")"
	}
	return text
}

// arguments shows a call's arguments in a room, and reports whether some are left out.
func arguments(c core.Card, room int) (text string, folded bool) {
	const before, after = "\nArguments:\n```json\n", "\n```"
	all := boxed(c.Arguments)
	if all == "" {
		return "\nArguments: none", false
	}
	how := "press Show all arguments"
	if c.State != core.Open {
		how = showCommand(c)
	}
	word := func(left int) string { return thousands(left) + " more characters: " + how }
	room -= units(before) + units(after)
	shown, left := head(all, min(room, maxArguments))
	if left == 0 {
		return before + shown + after, false
	}
	_, count := head(all, 0)
	shown, left = head(all, min(room-units(word(count)), maxArguments))
	if units(shown) < minArguments {
		return "\nArguments: " + thousands(count) + " characters: " + how, true
	}
	return before + shown + after + word(left), true
}

// boxed is JSON as it stands between fences: it holds none itself.
func boxed(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(exposed(s)), "```", strings.Repeat(`\u0060`, 3))
}

// argumentsMessages gives texts that show all arguments one after the other; what is more than that is said aloud.
func (p painter) argumentsMessages(c core.Card) []string {
	all := boxed(c.Arguments)
	if all == "" {
		return []string{"Tool: " + codeWord(c.Tool, maxTool) + "\nArguments: none"}
	}
	const room = maxContent - 200 // for the words around it
	parts := chattext.Split("```json\n"+all+"\n```", room)
	if len(parts) > maxFollowUps {
		left := 0
		for _, part := range parts[maxFollowUps:] {
			_, n := head(part, 0)
			left += n
		}
		parts = parts[:maxFollowUps]
		parts[maxFollowUps-1] += "\nAbout " + thousands(left) + " more characters do not fit here. On a terminal: " + showCommand(c)
	}
	parts[0] = "Tool: " + codeWord(c.Tool, maxTool) + "\n" + parts[0]
	return parts
}

// elsewhere is what somebody must be told who may not see the conversation: what was said last, and where.
func elsewhere(c core.Card, link string) string {
	text := ""
	if lines := c.Context[max(0, len(c.Context)-maxLines):]; len(lines) > 0 {
		text += "\nWhat was said last:"
		for _, l := range lines {
			who := "Bot"
			if l.Role == core.User {
				who = "Person"
			}
			text += "\n> **" + who + ":** " + orNone(inline(l.Text, maxLine))
		}
	}
	text += "\nThis was asked in another conversation"
	if link != "" {
		return text + ": " + link
	}
	return text + "."
}

// buttons are those of an open card. A dangerous call is asked for twice.
func (p painter) buttons(c core.Card, folded bool) ([]api.MessageComponent, error) {
	approve := string(core.Approve)
	if c.Risk == core.Dangerous {
		approve = choiceConfirm
	}
	choices := []struct {
		label, choice string
		style         api.ButtonStyle
	}{
		{"Approve", approve, api.SuccessButton},
		{"Deny", string(core.Deny), api.DangerButton},
		{"Deny with reason…", choiceReason, api.SecondaryButton},
		{"Show all arguments", choiceArguments, api.SecondaryButton},
	}
	if !folded {
		choices = choices[:3]
	}
	var all []api.MessageComponent
	for _, b := range choices {
		made, err := p.button(b.label, b.style, string(c.Approval), b.choice)
		if err != nil {
			return nil, err
		}
		all = append(all, made)
	}
	return all, nil
}

// showCommand shows an approval whole, on a terminal.
func showCommand(c core.Card) string {
	return "gatehouse approvals show " + inline(string(c.Approval), maxTool)
}

// moment is a time in the reader's own zone and language.
func moment(t time.Time, style string) string { return fmt.Sprintf("<t:%d:%s>", t.Unix(), style) }

var discordPerson = regexp.MustCompile(`^` + Name + `:(\d{1,20})$`)

// person names somebody: as Discord shows them where it knows them, which calls nobody; else by the name.
func person(a core.Actor, name string) string {
	if id := discordPerson.FindStringSubmatch(a.ID); id != nil {
		return "<@" + id[1] + ">"
	}
	for _, n := range []string{name, a.Name, a.ID} {
		if n = inline(n, maxPerson); n != "" {
			return n
		}
	}
	return "somebody"
}

var discordRole = regexp.MustCompile(`^` + Name + `:role:(\d{1,20})$`)

// approver names one of those who may decide.
func approver(id string) string {
	if role := discordRole.FindStringSubmatch(id); role != nil {
		return "<@&" + role[1] + ">"
	}
	if discordPerson.MatchString(id) {
		return person(core.Actor{ID: id}, "")
	}
	if id == core.LocalPerson {
		return "whoever is at gatehouse's own machine"
	}
	return orNone(inline(id, maxApprover))
}
