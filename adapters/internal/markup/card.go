package markup

import (
	"html/template"
	"time"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// Options say how a card is drawn.
type Options struct {
	Now      time.Time
	ID       string // of the card's elements, where several are on a page
	Token    string // of the forms of a page
	Who      string // the name of whom the page is made for
	Page     string // the approval's address; "": a script sends the forms
	Alone    bool   // it is what its page is about
	Reviewed bool   // the reader sees the second step before an approval
	Reveal   bool   // what is masked may be shown
	Revealed string // the arguments without masks, where they are shown
	Fault    string // why nothing was decided; ""
	Tried    Tried  // the form that was refused
	// the Fault is that others had decided before; it is none of the reader's
	Overtaken bool
}

// Tried is a form that was refused: it is shown again with what was typed.
type Tried struct {
	Action outbound.Action
	Typed  []string
	Faults map[int]string // of the inputs, by their places
}

// view is a card for its template.
type view struct {
	Options
	doc.Document
	Card core.Card
}

// Card returns the HTML of a card, and what it says of it.
func Card(c core.Card, d doc.Document, o Options) (template.HTML, error) {
	return write("card", view{o, d, c})
}

// maxTitle is how many characters of what is asked a heading has.
const maxTitle = 120

// Title is what a card is about, on one line that is short enough for a heading.
func Title(d doc.Document) string {
	line, left := safetext.Head(safetext.OneLine(Text(d.Lead)), maxTitle)
	if left > 0 {
		line += "…"
	}
	return line
}

// Whole is what is asked, where the heading does not have all of it.
func (v view) Whole() string {
	if all := Text(v.Lead); all != Title(v.Document) {
		return all
	}
	return ""
}

// Spans is the HTML of some spans.
func (v view) Spans(spans []doc.Span) template.HTML { return Spans(spans, v.Now) }

// AskedBy is the part beside which the page says when.
func (v view) AskedBy() doc.Part { return doc.AskedBy }

// Asked is when the request was made: a page does not say by itself how old a card is.
func (v view) Asked() template.HTML { return Moment{v.Card.CreatedAt, v.Now}.HTML() }

// Instead is said in place of the arguments, where none are shown.
func (v view) Instead() string {
	_, instead := v.Shown()
	return instead
}
