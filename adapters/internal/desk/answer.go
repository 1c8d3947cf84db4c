package desk

import (
	"context"
	"encoding/json"
	"errors"
	"unicode"
	"unicode/utf8"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/question"
)

// answer makes the event of an answer to a question, which was typed.
func (d Desk) answer(ctx context.Context, card core.Card, click core.Click, p Press) Answer {
	q := *card.Question
	answer := json.RawMessage(p.Whole)
	if p.Whole == "" {
		answer = q.Fill(p.Typed)
	}
	checked, wrong := q.Check(answer)
	if wrong == nil {
		answer = checked
	}
	click.Answer = string(answer)
	err := d.Check(ctx, card, click, p.Who)
	switch {
	case err == nil:
		return d.decision(click, p)
	case wrong == nil || core.CategoryOf(err) != core.Invalid:
		return Say{Err: err}
	}
	if say := d.Unfit(q, p.Typed); p.Whole == "" && say.Err != nil {
		return say
	}
	if len(q.Options()) > 0 {
		wrong = errors.New(d.AnswerNotOption)
	}
	return Say{Err: d.unfit(safetext.Clean(mask.Text(wrong.Error())))}
}

// Unfit says what is wrong with what was typed into the fields of a question, or of a page of its form.
func (d Desk) Unfit(q question.Question, typed []string) Say {
	say := Say{Faults: map[int]string{}}
	for i, f := range q.Fields {
		text := ""
		if i < len(typed) {
			text = typed[i]
		}
		fault := d.faultIn(f, text)
		if fault == "" {
			continue
		}
		first, n := utf8.DecodeRuneInString(fault)
		say.Faults[i] = string(unicode.ToUpper(first)) + fault[n:] + "."
		if label := f.Label(); q.Form && label != "" {
			fault = label + ": " + fault
		}
		if say.Err == nil {
			say.Err = d.unfit(fault)
		}
	}
	return say
}

func (d Desk) unfit(fault string) error {
	return invalid(wording.Fill(d.AnswerUnfit, "{fault}", fault))
}

// faultIn says what is wrong with what was typed into a field, "" if nothing is. It quotes no option: their values may
// be secrets.
func (d Desk) faultIn(f question.Field, typed string) string {
	value, ok := f.Value(typed)
	switch {
	case !ok && f.Required:
		return d.InputNeeded
	case !ok:
		return ""
	}
	_, err := question.Question{Fields: []question.Field{f}}.Check(value)
	switch {
	case err == nil:
		return ""
	case f.Options() != nil:
		return d.InputNotOption
	}
	return err.Error()
}
