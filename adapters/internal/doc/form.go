package doc

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/question"
)

// Form is what a press opens. Its submission carries the same sealed button, with what was typed, by the places of the
// inputs.
type Form struct {
	Action         outbound.Action
	Title          string
	Submit         string
	Lead           []Span // what it is about
	Tool           string // the tool of the call, "" of a question
	Caution        string // what must be read before it is sent; ""
	Inputs         []Input
	First          int // the place of its first input, if it is a page of a longer form
	*wording.Texts     // that it is written with
}

// Input is one input of a form. Field says what may be typed or chosen.
type Input struct {
	question.Field
	Placeholder string
	Value       string // what it is filled with
}

// Titles are the titles of what may be chosen; nil if something is typed.
func (in Input) Titles() (all []string) {
	for _, o := range in.Options() {
		all = append(all, o.Title)
	}
	return all
}

// ConfirmWord has to be typed to approve something where a surface has no dialog to confirm it.
const ConfirmWord = "approve"

// Form is the form that a button opens, or ok is false: arguments can't be changed in an input of so many UTF-16 units.
// A reason is optional unless the rule needs one, so that it does not delay a denial; ConfirmWord has to be typed to
// approve; a question has an input for each of its fields.
func (d Document) Form(action outbound.Action, limit int) (f Form, ok bool) {
	c := d.card
	text := func(part string) string { return d.Of("form_" + string(action) + part) }
	f = Form{Action: action, Title: text("_title"), Submit: text("_send"), Lead: d.Lead, Tool: c.Tool, Texts: d.Texts}
	in := Input{Field: question.Field{
		Kind: question.Text, Title: wording.Fill(text("_label"), "{word}", ConfirmWord), Hint: text("_hint"),
		MaxLength: limit, Required: true,
	}}
	ok = true
	switch action {
	case outbound.ActionReason:
		in.Required = c.NeedsWhy
	case outbound.ActionConfirm, outbound.ActionConfirmRemember:
		f.Caution, in.Placeholder = d.Cautions(0), ConfirmWord
		in.MinLength, in.MaxLength = len(ConfirmWord), len(ConfirmWord)
	case outbound.ActionEdit:
		in.Value, ok = EditText(c, limit)
	case outbound.ActionAnswer:
		f.Tool = ""
		for _, field := range c.Question.Fields {
			field.Title = cmp.Or(field.Label(), in.Title)
			f.Inputs = append(f.Inputs, Input{Field: field})
		}
		return f, true
	}
	f.Inputs = []Input{in}
	return f, ok
}

// Bounded is what may be typed into a field, with the limits of its value: "A number from 1 to 9".
func Bounded(t *wording.Texts, input string, f question.Field) string {
	low, high, text := string(f.Minimum), string(f.Maximum), input
	switch {
	case low != "" && high != "":
		text = t.InputBetween
	case low != "":
		text = t.InputAtLeast
	case high != "":
		text = t.InputAtMost
	case f.Kind == question.Text && (f.MinLength > 0 || f.MaxLength < question.MaxAnswer):
		text, low, high = t.InputLength, strconv.Itoa(f.MinLength), strconv.Itoa(f.MaxLength)
	}
	return wording.Fill(text, "{input}", input, "{low}", low, "{high}", high)
}

// EditText returns what the form for a call's arguments is filled with: all of them, as JSON. ok is false if they can't
// be changed in a form whose input takes so many UTF-16 units, or if the card's text would not be read back as the same
// arguments: what is invisible in it is escaped, which JSON allows in its texts only.
func EditText(c core.Card, limit int) (text string, ok bool) {
	text = strings.TrimSpace(c.Arguments)
	whole := strings.HasPrefix(text, "{") && json.Valid([]byte(text)) && mask.Escape(text) == text
	if !whole || !c.Editable || c.State != core.Open || safetext.Units(text) > limit {
		return "", false
	}
	return text, true
}
