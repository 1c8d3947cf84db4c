package openharness

import (
	"fmt"

	"gatehouse/core/mask"
	"gatehouse/core/question"
)

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
