package doc

import (
	"time"

	"gatehouse/adapters/internal/safetext"
)

// Writer writes a document as text without markup, for a surface that shows all of it.
type Writer struct{ Surface }

// Surface says how a document is written without markup.
type Surface interface {
	// Foreign writes a text that gatehouse did not write: it must not begin a line of its own.
	Foreign(text string) string
	// Moment writes a time.
	Moment(at time.Time) string
}

// Fact is a thing that a card says, besides its headline and its lead.
type Fact struct {
	Part  Part   `json:"-"`
	Label string `json:"label,omitempty"` // "" for a sentence
	Text  string `json:"text"`
	Warns bool   `json:"warns,omitempty"` // an approver must know it before a decision
}

// Line is the fact as a line of text.
func (f Fact) Line() string {
	if f.Label == "" {
		return f.Text
	}
	return f.Label + ": " + f.Text
}

// Facts are all that a document says between its lead and its arguments, in its order.
func (w Writer) Facts(d Document) (all []Fact) {
	for _, f := range d.Fields {
		all = append(all, Fact{Part: f.Part, Label: f.Label, Text: w.Text(f.Value)})
	}
	for _, n := range d.Notes {
		all = append(all, Fact{Text: w.Text(n.Spans), Warns: n.Warns})
	}
	return all
}

// Headline is a document's headline, with those whom a question is for.
func (w Writer) Headline(d Document) string { return d.Headline + w.Text(d.For) }

// Text is the text of some spans.
func (w Writer) Text(spans []Span) string {
	return Plain(spans, func(s Span) string {
		switch s.Kind {
		case Tool, Person, Approver:
			return w.Foreign(safetext.Name(s.Text))
		case Moment, Deadline:
			return w.Moment(s.At)
		}
		return safetext.OrNone(w.Foreign(s.Text))
	})
}
