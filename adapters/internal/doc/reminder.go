package doc

import (
	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// Reminder is what a reminder says where a link leads to the card that it reminds of: the card's headline, what it is
// about, and who may decide.
func Reminder(d core.Delivery, r Reader, link string) []Span {
	v := View(d, r)
	line := append([]Span{{Text: v.Headline, Style: Bold}}, v.For...)
	line = append(line, own(": "), Span{Kind: Subject, Text: chat.OneLine(v.Lead[0].Text), Limit: LimitSubject},
		own(" ("), Span{Kind: Words, Text: link, To: link}, own(")"))
	if d.Quiet { // it calls nobody
		return line
	}
	for _, f := range v.Fields {
		if f.Label == "May decide" || f.Label == "May answer" {
			line = append(append(line, own(". "+f.Label+": ")), f.Value...)
		}
	}
	return line
}
