package doc

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

const irreversible = "This is hard or impossible to undo."

// AlteredNote is the sentence on a card whose stored call was changed.
const AlteredNote = "The stored request is not the one that was asked for. It can't be approved. Deny it, and tell whoever runs gatehouse."

// warnings are what an approver must know before a decision.
func warnings(c core.Card, r Reader) (notes []Note) {
	switch {
	case c.Altered:
		return []Note{{Spans: []Span{{Text: AlteredNote, Style: Bold}}, Warns: true}}
	case c.Risk == core.Dangerous:
		notes = append(notes, Note{Spans: []Span{own(irreversible)}, Warns: true})
	}
	if c.Hidden > 0 {
		notes = append(notes, Note{Spans: []Span{own(hiddenNote(c) + OnPage(c, r))}, Warns: true})
	}
	return notes
}

func hiddenNote(c core.Card) string {
	if c.Hidden == 1 {
		return "1 character is hidden, because it looks like a secret."
	}
	return chat.Thousands(c.Hidden) + " characters are hidden, because they look like a secret."
}

// leftOut says that approvers who should know of a card were not told.
func leftOut(n int) string {
	if n == 1 {
		return "1 approver could not be sent a direct message."
	}
	return chat.Thousands(n) + " approvers could not be sent a direct message."
}

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
		case core.Typed:
			return "🔔 Only the buttons decide: an approval is needed"
		case core.Escalated:
			return "🔔 Nobody has decided yet: an approval is needed"
		}
		if c.Risk == core.Dangerous {
			return "⚠️ Approval needed for something dangerous"
		}
		return "🔔 Approval needed"
	case core.Approved:
		if c.Use != nil {
			return "✅ Allowed, since an approval is remembered"
		}
		return "✅ Approved"
	case core.Denied:
		return "⛔ Denied"
	case core.Expired:
		return "⌛ Expired: it was not decided in time"
	case core.Cancelled:
		return "🚫 Cancelled"
	}
	return "Approval: " + chat.Name(string(c.State))
}

func questionHeadline(c core.Card, o core.Occasion) string {
	switch c.State {
	case core.Open:
		if o != "" {
			return "❓ Reminder: a question still waits for an answer"
		}
		return "❓ Question from the bot"
	case core.Answered:
		return "✅ Answered"
	case core.Expired:
		return "⌛ Expired: nobody answered in time"
	case core.Cancelled:
		return "🚫 Withdrawn"
	}
	return "Question: " + chat.Name(string(c.State))
}

// Standing returns a sentence with the state of a decided approval, for a person who pressed a button too late.
func Standing(c core.Card) string {
	by := core.Actor{Name: NameOf(c.Decided, c.DecidedBy, chat.Name)}
	a := core.Approval{Question: c.Question, State: c.State, DecidedBy: by, DecidedAt: c.DecidedAt}
	return a.StateSentence()
}

// Copied stands above the context of a card's copy.
const Copied = "This was asked in another conversation."

// NoArguments stands in place of the arguments of a call that has none.
const NoArguments = "No arguments"

// OrEmpty is a line of a card's copy, or that it is empty.
func OrEmpty(line string) string { return cmp.Or(line, "(empty)") }

// OnPage says, after another sentence, who can see what a card does not show. It is "" if no approver is known to
// gatehouse's page, and for those who need not be told: an approver on the page, and whoever runs gatehouse.
func OnPage(c core.Card, r Reader) string {
	if r.IDs || r.Apart && c.Refusal(r.Who) == nil {
		return ""
	}
	for _, id := range slices.AppendSeq(slices.Clone(c.Approvers), maps.Keys(c.People)) {
		if TokenName(id) != "" && c.Refusal(core.Actor{ID: id}) == nil {
			return " An approver can read them on gatehouse's page."
		}
	}
	return ""
}

// FoldedNote says that a card does not show the arguments, of so many characters.
func FoldedNote(characters int) string {
	return "The arguments (" + chat.Thousands(characters) + " characters) are not shown here."
}

// ShortID is the beginning of an approval's id, which the commands accept too.
func ShortID(id core.ApprovalID) string {
	short, _ := chat.Head(chat.Name(string(id)), shortID)
	return strings.TrimRight(short, "-")
}

const shortID = 13 // of a UUID v7: all of its time

// LocalApprover is the name of core.LocalPerson on a card.
const LocalApprover = "anyone at gatehouse's own machine"

// Elsewhere stands for those who may decide where a card names none of them.
const Elsewhere = "people who are notified elsewhere"
