package web

import (
	"net/http"
	"strings"

	"gatehouse/adapters/internal/cardhtml"
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
	"gatehouse/core/question"
)

// typed is a text of the form. Browsers write its line ends as two characters.
func (v *visit) typed(name string) string {
	return strings.ReplaceAll(v.r.PostForm.Get(name), "\r\n", "\n")
}

// answer stores the answer that the reader has sent. One that does not fit changes nothing: the form is shown again, as
// it was filled in.
func (v *visit) answer(c core.Card) error {
	var typed []string
	for i := range c.Question.Fields {
		typed = append(typed, v.typed(cardhtml.Field(i)))
	}
	answer := c.Question.Fill(typed)
	if c.State == core.Open && c.Refusal(v.who.Actor) == nil {
		if _, err := c.Question.Check(answer); err != nil {
			tried := &cardhtml.Tried{Action: chat.ActionAnswer, Typed: typed}
			for i, f := range c.Question.Fields {
				tried.Faults = append(tried.Faults, fault(f, typed[i]))
			}
			o := cardhtml.Options{Fault: "Nothing was sent yet. What does not fit is said below.", Tried: tried}
			return v.showApproval(http.StatusUnprocessableEntity, c, o)
		}
	}
	return v.vote(core.Click{Approval: c.Approval, Choice: core.Answer, Answer: string(answer)})
}

// fault is what is wrong with what was typed for a field; "" if it fits.
func fault(f question.Field, typed string) string {
	value, ok := f.Value(typed)
	_, err := question.Question{Fields: []question.Field{f}}.Check(value)
	switch {
	case !ok && f.Required:
		return "This is missing."
	case ok && err != nil && len(f.Options()) > 0:
		return "Choose one of the options."
	case ok && err != nil:
		return "T" + strings.TrimPrefix(err.Error(), "t") + "."
	}
	return ""
}
