package chat

import (
	"fmt"
	"time"

	"gatehouse/core"
)

// CardLimits are how much of a card's fields is shown.
type CardLimits struct {
	Summary   int
	Approvers int // how many are named
	Changed   int
	Reason    int
}

// CardText draws the text of an approval's card as pieces of a platform's text: Slack's rich text elements, Discord's Markdown.
type CardText[P any] struct {
	Limits   CardLimits
	Inline   func(text string, limit int) string // foreign text on one line, harmless on this platform
	Text     func(string) P                      // gatehouse's own words, and what Inline gives
	Bold     func(string) P                      // the same in bold
	Tool     func(name string) P
	Person   func(who core.Actor, name string) P
	Approver func(id string) P
	Time     func(time.Time) P
	Deadline func(time.Time) []P
}

// Face is the text of a card above its arguments.
func (t CardText[P]) Face(c core.Card) []P {
	text := append(t.decision(c), t.Text("\n"), t.Bold(OrNone(t.Inline(c.Summary, t.Limits.Summary))), t.Text("\nTool: "), t.Tool(c.Tool),
		t.Text("\nAsked by: "), t.Person(c.Requested, c.Requester))
	if c.State == core.Open {
		text = append(text, t.waiting(c)...)
	}
	if c.Changed != "" {
		text = append(text, t.Text("\n"), t.Bold("The request was changed after it was asked:"), t.Text(" "+t.Inline(c.Changed, t.Limits.Changed)))
	}
	return text
}

// decision says where the approval stands and, once it is decided, by whom, when and why.
func (t CardText[P]) decision(c core.Card) []P {
	text := []P{t.Bold(Headline(c))}
	switch c.State {
	case core.Open:
		if c.Risk == core.Dangerous {
			text = append(text, t.Text("\nThis is hard or impossible to undo."))
		}
		return text
	case core.Approved, core.Refused, core.Cancelled:
		if c.DecidedBy != "" || c.Decided.ID != "" {
			text = append(text, t.Text(" by "), t.Person(c.Decided, c.DecidedBy))
		}
	}
	if !c.DecidedAt.IsZero() {
		text = append(text, t.Text(", "), t.Time(c.DecidedAt))
	}
	if c.Reason != "" {
		text = append(text, t.Text("\nReason: "+t.Inline(c.Reason, t.Limits.Reason)))
	}
	return text
}

// waiting says for whom and until when an open card waits.
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
		text = append(text, t.Text(fmt.Sprintf("\nApprovals: %d of %d", c.Votes, c.Quorum)))
	}
	if !c.Deadline.IsZero() {
		text = append(append(text, t.Text("\nDecide by: ")), t.Deadline(c.Deadline)...)
	}
	return text
}

// Headline says in a few words where an approval stands.
func Headline(c core.Card) string {
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
	return "Approval: " + Name(string(c.State))
}

// LastLines are the latest lines of the conversation that a copy of a card shows, with who said each.
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

// PersonName names somebody whom the platform does not know itself.
func PersonName(who core.Actor, name string, inline func(string) string) string {
	for _, n := range []string{name, who.Name, who.ID} {
		if n = inline(n); n != "" {
			return n
		}
	}
	return "somebody"
}

// LocalApprover is how core.LocalPerson is called on a card.
const LocalApprover = "whoever is at gatehouse's own machine"

// ShowCommand is the command that shows an approval whole on a terminal.
func ShowCommand(id core.ApprovalID) string { return "gatehouse approvals show " + Name(string(id)) }
