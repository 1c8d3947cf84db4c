package markup

import (
	"html/template"
	"slices"
	"time"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// Options say how a card is drawn.
type Options struct {
	Now      time.Time
	ID       string  // of the card's elements, where several are on a page
	Token    string  // of the forms of a page
	Who      string  // the name of whom the page is made for
	Page     string  // the approval's address; "": a script sends the forms
	All      string  // the address of all approvals
	Alone    bool    // it is what its page is about
	Reviewed bool    // the reader sees the second step before an approval
	Reveal   bool    // what is masked may be shown
	Revealed string  // the arguments without masks, where they are shown
	Fault    string  // why nothing was decided; ""
	Tried    Tried   // the form that was refused
	Change   *Change // of the arguments, which the reader works on, in place of a decision; nil: none
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

// State is the headline, before which the page draws its own picture.
func (v view) State() string { return doc.Unsigned(v.Headline) }

// row is a labelled value of a card.
type row struct {
	Label string
	Value template.HTML
}

// Rows are what a card says line by line: who did something, and when, stand on one. What the line of a folded card
// says is not among them.
func (v view) Rows() (rows []row) {
	_, said := v.Fate()
	for _, f := range v.Fields {
		value := v.Spans(unsigned(f.Value))
		last := len(rows) - 1
		switch {
		case v.Folds() && slices.Contains(said, f.Part):
		case f.Part == doc.AskedBy && !v.Card.CreatedAt.IsZero():
			rows = append(rows, row{f.Label, value + ", " + Moment{v.Card.CreatedAt, v.Now}.HTML()})
		case f.Part == doc.DecidedAt && last >= 0 && v.Fields[last].Part == doc.DecidedBy:
			rows[last].Value += ", " + value
		default:
			rows = append(rows, row{f.Label, value})
		}
	}
	return rows
}

// unsigned are spans without the picture in front of them.
func unsigned(spans []doc.Span) []doc.Span {
	if len(spans) > 0 && spans[0].Kind == doc.Own && doc.Unsigned(spans[0].Text) == "" {
		return spans[1:]
	}
	return spans
}

// Folds reports whether the card is over, and is shown on one line until somebody opens it.
func (v view) Folds() bool { return v.Card.State != core.Open && !v.Alone }

// Line is what became of the card, behind its title.
func (v view) Line() (parts []template.HTML) {
	words, _ := v.Fate()
	for _, spans := range words {
		parts = append(parts, v.Spans(spans))
	}
	return parts
}

// Instead is said in place of the arguments, where none are shown.
func (v view) Instead() string {
	_, instead := v.Shown()
	return instead
}

// Call are the arguments one by one, where they can be; those that are revealed stand in their JSON.
func (v view) Call() (rows []doc.Argument) {
	if v.Revealed == "" && v.Change == nil {
		rows, _ = v.Document.Rows()
	}
	return rows
}

// code is a text that can be unfolded.
type code struct {
	ID, Label, Text string
	Open            bool
}

// Code is the JSON of the arguments; nil if there are none. It is open where no rows say them, while they are decided
// about.
func (v view) Code() *code {
	rows, text := v.Document.Rows()
	switch {
	case v.Change != nil: // its form has them
	case v.Revealed != "" && v.Card.Question != nil:
		return &code{v.ID, v.ArgumentsRevealed, v.Revealed, true}
	case v.Revealed != "":
		return &code{v.ID, v.LabelArguments, v.Revealed, true}
	case rows != nil:
		return &code{v.ID, "JSON", text, false}
	case v.Arguments != "":
		return &code{v.ID, v.LabelArguments, v.Arguments, !v.Folded}
	}
	return nil
}
