package console

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// plain writes a card's text for the terminal, which shows all of it.
var plain = doc.Writer{Foreign: oneLine, Time: stamp, IDs: true}

func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04 MST") }

// view is what a card says at a terminal: to everybody who may type there.
func view(d core.Delivery) doc.Document { return doc.View(d, doc.Reader{Platform: Name, IDs: true}) }

// offered is what a card offers for an action; ok is false if it does not.
func offered(v doc.Document, a chat.Action) (c doc.Choice, ok bool) {
	all := v.Cut(0, 0)
	i := slices.IndexFunc(all, func(c doc.Choice) bool { return c.Action == a })
	if i < 0 {
		return doc.Choice{}, false
	}
	return all[i], true
}

// saying is what a card says, sanitized: its first line, and the facts below it.
type saying struct {
	card  core.Card
	first string
	lines []string
	again bool // what expired can be asked for again
}

func sayCard(d core.Delivery) saying {
	card, v := *d.Card, view(d)
	said := saying{card: card, first: oneLine(card.Tool) + " wants your approval: " + oneLine(card.Summary)}
	if card.Asked.Of > 1 {
		said.first += fmt.Sprintf(" (%d of %d)", card.Asked.Place, card.Asked.Of)
	}
	if card.Question == nil && card.Arguments != "" && !v.Told {
		said.lines = strings.Split("arguments: "+Sanitize(arguments(card.Arguments)), "\n")
	}
	if v.For != nil { // the terminal shows no headline of a question
		v.Fields = append(v.Fields, doc.Field{Label: "May answer", Value: v.For[1:]})
	}
	decided := ""
	for _, fact := range plain.Facts(v) {
		word, how, _ := strings.Cut(fact.Label, " ")
		switch {
		case how == "by" && word != "Asked", how == "at":
			decided += " " + how + " " + fact.Text
		case fact.Label == "Reason", fact.Label == "Answer": // they are in the line of the decision
		default:
			said.lines = append(said.lines, fact.Line())
		}
	}
	if _, said.again = offered(v, chat.ActionAskAgain); said.again {
		said.lines = append(said.lines, "to ask for it again, type "+wordAgain)
	}
	said.lines = append(said.lines, "id "+oneLine(string(card.Approval)))
	if card.State != core.Open {
		said.first = decisionLine(card, decided)
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
