// Package cardhtml writes the card of an approval as HTML: for the page of approvals and, drawn by the server as well,
// for the chat. What it says, and what may be pressed, is doc's; html/template escapes each text.
//
// A press is a form. On a page it is posted to the approval's address with the fields below; in the chat a script reads
// the same fields, and sends them with the continuation that the reader was given for the choice.
//
//	choice     approve, review, deny, edit, withdraw, ask_again, answer or reveal
//	edits      how often the arguments had been changed on the card that was read
//	reason     of a denial
//	changed    of an edit: the arguments
//	confirmed  "yes": the second step before an approval
//	field-N    of an answer: what was typed or chosen, by the place of the field
package cardhtml

import (
	"bytes"
	"cmp"
	"embed"
	"html/template"
	"strings"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// Options say how a card is drawn.
type Options struct {
	Now      time.Time
	ID       string // of the card's elements, where several are on a page
	Token    string // of the forms of a page
	Page     string // the approval's address; "": a script sends the forms
	Alone    bool   // it is what its page is about
	Reviewed bool   // the reader sees the second step before an approval
	Reveal   bool   // what is masked may be shown
	Revealed string // the arguments without masks, where they are shown
	Fault    string // why nothing was decided; ""
	Tried    *Tried // the form that was refused
}

// Tried is a form that was refused: it is shown again with what was typed.
type Tried struct {
	Action chat.Action
	Typed  []string
	Faults []string // of each input; "": none
}

// view is a card for its template.
type view struct {
	Options
	doc.Document
	card core.Card
}

//go:embed card.html
var files embed.FS

var templates = template.Must(template.ParseFS(files, "card.html"))

// Write returns the HTML of a card, and what it says of it.
func Write(c core.Card, d doc.Document, o Options) (template.HTML, error) {
	d.Fields = dated(c, d.Fields)
	var b bytes.Buffer
	err := templates.ExecuteTemplate(&b, "card", view{o, d, c})
	return template.HTML(b.String()), err // each text in it is escaped
}

// dated is the fields of a card with when it was asked: a page does not say by itself how old a card is.
func dated(c core.Card, fields []doc.Field) (all []doc.Field) {
	for _, f := range fields {
		all = append(all, f)
		if f.Label == "Asked by" && !c.CreatedAt.IsZero() {
			all = append(all, doc.Field{Label: "Asked", Value: []doc.Span{{Kind: doc.Moment, At: c.CreatedAt}}})
		}
	}
	return all
}

// maxTitle is how many characters of what is asked a heading has.
const maxTitle = 120

// Title is what a card is about, on one line that is short enough for a heading.
func Title(d doc.Document) string {
	line, left := chat.Head(strings.Join(strings.Fields(Text(d.Lead)), " "), maxTitle)
	if left > 0 && len(d.Lead) == 1 && d.Lead[0].Kind == doc.Lines {
		return line + "…"
	}
	return strings.TrimSpace(Text(d.Lead))
}

// Title is the heading.
func (v view) Title() string { return Title(v.Document) }

// Whole is what is asked, where the heading does not have all of it.
func (v view) Whole() string {
	if all := Text(v.Lead); all != v.Title() {
		return all
	}
	return ""
}

func (v view) Dangerous() bool { return v.card.State == core.Open && v.card.Risk == core.Dangerous }
func (v view) Open() bool      { return v.card.State == core.Open }
func (v view) Edits() int      { return v.card.Edits }

// Code are the arguments, Label says so, and Instead is said where there are none.
func (v view) Code() string { return cmp.Or(v.Revealed, v.Arguments) }

func (v view) Instead() string {
	_, instead := v.Shown()
	return instead
}

func (v view) Label() string {
	if v.card.Question != nil {
		return "What was asked, with nothing hidden"
	}
	return "Arguments"
}
