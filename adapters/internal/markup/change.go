package markup

import (
	"errors"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/wording"
	"gatehouse/core/mask"
	"gatehouse/core/strictjson"
)

// Change is a change of a call's arguments that the reader works on: a form with a field for each or with their JSON,
// and then what changes.
type Change struct {
	Base   string // the JSON that the fields were filled with
	Text   string // the JSON with what was typed
	Fields []Argument
	JSON   bool   // the form has the JSON, since that was asked for or since there can be no fields
	Ready  bool   // the text can be sent: what changes is shown
	Fault  string // why it can't be; ""
}

// Argument is the field of one argument.
type Argument struct {
	Name    string // as the call has it
	Control string // checkbox, number, text, textarea or json
	Value   string // what the field says; of a checkbox true or false
	Fault   string // what is wrong with it; ""

	raw, filled string // the JSON and the Value before anything was typed
}

// Field is the name of the field in the form.
func (a Argument) Field() string { return "argument." + a.Name }

// Label is the name as it is shown.
func (a Argument) Label() string { return mask.EscapeLine(a.Name) }

// indent is that of an object's members in the JSON of arguments.
const indent = "  "

// NewChange fills a form with arguments. Their JSON may be anything that somebody typed.
func NewChange(text string) *Change {
	c := &Change{Base: text, Text: text}
	v, err := strictjson.Parse([]byte(text))
	if err == nil && v.Kind == strictjson.Object {
		for _, m := range v.Members {
			c.Fields = append(c.Fields, argument(m, string(m.Value.Raw([]byte(text)))))
		}
	}
	c.JSON = c.Fields == nil
	return c
}

func argument(m strictjson.Member, raw string) Argument {
	a := Argument{Name: m.Key, Control: "json", Value: strings.ReplaceAll(raw, "\n"+indent, "\n"), raw: raw}
	said := m.Value.String
	switch {
	case m.Value.Kind == strictjson.Bool:
		a.Control = "checkbox"
	case m.Value.Kind == strictjson.Number:
		if _, err := strconv.ParseFloat(raw, 64); err == nil { // browsers drop what is too large
			a.Control = "number"
		}
	case m.Value.Kind == strictjson.String && mask.Escape(said) == said: // what is invisible stays escaped
		a.Control, a.Value = "text", said
		if strings.Contains(said, "\n") || utf8.RuneCountInString(said) > longText {
			a.Control = "textarea"
		}
	}
	a.filled = a.Value
	return a
}

// TypedChange reads the form of a change. What is wrong with single fields is said at them.
func TypedChange(form url.Values, t *wording.Texts) *Change {
	c := NewChange(lines(form.Get("changed")))
	if !form.Has("fields") || c.Fields == nil {
		c.JSON = true
		return c
	}
	members := make([]string, len(c.Fields))
	for i := range c.Fields {
		a := &c.Fields[i]
		a.read(form, t)
		members[i] = string(strictjson.AppendString([]byte(indent), a.Name)) + ": " + a.json()
	}
	c.Text = "{\n" + strings.Join(members, ",\n") + "\n}"
	return c
}

// lines is a text of a form. Browsers write its line ends as two characters.
func lines(text string) string { return strings.ReplaceAll(text, "\r\n", "\n") }

func (a *Argument) read(form url.Values, t *wording.Texts) {
	switch {
	case a.Control == "checkbox":
		a.Value = strconv.FormatBool(form.Has(a.Field()))
	case form.Has(a.Field()):
		a.Value = lines(form.Get(a.Field()))
	}
	v, err := strictjson.Parse([]byte(a.json()))
	var wrong *strictjson.Error
	switch {
	case a.Control == "number" && (err != nil || v.Kind != strictjson.Number):
		a.Fault = t.FormEditNumber
	case errors.As(err, &wrong):
		a.Fault = wording.Fill(t.FormEditNoJson, "{fault}", mask.Text(wrong.Error()))
	}
}

// json is the JSON of what the field says. Of a field that nobody touched it is what it was, to the letter.
func (a *Argument) json() string {
	switch {
	case a.Value == a.filled:
		return a.raw
	case a.Control == "text", a.Control == "textarea":
		return string(strictjson.AppendString(nil, strings.ToValidUTF8(a.Value, "\ufffd")))
	}
	return strings.ReplaceAll(strings.TrimSpace(a.Value), "\n", "\n"+indent)
}

// Wrong reports whether a field is not filled in rightly.
func (c *Change) Wrong() bool {
	for _, a := range c.Fields {
		if a.Fault != "" {
			return true
		}
	}
	return false
}

// Blame says at the fields what is wrong with their arguments, by the arguments' names. It reports whether any of them
// is shown.
func (c *Change) Blame(faults map[string]string) bool {
	for i, a := range c.Fields {
		c.Fields[i].Fault = faults[a.Name]
	}
	return !c.JSON && c.Wrong()
}

// Diff is what the reader's change changes.
func (v view) Diff() []doc.Change {
	return doc.Changes(v.Card.Arguments, mask.Escape(v.Change.Text), v.NoValue)
}
