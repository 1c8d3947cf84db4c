package chat

import (
	"cmp"
	"fmt"
	"regexp"
	"strings"

	"gatehouse/core"
	"gatehouse/core/mask"
)

const irreversible = "This is hard or impossible to undo."

// AlteredNote is the sentence on a card whose stored call was changed.
const AlteredNote = "The stored request is not the one that was asked for. It can't be approved. Deny it, and tell whoever runs gatehouse."

// NeedsReview reports whether approving takes a second step, wherever the whole card is shown: the call is dangerous, or part of it is hidden.
func NeedsReview(c core.Card) bool {
	return c.Question == nil && (c.Risk == core.Dangerous || c.Hidden > 0)
}

// Warnings are what an approver must know before a decision, where the whole card is shown.
func Warnings(c core.Card) (all []string) {
	if c.Question != nil {
		return nil
	}
	if c.Altered {
		all = append(all, AlteredNote)
	}
	if c.Risk == core.Dangerous {
		all = append(all, irreversible)
	}
	if c.Hidden > 0 {
		all = append(all, hiddenNote(c))
	}
	return all
}

func hiddenNote(c core.Card) string {
	if c.Hidden == 1 {
		return "1 character is hidden, because it looks like a secret."
	}
	return Thousands(c.Hidden) + " characters are hidden, because they look like a secret."
}

// Cautions returns the sentences that approving must be confirmed with, "" if it needs no confirmation: the call is dangerous, or the card
// does not show all of it. folded is the number of characters of the arguments that are not on the card.
func (t CardText[P]) Cautions(c core.Card, folded int) string {
	var all []string
	if c.Risk == core.Dangerous {
		all = append(all, irreversible)
	}
	if c.Hidden > 0 {
		all = append(all, hiddenNote(c))
	}
	if folded += max(0, Units(t.Inline(c.Summary, len(c.Summary)*maxEscape))-t.Limits.Summary); folded > 0 {
		all = append(all, Thousands(folded)+" more characters are not on the card: read them first.")
	}
	return strings.Join(all, " ")
}

// maxEscape is how many characters a byte of foreign text can become on a card.
const maxEscape = 8

// Headline returns the state of an approval in a few words, and why its card is posted.
func Headline(c core.Card, o core.Occasion) string {
	if c.State == core.Open && c.Asked.Of > 1 {
		one := c
		one.Asked = core.Asked{}
		return fmt.Sprintf("%s (%d of %d)", Headline(one, o), c.Asked.Place, c.Asked.Of)
	}
	if c.Question != nil {
		return questionHeadline(c, o)
	}
	switch c.State {
	case core.Open:
		switch o {
		case core.Reminder:
			return "🔔 Reminder: an approval is still needed"
		case core.Escalated:
			return "🔔 Nobody has decided yet: an approval is needed"
		}
		if c.Risk == core.Dangerous {
			return "⚠️ Approval needed for something dangerous"
		}
		return "🔔 Approval needed"
	case core.Approved:
		return "✅ Approved"
	case core.Denied:
		return "⛔ Denied"
	case core.Expired:
		return "⌛ Expired: it was not decided in time"
	case core.Cancelled:
		return "🚫 Cancelled"
	}
	return "Approval: " + Name(string(c.State))
}

func questionHeadline(c core.Card, o core.Occasion) string {
	switch c.State {
	case core.Open:
		if o != "" {
			return "❓ Reminder: a question still waits for an answer"
		}
		return "❓ A question for you"
	case core.Answered:
		return "✅ Answered"
	case core.Expired:
		return "⌛ Expired: nobody answered in time"
	case core.Cancelled:
		return "🚫 Withdrawn"
	}
	return "Question: " + Name(string(c.State))
}

// LastLines returns the last lines of the conversation, at most most of them, and the speaker of each. A copy of a card shows them.
func LastLines(c core.Card, most int) (lines []core.Line, speakers []string) {
	lines = c.Context[max(0, len(c.Context)-most):]
	for _, l := range lines {
		who := "Bot"
		if l.Role == core.User {
			who = "Person"
		}
		speakers = append(speakers, who)
	}
	return lines, speakers
}

// PersonName returns the name of a person, and their id only if the name has letters that look like others.
func PersonName(who core.Actor, name string, inline func(string) string) string {
	if name == who.ID {
		name = ""
	}
	if mask.LookAlike(who.Name) && len(who.ID) <= maxName {
		name = who.Called()
	}
	return cmp.Or(inline(name), inline(who.Name), Elsewhere(who.ID), "somebody")
}

// ShortID is the beginning of an approval's id, which the commands accept too.
func ShortID(id core.ApprovalID) string {
	short, _ := Head(Name(string(id)), shortID)
	return strings.TrimRight(short, "-")
}

const shortID = 13 // of a UUID v7: all of its time

// Label describes a button to a screen reader, within a limit: what it does, and what about.
func (t CardText[P]) Label(verb string, c core.Card, limit int) string {
	text, left := Head(verb+": "+t.Inline(c.Summary, t.Limits.Summary), limit)
	if left > 0 {
		text, _ = Head(text, limit-1)
		text += "…"
	}
	return text
}

// Elsewhere names an approver of another platform, whose name is not known here; "" for an id without a platform.
func Elsewhere(id string) string {
	platform, name, ok := strings.Cut(id, ":")
	title := map[string]string{"slack": "Slack", "discord": "Discord"}[platform]
	switch {
	case ok && platform == "openharness":
		return onTheWeb(name)
	case !ok || title == "":
		return ""
	case platform == "discord" && strings.HasPrefix(name, "role:"):
		return "a role on " + title
	case platform == "slack" && strings.HasPrefix(name, "S"):
		return "a group on " + title
	}
	return "somebody on " + title
}

// onTheWeb names a person of the web pages, whose name is that of their token.
func onTheWeb(name string) string {
	switch {
	case name == core.LocalPerson:
		return "somebody at gatehouse's own machine"
	case !tokenName.MatchString(name):
		return "somebody on the web"
	}
	return name + " on the web"
}

var tokenName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// LocalApprover is the name of core.LocalPerson on a card.
const LocalApprover = "anyone at gatehouse's own machine"

// ShowCommand returns the command that shows the whole approval on a terminal.
func ShowCommand(id core.ApprovalID) string { return "gatehouse approvals show " + Name(string(id)) }
