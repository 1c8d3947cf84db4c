package openharness

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/question"
)

// answerTo reads the answer of a request to a question: the option at a place from 1 or, with 0, the answer that the request has. The error says why it
// is none.
func (c *call) answerTo(a core.Approval, place int) (json.RawMessage, error) {
	if a.Question == nil {
		return nil, unknownContinuation()
	}
	q := *a.Question
	answer, err := c.sent(q, place)
	if err == nil {
		if answer, err = q.Check(answer); err == nil {
			return answer, nil
		}
	}
	if len(q.Options()) > 0 {
		err = errors.New("it is none of the options")
	}
	return nil, invalid("extensions.dev.gatehouse.answer", "That is no answer to this question: "+chat.Clean(mask.Text(err.Error()))+".")
}

// sent is the answer that the request has, which is not checked yet.
func (c *call) sent(q question.Question, place int) (json.RawMessage, error) {
	intent := strings.TrimSpace(c.request.Intent)
	switch {
	case place > 0:
		answer, _ := q.Option(place)
		return answer, nil
	case c.request.Answer != nil:
		return c.request.Answer, nil
	case c.request.Typed != nil:
		return q.Fill(c.request.Typed), nil
	case intent == "":
		return nil, errors.New("it is missing")
	case q.Form:
		return json.RawMessage(intent), nil
	}
	return q.Fill([]string{q.Fields[0].Typed(intent)}), nil
}

// describe is a question for Shells: its text, and what an answer has to look like. A choice that is masked has no value.
func describe(q question.Question) map[string]any {
	var fields []map[string]any
	for _, f := range q.Fields {
		field := map[string]any{"kind": string(f.Kind), "required": f.Required}
		set := func(key string, value any, there bool) {
			if there {
				field[key] = value
			}
		}
		set("name", f.Name, f.Name != "")
		set("title", f.Label(), f.Label() != "")
		set("hint", f.Hint, f.Hint != "")
		set("min_length", f.MinLength, f.MinLength > 0)
		set("max_length", f.MaxLength, f.MaxLength > 0)
		set("minimum", f.Minimum, f.Minimum != "")
		set("maximum", f.Maximum, f.Maximum != "")
		var choices []map[string]any
		for _, o := range f.Options() {
			choice := map[string]any{"title": o.Title}
			if string(mask.JSON(o.Value)) == string(o.Value) {
				choice["value"] = o.Value
			}
			choices = append(choices, choice)
		}
		set("choices", choices, choices != nil)
		fields = append(fields, field)
	}
	return map[string]any{"text": q.Text, "form": q.Form, "fields": fields}
}

// answers are the options of a question or, of a form, its fields, a line each.
func answers(q question.Question) (lines []string) {
	for i, option := range q.Options() {
		lines = append(lines, fmt.Sprintf("%d. %s", i+1, option.Title))
	}
	if q.Form {
		for _, f := range q.Fields {
			lines = append(lines, "– "+f.Label())
		}
	}
	return lines
}
