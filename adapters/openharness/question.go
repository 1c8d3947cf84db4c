package openharness

import (
	"gatehouse/core/mask"
	"gatehouse/core/question"
)

// field is what a value of an answer has to look like, for Shells.
type field struct {
	question.Field
	Title    string           `json:"title,omitempty"`
	Required bool             `json:"required"`
	Choices  []map[string]any `json:"choices,omitempty"`
}

// describe is a question for Shells: its text, and what an answer has to look like. A choice that is masked has no
// value.
func describe(q question.Question) map[string]any {
	var fields []field
	for _, f := range q.Fields {
		one := field{Field: f, Title: f.Label(), Required: f.Required}
		for _, o := range f.Options() {
			choice := map[string]any{"title": o.Title}
			if string(mask.JSON(o.Value)) == string(o.Value) {
				choice["value"] = o.Value
			}
			one.Choices = append(one.Choices, choice)
		}
		fields = append(fields, one)
	}
	return map[string]any{"text": q.Text, "form": q.Form, "fields": fields}
}
