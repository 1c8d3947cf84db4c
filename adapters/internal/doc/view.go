package doc

import (
	"cmp"
	"strings"

	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// View returns what a card says to a reader, in the approval's current state.
func View(d core.Delivery, r Reader) Document {
	c, t := *d.Card, r.Texts.Or()
	by := t.LabelAskedBy
	v := Document{Texts: t, Color: colorOf(c), card: c, reader: r, to: d.Person, again: d.Pressed}
	v.Headline = v.headline(d.Occasion)
	v.Foot = filled(t.FootApproval, 0, Span{Kind: Code, Text: ShortID(c.Approval)})
	open := c.State == core.Open
	if d.Late && open {
		v.Late = t.CardLate
	}
	if c.Question == nil {
		v.Lead = []Span{{Kind: Subject, Text: c.Summary, Style: Bold, Limit: LimitSubject}}
		v.Told = c.Said && safetext.Units(c.Summary) <= maxTold
		if v.Folded = !open; !v.Told {
			v.Arguments = Arguments(c)
		}
		v.add(Other, v.LabelTool, Span{Kind: Tool, Text: c.Tool})
	} else {
		by = t.LabelStartedBy // the bot asks
		v.Foot = filled(t.FootQuestion, 0, Span{Kind: Code, Text: ShortID(c.Approval)})
		v.Lead = []Span{{Kind: Lines, Text: c.Question.Text, Style: Bold, Limit: LimitQuestion}}
		for _, o := range c.Question.Options() {
			if open {
				v.Options = append(v.Options, o.Title)
			}
		}
	}
	v.addPerson(AskedBy, by, c.Requested, c.Requester)
	if c.Asked.Message != "" && (d.Copy || r.Apart) { // else the message stands above the card
		v.add(Message, v.LabelMessage, own("“"), foreign(Said, c.Asked.Message, LimitMessage), own("”"))
	}
	if open {
		v.waiting(d)
	} else {
		v.decided()
	}
	v.memory()
	if c.Question == nil || !open {
		v.changes()
	}
	if v.Elsewhere = d.Copy; d.Copy {
		v.lastLines()
	}
	return v
}

func (v *Document) add(part Part, label string, value ...Span) {
	if len(value) > 0 {
		v.Fields = append(v.Fields, Field{Part: part, Label: label, Value: value, Wide: part >= Message})
	}
}

func (v *Document) note(warns bool, spans ...Span) {
	v.Notes = append(v.Notes, Note{Spans: spans, Warns: warns})
}

func own(text string) Span { return Span{Text: text} }

// foreign is a text of others that a surface cuts to a limit.
func foreign(kind SpanKind, text string, limit Limit) Span {
	return Span{Kind: kind, Text: text, Limit: limit}
}

// filled is a text of gatehouse in a style, with spans in its one place.
func filled(text string, style Style, in ...Span) []Span {
	return placed(text, style, map[string][]Span{wording.Place.FindString(text): in})
}

// placed is a text of gatehouse in a style, with spans in its places.
func placed(text string, style Style, places map[string][]Span) (all []Span) {
	words := func(text string) {
		if text != "" {
			all = append(all, Span{Text: text, Style: style})
		}
	}
	end := 0
	for _, at := range wording.Place.FindAllStringIndex(text, -1) {
		words(text[end:at[0]])
		all, end = append(all, places[text[at[0]:at[1]]]...), at[1]
	}
	words(text[end:])
	return all
}

// waiting adds what an open card says: until when, who may decide, how far they are, and what they must know.
func (v *Document) waiting(d core.Delivery) {
	c := v.card
	if !c.Deadline.IsZero() {
		v.add(Other, v.LabelExpires, Span{Kind: Deadline, At: c.Deadline})
	}
	who := []Span{own(v.NotifiedElsewhere)}
	if !d.Quiet {
		who = v.approvers()
	}
	switch few := len(who) > 0 && len(who) <= maxFor && who[0].Kind != Own && !v.reader.IDs; {
	case c.Question != nil && few:
		v.For = filled(v.QuestionFor, Bold, who...)
		return
	case c.Question != nil:
		v.add(MayDecide, v.LabelMayAnswer, who...)
		return
	}
	v.add(MayDecide, v.LabelMayDecide, who...)
	v.votes(v.LabelApprovedSoFar, c.Voters, c.Quorum)
	v.votes(v.LabelDeniedSoFar, c.Against, c.Vetoes)
	if c.Altered {
		v.note(true, Span{Text: v.CardAltered, Style: Bold})
	} else {
		if c.Risk == core.Dangerous {
			v.note(true, own(v.Irreversible))
		}
		if c.Hidden > 0 {
			v.note(true, own(v.hidden()+OnPage(c, v.reader)))
		}
	}
	v.before()
	if d.LeftOut > 0 {
		v.note(false, own(counted(d.LeftOut, v.LeftOut, v.LeftOutSeveral)))
	}
}

// maxTold is how long a sentence may be, in UTF-16 units, for every surface to show all of it, however much it has to
// escape.
const maxTold = 120

// maxFor is how many spans a question's headline names people with: three, and what stands between them.
const maxFor = 5

// changes adds how the request differs from the one that was asked for.
func (v *Document) changes() {
	c := v.card
	if c.Edits > 0 {
		v.note(false, v.edited()...)
	}
	if c.Asked.Dropped != "" {
		v.note(false, filled(v.ChangeDropped, 0, foreign(Subject, c.Asked.Dropped, LimitSubject))...)
	}
	if c.Changed != "" {
		v.note(false, Span{Text: v.RequestChanged, Style: Bold}, own(" "), foreign(Said, c.Changed, LimitChanged))
	}
}

// lastLines adds the last lines of a card's conversation, as many as the reader is shown.
func (v *Document) lastLines() {
	all := v.card.Context
	for _, l := range all[max(0, len(all)-v.reader.Lines):] {
		who := v.SpeakerBot
		if l.Role == core.User {
			who = v.SpeakerPerson
		}
		v.Context = append(v.Context, Line{who, cmp.Or(safetext.OneLine(safetext.Clean(l.Text)), v.EmptyMessage)})
	}
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
