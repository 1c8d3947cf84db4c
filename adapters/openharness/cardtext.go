package openharness

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// cardText draws a card's text without markup. The lines of a foreign text after its first are indented: none can look like a line of the card.
var cardText = chat.CardText[string]{
	Platform: Name, Limits: chat.CardLimits{Approvers: math.MaxInt},
	Inline: whole, Said: whole, Text: strings.Clone, Bold: strings.Clone, Tool: chat.Name, Approver: approver,
	Person: func(who core.Actor, name string) string { return chat.PersonName(who, name, chat.Name) },
	Time:   func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") },
}

// whole is a foreign text, which no limit cuts: a Shell has room for it.
func whole(s string, _ int) string {
	return strings.ReplaceAll(strings.TrimSpace(chat.Clean(s)), "\n", "\n  ")
}

func approver(id string) string {
	if id == core.LocalPerson {
		return chat.LocalApprover
	}
	return cmp.Or(chat.Elsewhere(id), chat.Name(id))
}

// payloadOf is what a reader of a card is told. All of it is text without markup; secrets are masked, and what is invisible is written out. Its
// message, and its facts with the arguments, are each all that a card says on any platform.
func payloadOf(d core.Delivery) map[string]any {
	card, face := *d.Card, cardText.Face(d)
	facts, lines := chat.Facts(face)
	lines = append([]string{face.Title + ": " + face.Lead}, lines...)
	payload := map[string]any{"headline": face.Title, "summary": card.Summary, "facts": facts, "hidden_characters": card.Hidden}
	if d.Late && card.State == core.Open {
		lines = append(lines, chat.LateNote)
	}
	if card.Question == nil {
		payload["tool"], payload["arguments"] = card.Tool, card.Arguments
		lines = append(lines, "Arguments:", "  "+chat.OrNone(whole(chat.Arguments(card), 0)))
	} else {
		payload["question"], payload["summary"] = describe(*card.Question), card.Question.Text
	}
	if card.Question != nil && card.State == core.Open {
		lines = slices.Insert(lines, 1, answers(*card.Question)...)
	}
	payload["message"] = strings.Join(lines, "\n")
	if !card.Deadline.IsZero() {
		payload["deadline"] = card.Deadline.UTC().Format(time.RFC3339)
	}
	if card.State == core.Open {
		payload["approvers"] = cardText.Approvers(card)
	} else {
		payload["standing"] = chat.Standing(card)
	}
	return payload
}

// howToDecide tells a person whose Shell shows no approvals where an open one is decided.
func howToDecide(card core.Card) string {
	with := "approve %[1]s (or deny)"
	if card.Question != nil {
		with = "answer %[1]s --json ANSWER"
	}
	return fmt.Sprintf("To decide: open /approvals/%[1]s of gatehouse's pages, or run gatehouse approvals "+with, chat.Name(string(card.Approval)))
}
