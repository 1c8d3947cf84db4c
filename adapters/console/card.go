package console

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// plain writes a card's text for the terminal, which shows all of it.
var plain = doc.Writer{Surface: terminal{}}

type terminal struct{}

func (terminal) Foreign(text string) string { return oneLine(text) }

func (terminal) Moment(at time.Time) string { return at.Local().Format("2006-01-02 15:04 MST") }

// shown is a card as it was printed last. The zero value stands for none.
type shown struct {
	*wording.Texts
	card  core.Card
	edge  string   // what its lines begin with
	color string   // of the edge
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
	a := shown{Texts: v.Texts, card: card, edge: v.TerminalApproval, color: colors[v.Color], title: plain.Text(v.Lead)}
	var facts []string
	if card.Question != nil {
		a.edge = v.TerminalQuestion
	} else if card.Arguments != "" && !v.Told {
		facts = linesOf(wording.Fill(v.TerminalArguments, "{arguments}", arguments(card.Arguments)))
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
		switch c.Action {
		case outbound.ActionAskAgain:
			a.again, facts = true, append(facts, wording.Fill(v.TerminalAgain, "{word}", wordAgain))
		case outbound.ActionForget:
			a.kept, facts = true, append(facts, wording.Fill(v.TerminalForget, "{word}", wordForget))
		case outbound.ActionRemember:
			a.words = append(a.words, a.words[0]+wordRemember)
		case outbound.ActionApprove:
			word := map[bool]string{false: "y", true: doc.ConfirmWord}[c.Cautions != ""]
			if a.words = append(a.words, word); c.Label != v.ButtonApprove && len(card.Approvers) > 0 {
				facts = append(facts, doc.Fact{Label: word, Text: c.Label}.Line())
			}
		case outbound.ActionReason:
			a.words = append(a.words, map[bool]string{false: "n", true: v.TerminalWhy}[card.NeedsWhy])
		}
	}
	facts = append(facts, wording.Fill(v.TerminalId, "{id}", string(card.Approval)))
	a.lines = []string{wording.Fill(v.TerminalWants, "{tool}", card.Tool, "{what}", a.title)}
	switch {
	case !a.open():
		a.lines[0] = wording.Fill(v.TerminalEnded, "{ended}", ended, "{what}", a.title+outcome)
	case card.Question != nil:
		a.lines = linesOf(card.Question.Text)
		if n := len(card.Question.Fields); n > 1 {
			facts = append(facts,
				wording.Fill(v.TerminalFields, "{count}", strconv.Itoa(n)))
		}
	case v.Headline == v.HeadlineWaiting:
		a.lines[0] = doc.Fact{Label: v.Headline, Text: a.title}.Line()
	case card.Asked.Of > 1:
		a.lines[0] += a.counted(card.Asked.Place, card.Asked.Of)
	}
	asks, _ := a.asks()
	if refusal := v.Refusal(); refusal != "" && card.Question == nil && a.open() {
		facts = append(facts, refusal)
	}
	a.lines = slices.Concat(a.lines, facts, asks)
	return a
}

// asks are the lines that say what can be typed for an open card, and what the prompt says of that.
func (a *shown) asks() (lines []string, prompt string) {
	switch {
	case !a.open(), a.card.Question == nil && a.words == nil: // they may not decide
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
