package question

import (
	"encoding/json"
	"fmt"
)

// Question is a question to people. Form: the answer is an object with one member for each field; otherwise it is the
// value of the only field.
type Question struct {
	Text   string  `json:"text"`
	Fields []Field `json:"fields"`
	Form   bool    `json:"form,omitempty"`
}

// Field is one value of an answer.
type Field struct {
	Name     string   `json:"name,omitempty"` // of the member in a form's answer
	Title    string   `json:"title,omitempty"`
	Hint     string   `json:"hint,omitempty"` // the schema's description
	Kind     Kind     `json:"kind"`
	Choices  []Choice `json:"choices,omitempty"`
	Required bool     `json:"required,omitempty"`

	MinLength int         `json:"min_length,omitempty"` // of a text, in characters
	MaxLength int         `json:"max_length,omitempty"` // never 0 for a text
	Minimum   json.Number `json:"minimum,omitempty"`    // "": none
	Maximum   json.Number `json:"maximum,omitempty"`
}

// Choice is one of the values that a field of the kind Pick may have: a text or a number.
type Choice struct {
	Value json.RawMessage `json:"value"`
	Title string          `json:"title"`
}

// Kind is the kind of a field's value.
type Kind string

// The kinds.
const (
	Text    Kind = "text"
	Number  Kind = "number"
	Integer Kind = "integer"
	YesNo   Kind = "yes_no"
	Pick    Kind = "pick" // one of the choices
)

// The limits of a question: what every platform can show whole.
const (
	MaxText    = 2000 // characters of the question
	MaxFields  = 10   // of a form
	MaxChoices = 25   // of a field
	MaxTitle   = 45   // characters of a field's title
	MaxHint    = 100  // characters of a field's hint
	MaxLabel   = 75   // characters of a choice's title
	MaxAnswer  = 3000 // characters of a text
	MaxButtons = 5    // choices that are shown as buttons
)

// Label is how a field is called for people.
func (f Field) Label() string {
	if f.Title != "" {
		return f.Title
	}
	return f.Name
}

// Bounds tell the limits of a field's value for people, to follow what its kind is called: " from 1 to 9". It is "" if
// there are none.
func (f Field) Bounds() string {
	switch {
	case f.Minimum != "" && f.Maximum != "":
		return fmt.Sprintf(" from %s to %s", f.Minimum, f.Maximum)
	case f.Minimum != "":
		return fmt.Sprintf(", %s or more", f.Minimum)
	case f.Maximum != "":
		return fmt.Sprintf(", %s or less", f.Maximum)
	case f.Kind == Text && (f.MinLength > 0 || f.MaxLength < MaxAnswer):
		return fmt.Sprintf(" of %d to %d characters", f.MinLength, f.MaxLength)
	}
	return ""
}

// Options are the values among which a field lets people choose: its choices, or Yes and No; nil if it does not.
func (f Field) Options() []Choice {
	switch f.Kind {
	case Pick:
		return f.Choices
	case YesNo:
		return []Choice{{Value: json.RawMessage("true"), Title: "Yes"}, {Value: json.RawMessage("false"), Title: "No"}}
	}
	return nil
}

// Options are the answers among which people choose by one press: those of the only field; nil if the question needs a
// form.
func (q Question) Options() []Choice {
	if q.Form || len(q.Fields) != 1 {
		return nil
	}
	return q.Fields[0].Options()
}

// Option is the answer at a place among Options, counted from 1; ok is false if there is none.
func (q Question) Option(place int) (answer json.RawMessage, ok bool) {
	options := q.Options()
	if place < 1 || place > len(options) {
		return nil, false
	}
	return options[place-1].Value, true
}
