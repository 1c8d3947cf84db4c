package markup

import (
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core/question"
)

// Limits of what is typed on a page, in UTF-16 units. Slack's inputs take as much.
const (
	MaxReason    = 2000
	MaxArguments = 3000
)

// press is something that the reader may press: a button, one that opens a form, or a link to the second step.
type press struct {
	view
	doc.Choice
	Form     *form
	Remember string // of the second step: what the button says that remembers the approval; ""
}

// Pressed are what the reader may press, but for the answers to a question.
func (v view) Pressed() (all []press) {
	for _, c := range v.Cut(0, 0) {
		p := press{view: v, Choice: c}
		if c.Action == outbound.ActionRemember && c.Cautions != "" { // the second step offers both
			if v.Reviewed {
				all[len(all)-1].Remember = c.Label
			}
			continue
		}
		if c.Action == outbound.ActionReason {
			p.Form = v.form(c.Action, MaxReason)
		}
		all = append(all, p)
	}
	return all
}

// Answer is the form that answers an open question; nil if the reader can't answer.
func (v view) Answer() *form {
	answers := v.Answers()
	if answers == nil {
		return nil
	}
	f := v.form(outbound.ActionAnswer, 0)
	f.Submit = f.Title // the chat has a button "Send" already
	few := answers[0].Option > 0 && len(answers) <= question.MaxButtons
	f.Buttons = few && f.Inputs[0].Hint == "" && !f.Opened
	return f
}
