package slack

import (
	"cmp"
	"context"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
	"gatehouse/core/question"
)

// refusedForm answers a submission: the form stays open and shows what is wrong, by the block of each input.
type refusedForm struct {
	Action string            `json:"response_action"`
	Errors map[string]string `json:"errors"`
}

// answered makes the answer of a submitted form. refused is what the person has to mend, nil if nothing; err is that the question can't be looked up.
// Whether it still waits, and for this person, is decided when the event is handled.
func (s *Slack) answered(ctx context.Context, i interaction, id core.ApprovalID) (answer string, refused *refusedForm, err error) {
	ctx, cancel := context.WithTimeout(ctx, triggerTime)
	defer cancel()
	card, err := s.Card(ctx, id, false)
	if err != nil || card.Question == nil {
		return "", nil, cmp.Or(err, error(core.Errorf(core.NotFound, "The approval %s is no question.", id)))
	}
	q := *card.Question
	typed := make([]string, len(q.Fields))
	wrong := map[string]string{}
	for n, f := range q.Fields {
		typed[n] = i.typed(fieldID(n))
		if text := faultIn(f, typed[n]); text != "" {
			wrong[fieldID(n)] = text
		}
	}
	answer = string(q.Fill(typed))
	if len(wrong) > 0 && card.State == core.Open {
		return "", &refusedForm{Action: "errors", Errors: wrong}, nil
	}
	return answer, nil, nil
}

// faultIn says what is wrong with what was typed into a field, "" if nothing is. It quotes no option: their values may be secrets.
func faultIn(f question.Field, typed string) string {
	value, ok := f.Value(typed)
	switch {
	case !ok && f.Required:
		return "This is needed."
	case !ok:
		return ""
	}
	_, err := question.Question{Fields: []question.Field{f}}.Check(value)
	switch {
	case err == nil:
		return ""
	case f.Options() != nil:
		return "Choose one of the options."
	}
	first, size := utf8.DecodeRuneInString(err.Error())
	return string(unicode.ToUpper(first)) + err.Error()[size:] + "."
}

// typed is what a field of a form holds: what was written into it or, of one with options, the place of the chosen one.
func (i interaction) typed(id string) string {
	in := i.View.State.Values[id][id]
	return cmp.Or(in.SelectedOption.Value, in.Value)
}

// opened reads the button that was clicked or the option that was chosen of a question's menu. value is the sealed one, "" for an action that is
// neither.
func (s *Slack) opened(a action) (b chat.Button, value string, ok bool) {
	if a.SelectedOption.Value == "" {
		b, ok = chat.OpenButton(s.Signer, a.Value)
		return b, a.Value, ok
	}
	b, ok = chat.OpenButton(s.Signer, a.BlockID)
	place, err := strconv.Atoi(a.SelectedOption.Value)
	if err != nil || place < 1 || place > question.MaxChoices || strings.TrimLeft(a.SelectedOption.Value, "0") != a.SelectedOption.Value || b.Action != chat.ActionAnswer {
		return chat.Button{}, a.BlockID, false
	}
	b.Option = place
	return b, a.BlockID, ok
}
