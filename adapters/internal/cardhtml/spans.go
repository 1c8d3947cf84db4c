package cardhtml

import (
	"html/template"
	"strings"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
)

// plain writes what is no markup of its own.
var plain = doc.Writer{Foreign: chat.Clean, Time: func(t time.Time) string { return Moment{At: t}.Full() }}

// Text is the text of some spans.
func Text(spans []doc.Span) string { return plain.Text(spans) }

// Spans is the HTML of some spans.
func (v view) Spans(spans []doc.Span) template.HTML { return HTML(spans, v.Now) }

// HTML is the HTML of some spans. Times are told in relation to now.
func HTML(spans []doc.Span, now time.Time) template.HTML {
	var b strings.Builder
	for _, s := range spans {
		if s.Kind == doc.Moment || s.Kind == doc.Deadline {
			b.WriteString(string(Moment{s.At, now}.HTML()))
			continue
		}
		text := template.HTMLEscapeString(Text([]doc.Span{s}))
		switch {
		case s.Kind == doc.Tool, s.Kind == doc.Code:
			text = "<code>" + text + "</code>"
		case s.Style&doc.Bold != 0:
			text = "<strong>" + text + "</strong>"
		}
		b.WriteString(text)
	}
	return template.HTML(b.String()) // each text in it is escaped
}
