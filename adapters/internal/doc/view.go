package doc

import (
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// View returns what a card says to a reader, in the approval's current state.
func View(d core.Delivery, r Reader) Document {
	c := *d.Card
	v := Document{
		Headline: Headline(c, d.Occasion), Color: colorOf(c), Lead: lead(c), Foot: []Span{own("Approval "), {Kind: Code, Text: ShortID(c.Approval)}}, card: c, reader: r, to: d.Person, again: d.Pressed,
	}
	if d.Late && c.State == core.Open {
		v.Late = chat.LateNote
	}
	if c.Question == nil {
		v.Told = c.Said && chat.Units(c.Summary) <= maxTold
		if v.Folded = c.State != core.Open; !v.Told {
			v.Arguments = Arguments(c)
		}
		v.add("Tool", Span{Kind: Tool, Text: c.Tool})
	} else if c.State == core.Open {
		for _, o := range c.Question.Options() {
			v.Options = append(v.Options, o.Title)
		}
	}
	v.addPerson("Asked by", c.Requested, c.Requester)
	if c.Asked.Message != "" && (d.Copy || r.Apart) { // else the message stands above the card
		v.addWide("Message", own("“"), Span{Kind: Said, Text: c.Asked.Message, Limit: LimitMessage}, own("”"))
	}
	if c.State == core.Open {
		v.waiting(d)
	} else {
		v.decided()
	}
	v.memory()
	if c.Question == nil || c.State != core.Open {
		v.changes()
	}
	if d.Copy {
		v.Elsewhere, v.Context = true, lastLines(c, r.Lines)
	}
	return v
}

func (v *Document) add(label string, value ...Span) {
	if len(value) > 0 {
		v.Fields = append(v.Fields, Field{Label: label, Value: value})
	}
}

func (v *Document) addWide(label string, value ...Span) {
	v.Fields = append(v.Fields, Field{Label: label, Value: value, Wide: true})
}

func (v *Document) note(spans ...Span) { v.Notes = append(v.Notes, Note{Spans: spans}) }

func own(text string) Span { return Span{Text: text} }

func person(who core.Actor, name string) Span { return Span{Kind: Person, Who: who, Text: name} }

// lead is what a card is about.
func lead(c core.Card) []Span {
	if c.Question != nil {
		return []Span{{Kind: Lines, Text: c.Question.Text, Style: Bold, Limit: LimitQuestion}}
	}
	return []Span{{Kind: Subject, Text: c.Summary, Style: Bold, Limit: LimitSubject}}
}

// waiting adds what an open card says: until when, who may decide, how far they are, and what they must know.
func (v *Document) waiting(d core.Delivery) {
	c := v.card
	if !c.Deadline.IsZero() {
		v.add("Expires", Span{Kind: Deadline, At: c.Deadline})
	}
	who := []Span{own(Elsewhere)}
	if !d.Quiet {
		who = v.approvers()
	}
	switch {
	case c.Question == nil:
		v.add("May decide", who...)
	case d.Quiet || len(who) == 0 || len(who) > maxFor || who[0].Kind == Own:
		v.add("May answer", who...)
		return
	default:
		v.For = append([]Span{{Text: ", for ", Style: Bold}}, who...)
		return
	}
	if c.Quorum > 1 {
		v.addWide("Approved so far", v.votes(c.Voters, c.Quorum)...)
	}
	if c.Vetoes > 1 {
		v.addWide("Denied so far", v.votes(c.Against, c.Vetoes)...)
	}
	v.Notes = warnings(c, v.reader)
	v.before()
	if d.LeftOut > 0 {
		v.note(own(leftOut(d.LeftOut)))
	}
}

// maxTold is how long a sentence may be, in UTF-16 units, for every surface to show all of it, however much it has to escape.
const maxTold = 120

// maxFor is how many spans a question's headline names people with: three, and what stands between them.
const maxFor = 5

// changes adds how the request differs from the one that was asked for.
func (v *Document) changes() {
	c := v.card
	if c.Edits > 0 {
		v.note(edited(c)...)
	}
	if c.Asked.Dropped != "" {
		v.note(Span{Kind: Subject, Text: c.Asked.Dropped, Limit: LimitSubject},
			own(" had changed the arguments of an earlier request. The rules have changed since, and that change is dropped."))
	}
	if c.Changed != "" {
		v.note(Span{Text: "The request was changed after it was made:", Style: Bold}, own(" "), Span{Kind: Said, Text: c.Changed, Limit: LimitChanged})
	}
}

// lastLines are the last lines of a card's conversation, at most so many.
func lastLines(c core.Card, most int) (all []Line) {
	for _, l := range c.Context[max(0, len(c.Context)-most):] {
		who := "Bot"
		if l.Role == core.User {
			who = "Person"
		}
		all = append(all, Line{who, l.Text})
	}
	return all
}

// Plain is a document's spans as one text: gatehouse's own words and what text makes of any other span.
func Plain(spans []Span, text func(Span) string) string {
	var b strings.Builder
	for _, s := range spans {
		if s.Kind == Own {
			b.WriteString(s.Text)
			continue
		}
		b.WriteString(text(s))
	}
	return b.String()
}
