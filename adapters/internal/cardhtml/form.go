package cardhtml

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
	"gatehouse/core/question"
)

// form is a form for its template.
type form struct {
	view
	Choice  string
	Submit  string
	Class   string // of the button that sends it
	Buttons []option
	Inputs  []input
	tried   *Tried
}

// Opened reports whether the form is shown at once, since what was sent with it was refused.
func (f form) Opened() bool { return f.tried != nil }

// input is one input of a form.
type input struct {
	ID, Name string
	Kind     string // radio, select, textarea, number or text
	Label    string
	Hint     string
	About    string // the ids of what describes it
	Required bool
	Options  []option
	Step     string // of a number
	Min, Max string
	Length   int // the most that it takes; 0: no limit of the browser's
	Typed    string
	Fault    string
}

// option is one of the values among which a field lets people choose.
type option struct {
	Place  int // from 1
	Title  string
	Chosen bool
}

// Field is the name of a question's input, by its place.
func Field(place int) string { return "field-" + strconv.Itoa(place) }

// single are the forms of one long text: what they choose, and the name of the text.
var single = map[chat.Action]struct{ choice, name string }{
	chat.ActionReason: {string(core.Deny), "reason"}, chat.ActionEdit: {string(core.Edit), "changed"},
}

// form draws a form, with nothing typed yet unless it was refused.
func (v view) form(d doc.Form, class string) *form {
	f := &form{view: v, Choice: string(d.Action), Submit: d.Submit, Class: class}
	text, isText := single[d.Action]
	if isText {
		f.Choice = text.choice
	}
	if v.Tried != nil && v.Tried.Action == d.Action {
		f.tried = v.Tried
	}
	for i, in := range d.Inputs {
		name, typed, fault := Field(i), in.Value, ""
		if isText {
			name = text.name
		}
		if f.tried != nil {
			typed, fault = f.tried.Typed[i], f.tried.Faults[i]
		}
		drawn := inputOf(in.Field, name+"-"+v.ID, typed, fault)
		if drawn.Name = name; isText {
			drawn.Kind, drawn.Length, drawn.Hint = "textarea", in.MaxLength, in.Hint
		}
		f.Inputs = append(f.Inputs, drawn)
	}
	return f
}

// longText is how many characters a text may have for a field of one line.
const longText = 200

func inputOf(f question.Field, id, typed, fault string) input {
	in := input{
		ID: id, Label: cmp.Or(f.Label(), "Answer"), Hint: hintOf(f), Required: f.Required,
		Options: optionsOf(f, typed), Typed: typed, Fault: fault,
	}
	switch n := len(in.Options); {
	case n > question.MaxButtons, n > 0 && !f.Required:
		in.Kind = "select"
	case n > 0:
		in.Kind = "radio"
	case f.Kind == question.Number:
		in.Kind, in.Step, in.Min, in.Max = "number", "any", string(f.Minimum), string(f.Maximum)
	case f.Kind == question.Integer:
		in.Kind, in.Step, in.Min, in.Max = "number", "1", wholeOnly(string(f.Minimum)), wholeOnly(string(f.Maximum))
	case f.MaxLength > longText:
		in.Kind = "textarea"
	default:
		in.Kind = "text"
	}
	var about []string
	if in.Hint != "" {
		about = append(about, id+"-hint")
	}
	if fault != "" {
		about = append(about, id+"-fault")
	}
	in.About = strings.Join(about, " ")
	return in
}

// wholeOnly is a bound that a browser may count whole numbers from.
func wholeOnly(bound string) string {
	if strings.ContainsAny(bound, ".eE") {
		return ""
	}
	return bound
}

// hintOf is the field's own hint, and its limits.
func hintOf(f question.Field) string {
	limits := ""
	switch {
	case f.Minimum != "" && f.Maximum != "":
		limits = fmt.Sprintf("From %s to %s.", f.Minimum, f.Maximum)
	case f.Minimum != "":
		limits = fmt.Sprintf("%s or more.", f.Minimum)
	case f.Maximum != "":
		limits = fmt.Sprintf("%s or less.", f.Maximum)
	case f.Kind == question.Text && f.MinLength > 0:
		limits = fmt.Sprintf("%d to %d characters.", f.MinLength, f.MaxLength)
	case f.Kind == question.Text && f.MaxLength < question.MaxAnswer:
		limits = fmt.Sprintf("At most %d characters.", f.MaxLength)
	}
	if f.Hint == "" || limits == "" {
		return f.Hint + limits
	}
	return strings.TrimRight(f.Hint, ".") + ". " + limits
}

func optionsOf(f question.Field, typed string) (all []option) {
	for i, c := range f.Options() {
		all = append(all, option{Place: i + 1, Title: c.Title, Chosen: typed == strconv.Itoa(i+1)})
	}
	return all
}
