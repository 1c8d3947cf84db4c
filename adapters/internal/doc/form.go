package doc

import (
	"cmp"
	"encoding/json"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
	"gatehouse/core/mask"
	"gatehouse/core/question"
)

// Form is what a press opens. Its submission carries the same sealed button, with what was typed, by the places of the inputs.
type Form struct {
	Action  chat.Action
	Title   string
	Submit  string
	Lead    []Span // what it is about
	Tool    string // the tool of the call, "" of a question
	Caution string // what must be read before it is sent; ""
	Inputs  []Input
	First   int // the place of its first input, if it is a page of a longer form
}

// Input is one input of a form. Field says what may be typed or chosen.
type Input struct {
	question.Field
	Placeholder string
	Value       string // what it is filled with
}

// Shown is the input's label.
func (in Input) Shown() string { return cmp.Or(in.Label(), "Your answer") }

// Titles are the titles of what may be chosen; nil if something is typed.
func (in Input) Titles() (all []string) {
	for _, o := range in.Options() {
		all = append(all, o.Title)
	}
	return all
}

// ConfirmWord has to be typed to approve something where a surface has no dialog to confirm it.
const ConfirmWord = "approve"

// ReasonForm asks why a request is denied. The reason is optional unless the rule needs one, so that it does not delay a denial.
func ReasonForm(c core.Card, limit int) Form {
	return form(c, chat.ActionReason, "Deny this?", "Deny", Input{Field: question.Field{
		Kind: question.Text, Title: "What should be different?", Hint: "The agent and the person who asked will read it.", MaxLength: limit, Required: c.NeedsWhy,
	}})
}

// ConfirmForm asks for ConfirmWord before something is approved; cautions say why.
func ConfirmForm(c core.Card, cautions string) Form {
	f := form(c, chat.ActionConfirm, "Approve this?", "Approve", Input{Placeholder: ConfirmWord, Field: question.Field{
		Kind: question.Text, Title: "Type “" + ConfirmWord + "” to go on", Hint: "Close this form to go back.",
		MinLength: len(ConfirmWord), MaxLength: len(ConfirmWord), Required: true,
	}})
	f.Caution = cautions
	return f
}

// EditForm changes a call's arguments, and is filled with them. ok is false if they can't be changed in an input of so many UTF-16 units.
func EditForm(c core.Card, limit int) (f Form, ok bool) {
	text, ok := EditText(c, limit)
	return form(c, chat.ActionEdit, "Change the arguments", "Change", Input{Value: text, Field: question.Field{
		Kind: question.Text, Title: "Arguments (a JSON object)", Hint: "Approvals given so far will not count any more.", MaxLength: limit, Required: true,
	}}), ok
}

// AnswerForm answers a question: an input for each of its fields.
func AnswerForm(c core.Card) Form {
	f := Form{Action: chat.ActionAnswer, Title: "Answer", Submit: "Send", Lead: lead(c)}
	for _, field := range c.Question.Fields {
		f.Inputs = append(f.Inputs, Input{Field: field})
	}
	return f
}

func form(c core.Card, a chat.Action, title, submit string, in Input) Form {
	return Form{Action: a, Title: title, Submit: submit, Lead: lead(c), Tool: c.Tool, Inputs: []Input{in}}
}

// NoEdit says that arguments can't be changed where a button for it was pressed.
const NoEdit = "The arguments of this request can't be changed here, so nothing was changed."

// EditText returns what the form for a call's arguments is filled with: all of them, as JSON. ok is false if they can't be changed in a form
// whose input takes so many UTF-16 units, or if the card's text would not be read back as the same arguments: what is invisible in it is
// escaped, which JSON allows in its texts only.
func EditText(c core.Card, limit int) (text string, ok bool) {
	text = strings.TrimSpace(c.Arguments)
	whole := strings.HasPrefix(text, "{") && json.Valid([]byte(text)) && mask.Escape(text) == text
	if !whole || !c.Editable || c.State != core.Open || chat.Units(text) > limit {
		return "", false
	}
	return text, true
}
