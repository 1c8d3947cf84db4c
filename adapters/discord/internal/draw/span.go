package draw

import (
	"regexp"
	"strings"

	"gatehouse/adapters/discord/internal/address"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/core/mask"
)

// limits are how much of a text a card shows.
var limits = doc.Limits{
	doc.NoLimit: maxAll, doc.LimitSubject: maxSummary, doc.LimitMessage: maxMessage, doc.LimitChanged: maxChanged,
	doc.LimitReason:   maxReasonOut,
	doc.LimitQuestion: maxQuestion,
}

// maxAll is more than any text of a card has.
const maxAll = 1 << 20

// textOf draws a span of a card. A user is named by a mention, which notifies only those whom the message allows it to.
func textOf(s doc.Span) string {
	limit := limits[s.Limit]
	switch s.Kind {
	case doc.Own:
		return s.Text
	case doc.Said:
		return safetext.OrNone(said(s.Text, limit))
	case doc.Lines:
		if strings.Contains(s.Text, "\n") {
			return linesOf(s.Text, limit)
		}
	case doc.Moment:
		return timestamp(s.At, "f")
	case doc.Deadline:
		return timestamp(s.At, "f") + " (" + timestamp(s.At, "R") + ")"
	case doc.Person, doc.Approver:
		account := address.Account(s.Who.ID)
		switch {
		case account != "":
			return "<@" + account + ">"
		case s.Kind == doc.Person:
			return safetext.OrNone(said(s.Text, maxPerson))
		}
		limit = maxApprover
	}
	return safetext.OrNone(Literal(safetext.OneLine(mask.Escape(s.Text)), limit))
}

// leadOf draws what a card or a form is about. A question takes what room there is.
func leadOf(lead []doc.Span, room int) string {
	if lead[0].Kind == doc.Lines {
		return linesOf(lead[0].Text, room)
	}
	return markdownOf(lead)
}

// linesOf draws a text with its lines: as a quotation, which its own Markdown can't end, or as code if too much
// of it would have to be escaped. A note says how much of it is over the limit.
func linesOf(text string, limit int) string {
	text = strings.TrimSpace(mask.Escape(text))
	if quoted, left := quotation(text, limit); left == 0 {
		return quoted
	}
	code, _ := fenced("```\n", fences.ReplaceAllStringFunc(text, broken), limit, safetext.MoreNote)
	return code
}

// fences matches what would end a fence.
var fences = regexp.MustCompile("`{3,}")

// broken is a run of backticks in which no three stand in a row.
func broken(run string) string {
	return strings.TrimSuffix(strings.ReplaceAll(run, "``", "``"+gap), gap)
}
