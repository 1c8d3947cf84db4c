package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// plain writes a card's text for the terminal, which shows all of it.
var plain = doc.Writer{Foreign: oneLine, Time: stamp, IDs: true}

func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04 MST") }

// shown is a card as it was printed last. The zero value stands for none.
type shown struct {
	card  core.Card
	color string
	title string   // what it is about
	lines []string // what it says, from the top
	words []string // of an open approval: the words that decide it
	again bool     // it expired, and can be asked for again
	kept  bool     // it is remembered, and that can be stopped

	answered bool     // by this person; it may still need other votes. A question for somebody else counts as answered
	typed    []string // of a form: what was typed for its first fields
}

func (a *shown) open() bool { return a.card.State == core.Open }

// read is what a card's document says at the terminal, to everybody who may type there.
func read(card core.Card, v doc.Document) shown {
	a := shown{card: card, color: colors[v.Color], title: plain.Text(v.Lead)}
	var facts []string
	if card.Question == nil && card.Arguments != "" && !v.Told {
		facts = strings.Split("arguments: "+Sanitize(arguments(card.Arguments)), "\n")
	}
	if v.For != nil { // the terminal shows no headline of a question
		v.Fields = append(v.Fields, doc.Field{Label: "May answer", Value: v.For[1:]})
	}
	ended, outcome := string(card.State), ""
	if card.State == core.Expired {
		ended += " without a decision"
	}
	for _, f := range plain.Facts(v) {
		word, how, _ := strings.Cut(f.Label, " ")
		switch {
		case strings.EqualFold(word, string(card.State)): // by whom and when it ended
			ended += " " + how + " " + f.Text
		case f.Label == "Answer":
			outcome += " – " + strings.ReplaceAll(card.Answer, "\n", ", ")
		case f.Label == "Reason":
			outcome += " (" + f.Text + ")"
		default:
			facts = append(facts, f.Line())
		}
	}
	for _, c := range v.Cut(0, 0) {
		switch {
		case c.Action == chat.ActionAskAgain:
			a.again, facts = true, append(facts, "to ask for it again, type "+wordAgain)
		case c.Action == chat.ActionForget:
			a.kept, facts = true, append(facts, "to stop that, type "+wordForget)
		case c.Action == chat.ActionRemember && c.Cautions != "":
			a.words = append(a.words, doc.ConfirmWord+wordRemember)
		case c.Action == chat.ActionRemember:
			a.words = append(a.words, "y"+wordRemember)
		case c.Action == chat.ActionApprove && c.Cautions != "":
			a.words = append(a.words, doc.ConfirmWord)
		case c.Action == chat.ActionApprove:
			a.words = append(a.words, "y")
		case c.Action == chat.ActionReason && card.NeedsWhy:
			a.words = append(a.words, wordWhy)
		case c.Action == chat.ActionReason:
			a.words = append(a.words, "n")
		}
	}
	facts = append(facts, "id "+string(card.Approval))
	switch {
	case !a.open():
		a.lines = []string{ended + ": " + a.title + outcome}
	case card.Question != nil:
		a.lines = strings.Split(strings.TrimRight(Sanitize(card.Question.Text), "\n"), "\n")
		if n := len(card.Question.Fields); n > 1 {
			facts = append(facts,
				fmt.Sprintf("a form of %d fields: answer one after the other, or all in one line of JSON", n))
		}
	default:
		a.lines = []string{card.Tool + " wants your approval: " + a.title}
		if card.Asked.Of > 1 {
			a.lines[0] += fmt.Sprintf(" (%d of %d)", card.Asked.Place, card.Asked.Of)
		}
	}
	asks, _ := a.asks()
	a.lines = append(append(a.lines, facts...), asks...)
	return a
}

// asks are the lines that say what can be typed for an open card, and what the prompt says of that.
func (a *shown) asks() (lines []string, prompt string) {
	switch {
	case !a.open():
		return nil, ""
	case a.card.Question != nil:
		return a.asksField()
	case a.card.NeedsWhy:
		lines = []string{"answer " + strings.Join(a.words, " or ")}
	default:
		lines = []string{"answer " + strings.Join(a.words, ", ") + " or " + wordWhy}
	}
	return lines, strings.Join(a.words, "/")
}

// arguments puts short arguments on one line; longer ones stay as they are.
func arguments(pretty string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(pretty)) == nil && b.Len() <= 100 {
		return b.String()
	}
	return pretty
}
