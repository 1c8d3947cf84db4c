package chat

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"gatehouse/core"
)

// CardLimits limit how much of each field a card shows.
type CardLimits struct {
	Summary   int
	Approvers int // how many approvers are named
	Changed   int
	Reason    int
}

// CardText draws the text of an approval's card as pieces of a platform's text, such as Slack's rich text elements or Discord's Markdown.
type CardText[P any] struct {
	Limits   CardLimits
	Inline   func(text string, limit int) string // what is decided about, on one line, harmless on this platform, with nothing invisible
	Said     func(text string, limit int) string // a person's own words, likewise; what joins emojis stays
	Text     func(string) P                      // gatehouse's own text, and what Inline returns
	Bold     func(string) P                      // the same in bold
	Tool     func(name string) P
	Person   func(who core.Actor, name string) P
	Approver func(id string) P
	Time     func(time.Time) P
	Deadline func(time.Time) []P
}

// Face draws the text of a card above its arguments.
func (t CardText[P]) Face(c core.Card) []P {
	text := append(t.decision(c), t.Text("\n"), t.Bold(OrNone(t.Inline(c.Summary, t.Limits.Summary))), t.Text("\nTool: "), t.Tool(c.Tool),
		t.Text("\nAsked by: "), t.Person(c.Requested, c.Requester))
	if c.State == core.Open {
		text = append(text, t.waiting(c)...)
	}
	if c.Changed != "" {
		text = append(text, t.Text("\n"), t.Bold("The request was changed after it was asked:"), t.Text(" "+t.Said(c.Changed, t.Limits.Changed)))
	}
	return text
}

// decision draws the approval's state and, once it is decided, by whom, when and why.
func (t CardText[P]) decision(c core.Card) []P {
	text := []P{t.Bold(Headline(c))}
	switch c.State {
	case core.Open:
		if c.Altered {
			return append(text, t.Text("\nThe stored request is not the one that was asked for. It can't be approved."))
		}
		if c.Risk == core.Dangerous {
			text = append(text, t.Text("\n"+irreversible))
		}
		if c.Hidden > 0 {
			text = append(text, t.Text("\n"+hiddenNote(c)+" To see them: "+ShowCommand(c.Approval)+" --reveal"))
		}
		return text
	case core.Approved, core.Denied, core.Cancelled:
		if c.DecidedBy != "" || c.Decided.ID != "" {
			text = append(text, t.Text(" by "), t.Person(c.Decided, c.DecidedBy))
		}
	}
	if !c.DecidedAt.IsZero() {
		text = append(text, t.Text(", "), t.Time(c.DecidedAt))
	}
	if c.Reason != "" {
		text = append(text, t.Text("\nReason: "+t.Said(c.Reason, t.Limits.Reason)))
	}
	return text
}

// waiting draws who may decide an open card, and until when.
func (t CardText[P]) waiting(c core.Card) []P {
	var text []P
	for i, id := range c.Approvers {
		if i == t.Limits.Approvers {
			text = append(text, t.Text(fmt.Sprintf(" and %d more", len(c.Approvers)-i)))
			break
		}
		before := ", "
		if i == 0 {
			before = "\nMay decide: "
		}
		text = append(text, t.Text(before), t.Approver(id))
	}
	if c.Quorum > 1 {
		text = append(text, t.Text(fmt.Sprintf("\nApprovals: %d of %d", len(c.Voters), c.Quorum)))
	}
	if !c.Deadline.IsZero() {
		text = append(append(text, t.Text("\nDecide by: ")), t.Deadline(c.Deadline)...)
	}
	return text
}

const irreversible = "This is hard or impossible to undo."

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
		all = append(all, Thousands(folded)+" more characters are not on the card.")
	}
	return strings.Join(all, " ")
}

// maxEscape is how many characters a byte of foreign text can become on a card.
const maxEscape = 8

// Headline returns the state of an approval in a few words.
func Headline(c core.Card) string {
	switch c.State {
	case core.Open:
		if c.Risk == core.Dangerous {
			return "⚠️ Approval needed for something dangerous"
		}
		return "Approval needed"
	case core.Approved:
		return "✅ Approved"
	case core.Denied:
		return "⛔ Denied"
	case core.Expired:
		return "⌛ Expired: nobody decided in time"
	case core.Cancelled:
		return "🚫 Cancelled"
	}
	return "Approval: " + Name(string(c.State))
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

// PersonName returns the name of a person whom the platform does not know.
func PersonName(who core.Actor, name string, inline func(string) string) string {
	return cmp.Or(inline(name), inline(who.Name), inline(who.ID), "somebody")
}

// LocalApprover is the name of core.LocalPerson on a card.
const LocalApprover = "whoever is at gatehouse's own machine"

// ShowCommand returns the command that shows the whole approval on a terminal.
func ShowCommand(id core.ApprovalID) string { return "gatehouse approvals show " + Name(string(id)) }
