package openharness

import (
	"fmt"
	"strings"
	"time"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core"
)

// plain writes a card's text. The lines of a foreign text after its first are indented: none can look like a line of
// the card.
var plain = doc.Writer{Surface: shell{}}

// shell shows a card; it has room for the whole of a foreign text.
type shell struct{}

func (shell) Moment(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }

func (shell) Foreign(s string) string {
	return strings.ReplaceAll(strings.TrimSpace(safetext.Clean(s)), "\n", "\n  ")
}

// payloadOf is what a reader of a card is told. All of it is text without markup; secrets are masked, and what is
// invisible is written out. Its message, and its facts with the arguments, are each all that a card says on any
// platform.
func payloadOf(v doc.Document, card core.Card) map[string]any {
	facts := plain.Facts(v)
	payload := map[string]any{
		"headline": plain.Headline(v), "summary": card.Summary, "facts": facts, "hidden_characters": card.Hidden,
	}
	lines := []string{plain.Headline(v) + ": " + plain.Text(v.Lead)}
	if q := card.Question; q != nil {
		payload["question"], payload["summary"] = describe(*q), q.Text
		for i, title := range v.Options {
			lines = append(lines, fmt.Sprintf("%d. %s", i+1, title))
		}
		for _, f := range q.Fields {
			if q.Form && card.State == core.Open {
				lines = append(lines, "– "+f.Label())
			}
		}
	} else {
		payload["tool"], payload["arguments"] = card.Tool, card.Arguments
	}
	for _, f := range facts {
		lines = append(lines, f.Line())
	}
	if v.Late != "" {
		lines = append(lines, v.Late)
	}
	if _, instead := v.Shown(); v.Arguments != "" {
		lines = append(lines, v.LabelArguments+":", "  "+shell{}.Foreign(v.Arguments))
	} else if instead != "" {
		lines = append(lines, instead)
	}
	payload["message"] = strings.Join(lines, "\n")
	if !card.Deadline.IsZero() {
		payload["deadline"] = card.Deadline.UTC().Format(time.RFC3339)
	}
	if card.State == core.Open {
		payload["approvers"] = doc.Approvers(card, Name)
	} else {
		payload["standing"] = v.Standing()
	}
	return payload
}
