// Package markup writes what gatehouse says as HTML: a model's reply as a page may insert it, and the card of an
// approval, for the page of approvals and, drawn by the server as well, for the chat.
//
//	text.html, markup.go   blocks and spans
//	link.go                what may be linked to
//	card.html, card.go     a card; what it says, and what may be pressed, is doc's
//	form.go, press.go      the forms of a card
//	change.go, change.html the form for a call's arguments, and what it changes
//	moment.go              times
//
// It writes only the elements and attributes that it has in its text; whatever else a text holds is written as text.
// Links lead to http, https and mailto only, open in a tab of their own, and tell the other site nothing. An image is
// never loaded, since that would tell its server who reads what: it is a link. The headings of a reply begin at the
// third level, below those of the page, and none is left out between two of them. A block has the direction of its own
// letters. Code is not coloured here: a script of the page marks it without touching its text.
//
// 2026-11-28: chroma would colour it on the server. It was not taken: its lexers are 2.4 MB of the binary and are set
// up at each start, its regular expressions step back, and they would run over what models write whenever a page asks
// for its replies.
//
// A press of a card is a form. On a page it is posted to the approval's address with the fields below; in the chat a
// script reads the same fields, and sends them with the continuation that the reader was given for the choice.
//
//	choice     approve, remember, review, deny, edit, withdraw, forget, ask_again, answer or reveal; of a change that
//
// is
//
//	           not sent yet: change (check it), json or fields (another form)
//	edits      how often the arguments had been changed on the card that was read
//	reason     of a denial
//	changed    of an edit: the arguments; beside fields, what these were filled with
//	argument.NAME  of a change: what was typed for an argument, if fields is "yes"
//	confirmed  "yes": the second step before an approval
//	field-N    of an answer: what was typed or chosen, by the place of the field
package markup

import (
	"embed"
	"html/template"
	"slices"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/safetext"
)

//go:embed text.html card.html change.html
var files embed.FS

var templates = template.Must(template.New("").Funcs(template.FuncMap{
	"title":   Title,
	"words":   doc.Unsigned,
	"element": element,
	"outer":   outer,
	"inner":   inner,
	"align":   align,
	"spans":   func(spans []doc.Span) template.HTML { return Spans(spans, time.Time{}) },
	"place":   func(i int) string { return strconv.Itoa(i + 1) },
}).ParseFS(files, "*.html"))

// write executes a template. Each text in the result is escaped.
func write(name string, data any) (template.HTML, error) {
	var b strings.Builder
	err := templates.ExecuteTemplate(&b, name, data)
	return template.HTML(b.String()), err
}

// HTML returns a reply as HTML.
func HTML(blocks []doc.Block) template.HTML {
	text, _ := write("reply", ranked(blocks, new([]int))) // of a tree: can't fail
	return text
}

// block is a block for its template, with its direction.
type block struct {
	doc.Block
	Dir template.HTMLAttr
}

func outer(b doc.Block) block { return block{b, ` dir="auto"`} }

func inner(b doc.Block) block { return block{b, ""} }

// ranked returns blocks in which each heading is at most one level below the one that it stands under. under are the
// levels, as they were written, of the headings that the next one stands under.
func ranked(blocks []doc.Block, under *[]int) []doc.Block {
	all := slices.Clone(blocks)
	for i := range all {
		b := &all[i]
		if b.Kind == doc.Heading {
			for n := len(*under); n > 0 && (*under)[n-1] >= b.Level; n-- {
				*under = (*under)[:n-1]
			}
			*under = append(*under, b.Level)
			b.Level = len(*under)
		}
		b.Items = slices.Clone(b.Items)
		for n, item := range b.Items {
			b.Items[n] = ranked(item, under)
		}
	}
	return all
}

var elements = map[doc.BlockKind]string{
	doc.Paragraph: "p", doc.Quote: "blockquote", doc.CodeBlock: "pre", doc.Table: "table", doc.Rule: "hr",
}

// element is the name of a block's element.
func element(b doc.Block) string {
	switch {
	case b.Kind == doc.Heading:
		return "h" + strconv.Itoa(min(6, b.Level+2))
	case b.Kind == doc.List && b.First == doc.NoNumbers:
		return "ul"
	case b.Kind == doc.List:
		return "ol"
	}
	return elements[b.Kind]
}

// align is the class of a table's column, "" if it needs none.
func align(columns []doc.Align, i int) string {
	if i >= len(columns) {
		return ""
	}
	return map[doc.Align]string{doc.AlignRight: "right", doc.AlignCenter: "center"}[columns[i]]
}

// plain writes what is no markup of its own.
var plain = doc.Writer{Surface: surface{}}

type surface struct{}

func (surface) Foreign(text string) string { return safetext.Clean(text) }

func (surface) Moment(at time.Time) string { return Moment{At: at}.Full() }

// Text is the text of a card's spans.
func Text(spans []doc.Span) string { return plain.Text(spans) }

// Spans is the HTML of some spans. Times are told in relation to now. Where there can be no link, the address follows
// its words as text, so that nothing is hidden.
func Spans(spans []doc.Span, now time.Time) template.HTML {
	var b strings.Builder
	for len(spans) > 0 {
		n := 1
		for n < len(spans) && spans[n].To == spans[0].To {
			n++
		}
		same, end := spans[:n], ""
		if address, ok := safeURL(same[0].To); ok {
			b.WriteString(`<a href="` + template.HTMLEscapeString(address) + rest)
			end = "</a>"
		} else {
			same = doc.Shown(same)
		}
		for _, s := range same {
			b.WriteString(span(s, now))
		}
		b.WriteString(end)
		spans = spans[n:]
	}
	return template.HTML(b.String()) // each text in it is escaped
}

var styles = []struct {
	style doc.Style
	name  string
}{{doc.Struck, "del"}, {doc.Italic, "em"}, {doc.Bold, "strong"}}

// span is one span without its link. A line end is one that people see, as on chat platforms.
func span(s doc.Span, now time.Time) string {
	text := s.Text
	switch s.Kind {
	case doc.Break:
		return "<br>\n"
	case doc.Moment, doc.Deadline:
		return string(Moment{s.At, now}.HTML())
	case doc.Own, doc.Words, doc.Code:
	default:
		text = Text([]doc.Span{s})
	}
	text = template.HTMLEscapeString(text)
	if s.Kind == doc.Code || s.Kind == doc.Tool {
		text = `<code translate="no">` + text + "</code>"
	}
	for _, one := range styles {
		if s.Style&one.style != 0 {
			text = "<" + one.name + ">" + text + "</" + one.name + ">"
		}
	}
	return text
}
