package markup

import (
	"strconv"
	"strings"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/wording"
	"gatehouse/core/question"
)

// form is a form for its template.
type form struct {
	view
	doc.Form
	Buttons bool // each option is a button that sends it
	Opened  bool // it is shown at once, since what was sent with it was refused
	Inputs  []input
}

// Field is the name of a question's input, by its place.
func Field(place int) string { return "field-" + strconv.Itoa(place) }

// texts are the names of the inputs of forms of one long text.
var texts = map[outbound.Action]string{outbound.ActionReason: "reason"}

// form draws a form, with nothing typed yet unless it was refused.
func (v view) form(action outbound.Action, limit int) *form {
	d, _ := v.Form(action, limit)
	f := &form{view: v, Form: d, Opened: v.Tried.Action == d.Action}
	for i, in := range d.Inputs {
		one := input{Input: in, Texts: v.Texts, Name: texts[d.Action], Length: in.MaxLength}
		if one.Name == "" {
			one.Name, one.Length, one.Limits = Field(i), 0, limits(in.Field, v.Texts)
		}
		if f.Opened {
			one.Value, one.Fault = v.Tried.Typed[i], v.Tried.Faults[i]
		}
		one.ID = one.Name + "-" + v.ID
		f.Inputs = append(f.Inputs, one)
	}
	return f
}

// input is one input of a form. Its value is what was typed or, of one with options, the place of the chosen one.
type input struct {
	doc.Input
	*wording.Texts
	ID, Name string
	Limits   string // of what may be typed, in words; ""
	Length   int    // the most UTF-16 units that it takes; 0: the server counts
	Fault    string
}

// limits say what may be typed into an input.
func limits(f question.Field, t *wording.Texts) string {
	input := t.Of("input_" + string(f.Kind))
	if bounded := doc.Bounded(t, input, f); bounded != input {
		return bounded + "."
	}
	return ""
}

// longText is how many characters a text may have for a field of one line.
const longText = 200

// Control is the element of the input: radio, select, textarea, number or text.
func (in input) Control() string {
	switch n := len(in.Options()); {
	case n > question.MaxButtons, n > 0 && !in.Required:
		return "select"
	case n > 0:
		return "radio"
	case in.Kind == question.Number, in.Kind == question.Integer:
		return "number"
	case in.MaxLength > longText:
		return "textarea"
	}
	return "text"
}

// Bound is a bound of a number for the browser, which may count whole numbers from it; "": none.
func (in input) Bound(number string) string {
	if in.Kind == question.Integer && strings.ContainsAny(number, ".eE") {
		return ""
	}
	return number
}
