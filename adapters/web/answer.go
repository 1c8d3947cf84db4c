package web

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
	"gatehouse/core/question"
)

// asked is a question as its reader sees it.
type asked struct {
	Text    string   // the whole of it, where it is longer than its headline
	Open    bool     // the reader may answer now
	Buttons []option // of few options: a press answers; otherwise there is a form of Fields
	Fields  []input
}

// input is one field of a question's form.
type input struct {
	ID, Name string
	Input    string // radio, select, textarea, number or text
	Label    string
	Hint     string
	About    string // the ids of what describes it
	Required bool
	Options  []option
	Step     string // of a number
	Min, Max string
	Typed    string
	Fault    string
}

// option is one of the values among which a field lets people choose.
type option struct {
	Place  int // from 1
	Title  string
	Chosen bool
}

// longText is how many characters a text may have for a field of one line.
const longText = 200

// maxHeadline is how many characters of a question its headline has.
const maxHeadline = 120

// headline is the beginning of a question, on one line.
func headline(q question.Question) string {
	line, left := chat.Head(strings.Join(strings.Fields(q.Text), " "), maxHeadline)
	if left > 0 {
		line += "…"
	}
	return line
}

// ask draws a question, with nothing typed yet.
func ask(c core.Card) *asked {
	q := *c.Question
	view := &asked{}
	if q.Text != headline(q) {
		view.Text = q.Text
	}
	if options := q.Options(); len(options) > 0 && len(options) <= question.MaxButtons && q.Fields[0].Hint == "" {
		view.Buttons = optionsOf(q.Fields[0], "")
	}
	for i, f := range q.Fields {
		view.Fields = append(view.Fields, inputOf(c.Approval, i, f))
	}
	return view
}

func inputOf(id core.ApprovalID, place int, f question.Field) input {
	in := input{ID: fmt.Sprintf("field-%s-%d", id, place), Name: fieldName(place), Label: cmp.Or(f.Label(), "Answer"), Hint: hintOf(f), Required: f.Required}
	switch n := len(f.Options()); {
	case n > question.MaxButtons, n > 0 && !f.Required:
		in.Input, in.Options = "select", optionsOf(f, "")
	case n > 0:
		in.Input, in.Options = "radio", optionsOf(f, "")
	case f.Kind == question.Number:
		in.Input, in.Step, in.Min, in.Max = "number", "any", string(f.Minimum), string(f.Maximum)
	case f.Kind == question.Integer:
		in.Input, in.Step, in.Min, in.Max = "number", "1", wholeOnly(string(f.Minimum)), wholeOnly(string(f.Maximum))
	case f.MaxLength > longText:
		in.Input = "textarea"
	default:
		in.Input = "text"
	}
	in.describe()
	return in
}

// describe names what describes the field.
func (in *input) describe() {
	var ids []string
	if in.Hint != "" {
		ids = append(ids, in.ID+"-hint")
	}
	if in.Fault != "" {
		ids = append(ids, in.ID+"-fault")
	}
	in.About = strings.Join(ids, " ")
}

func fieldName(place int) string { return "field-" + strconv.Itoa(place) }

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
		place := strconv.Itoa(i + 1)
		all = append(all, option{Place: i + 1, Title: c.Title, Chosen: typed == place})
	}
	return all
}

// answer stores the answer that the reader has sent. One that does not fit changes nothing: the form is shown again, as it was filled in.
func (v *visit) answer(c core.Card) error {
	var typed []string
	for i := range c.Question.Fields {
		typed = append(typed, strings.ReplaceAll(v.r.PostForm.Get(fieldName(i)), "\r\n", "\n")) // browsers write line ends so
	}
	answer := c.Question.Fill(typed)
	if c.State == core.Open && c.Refusal(v.who.Actor) == nil {
		if _, err := c.Question.Check(answer); err != nil {
			page := approvalPage{Card: v.see(c), Fault: "Nothing was sent yet. What does not fit is said below."}
			page.Card.Question.fill(*c.Question, typed)
			v.showPage(http.StatusUnprocessableEntity, page)
			return nil
		}
	}
	return v.vote(core.Click{Approval: c.Approval, Choice: core.Answer, Answer: string(answer)})
}

// fill puts in what was typed, and says at each field what is wrong with it.
func (a *asked) fill(q question.Question, typed []string) {
	a.Buttons = nil
	for i, f := range q.Fields {
		in := &a.Fields[i]
		in.Typed, in.Options = typed[i], optionsOf(f, typed[i])
		value, ok := f.Value(typed[i])
		_, err := question.Question{Fields: []question.Field{f}}.Check(value)
		switch {
		case !ok && f.Required:
			in.Fault = "This is missing."
		case ok && err != nil && len(in.Options) > 0:
			in.Fault = "Choose one of the options."
		case ok && err != nil:
			in.Fault = "T" + strings.TrimPrefix(err.Error(), "t") + "."
		}
		in.describe()
	}
}
