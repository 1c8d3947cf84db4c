package console

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// cardText draws the text of a card for the terminal, which shows all of it.
var cardText = chat.CardText[string]{
	Platform: Name, Limits: chat.CardLimits{Summary: math.MaxInt, Approvers: math.MaxInt},
	Inline: whole, Said: whole, Text: itself, Bold: itself, Tool: oneLine,
	Person:   func(who core.Actor, name string) string { return oneLine(cmp.Or(name, who.Called(), "somebody")) },
	Approver: approver,
	Time:     stamp,
	Deadline: func(t time.Time) []string { return []string{stamp(t)} },
}

func whole(s string, _ int) string { return oneLine(s) }

func itself(s string) string { return s }

func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04 MST") }

// approver names somebody who may decide. On a terminal an id of another platform says more than that platform's name.
func approver(id string) string {
	if id == core.LocalPerson {
		return chat.LocalApprover
	}
	return oneLine(id)
}

// saying is what a card says, sanitized: its first line, and the facts below it. They are those of every platform's card (chat.Face).
type saying struct {
	card  core.Card
	first string
	lines []string
}

func sayCard(d core.Delivery) saying {
	card, face := *d.Card, cardText.Face(d)
	said := saying{card: card, first: oneLine(card.Tool) + " wants your approval: " + oneLine(card.Summary)}
	if card.Asked.Of > 1 {
		_, place, _ := strings.Cut(face.Title, "(")
		said.first += " (" + place
	}
	if card.Question == nil && card.Arguments != "" {
		said.lines = strings.Split("arguments: "+Sanitize(arguments(card.Arguments)), "\n")
	}
	by, at := "", ""
	for _, f := range face.Fields {
		value := strings.Join(f.Value, "")
		label, decides := strings.CutPrefix(f.Label, "Asked")
		switch {
		case !decides && strings.HasSuffix(label, " by"):
			by = " by " + value
		case strings.HasSuffix(label, " at"):
			at = " at " + value
		case label == "Reason", label == "Answer":
		default:
			said.lines = append(said.lines, f.Label+": "+value)
		}
	}
	for _, note := range face.Notes {
		said.lines = append(said.lines, strings.Join(note, ""))
	}
	said.lines = append(said.lines, "id "+oneLine(string(card.Approval)))
	if card.State != core.Open {
		said.first = decisionLine(card, by+at)
	}
	return said
}

// decisionLine is how an approval or a question ended; byAt says by whom, and when.
func decisionLine(card core.Card, byAt string) string {
	how := oneLine(string(card.State))
	if card.State == core.Expired {
		how += " without a decision"
	}
	text := how + byAt + ": " + cmp.Or(oneLine(card.Summary), oneLine(card.Tool))
	if card.State == core.Answered {
		text += " – " + oneLine(strings.ReplaceAll(card.Answer, "\n", ", "))
	}
	if reason := oneLine(card.Reason); reason != "" {
		text += " (" + reason + ")"
	}
	return text
}

// news is what a card says that it did not say before; "" if that is nothing.
func (s style) news(said saying, before []string) (out string) {
	about := oneLine(said.card.Summary) + " – "
	if !slices.Contains(before, said.first) {
		about = ""
		code := red
		if said.card.State == core.Approved || said.card.State == core.Answered {
			code = green
		}
		out = s.about(said.card, s.paint(code, said.first))
	}
	for _, line := range said.lines {
		if !slices.Contains(before, line) {
			out += s.about(said.card, about+line)
		}
	}
	return out
}

// reminder is one line about a card that was printed before.
func (s style) reminder(card core.Card) string {
	if card.Question != nil {
		return s.question("reminder: nobody has answered yet: " + oneLine(card.Question.Text))
	}
	id, _ := chat.Head(string(card.Approval), minShortID)
	return s.approval("reminder: nobody has decided yet: " + oneLine(card.Summary) + " (" + id + ")")
}

// all is one line about a card for each of some.
func (s style) all(card core.Card, lines []string) (out string) {
	for _, line := range lines {
		out += s.about(card, line)
	}
	return out
}
