package console

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// plain writes a card's text for the terminal, which shows all of it.
var plain = doc.Writer{Foreign: oneLine, Time: stamp}

func stamp(t time.Time) string { return t.Local().Format("2006-01-02 15:04 MST") }

// shown is a card as it was printed last. The zero value stands for none.
type shown struct {
	*wording.Texts
	card  core.Card
	color string
	title string   // what it is about
	lines []string // what it says, from the top
	words []string // of an open approval: the words that decide it
	again bool     // it expired, and can be asked for again

	answered bool     // by this person; it may still need other votes. A question for somebody else counts as answered
	typed    []string // of a form: what was typed for its first fields
}

func (a *shown) open() bool { return a.card.State == core.Open }

// read is what a card's document says at the terminal, to everybody who may type there.
func read(card core.Card, v doc.Document) shown {
	a := shown{Texts: v.Texts, card: card, color: colors[v.Color], title: plain.Text(v.Lead)}
	var facts []string
	if card.Question == nil && card.Arguments != "" && !v.Told {
		facts = strings.Split(wording.Fill(v.TerminalArguments, "{arguments}", Sanitize(arguments(card.Arguments))), "\n")
	}
	outcome, ended := "", v.Of("terminal_"+string(card.State))
	for _, f := range plain.Facts(v) {
		switch f.Part {
		case doc.DecidedBy:
			ended += " " + wording.Fill(v.TerminalBy, "{who}", f.Text)
		case doc.DecidedAt:
			ended += " " + wording.Fill(v.TerminalAt, "{time}", f.Text)
		case doc.Answer:
			outcome += " – " + strings.ReplaceAll(card.Answer, "\n", ", ")
		case doc.Reason:
			outcome += " (" + f.Text + ")"
		default:
			facts = append(facts, f.Line())
		}
	}
	for _, c := range v.Cut(0, 0) {
		switch {
		case c.Action == chat.ActionAskAgain:
			a.again, facts = true, append(facts, wording.Fill(v.TerminalAgain, "{word}", wordAgain))
		case c.Action == chat.ActionApprove && c.Cautions != "":
			a.words = append(a.words, doc.ConfirmWord)
		case c.Action == chat.ActionApprove:
			a.words = append(a.words, "y")
		case c.Action == chat.ActionReason && card.NeedsWhy:
			a.words = append(a.words, v.TerminalWhy)
		case c.Action == chat.ActionReason:
			a.words = append(a.words, "n")
		}
	}
	facts = append(facts, wording.Fill(v.TerminalId, "{id}", string(card.Approval)))
	switch {
	case !a.open():
		a.lines = []string{wording.Fill(v.TerminalEnded, "{ended}", ended, "{what}", a.title+outcome)}
	case card.Question != nil:
		a.lines = strings.Split(strings.TrimRight(Sanitize(card.Question.Text), "\n"), "\n")
		if n := len(card.Question.Fields); n > 1 {
			facts = append(facts,
				wording.Fill(v.TerminalFields, "{count}", strconv.Itoa(n)))
		}
	default:
		a.lines = []string{wording.Fill(v.TerminalWants, "{tool}", card.Tool, "{what}", a.title)}
		if card.Asked.Of > 1 {
			a.lines[0] += a.counted(card.Asked.Place, card.Asked.Of)
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
	}
	words := slices.Clip(a.words)
	if !a.card.NeedsWhy {
		words = append(words, a.TerminalWhy)
	}
	all, last := "", len(words)-1
	if last >= 0 {
		all = words[last]
	}
	if last > 0 {
		all = wording.Fill(a.TerminalOr, "{words}", strings.Join(words[:last], ", "), "{last}", all)
	}
	return []string{wording.Fill(a.TerminalAnswer, "{words}", all)}, strings.Join(a.words, "/")
}

// counted says which of several something is.
func (a *shown) counted(n, of int) string {
	return " (" + wording.Fill(a.CountOf, "{count}", strconv.Itoa(n), "{of}", strconv.Itoa(of)) + ")"
}

// arguments puts short arguments on one line; longer ones stay as they are.
func arguments(pretty string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(pretty)) == nil && b.Len() <= 100 {
		return b.String()
	}
	return pretty
}
