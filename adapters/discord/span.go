package discord

import (
	"fmt"
	"strings"
	"time"

	"gatehouse/adapters/discord/internal/preflight"
	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core/mask"
)

// limits are how much of a text a card shows.
var limits = doc.Limits{
	doc.NoLimit: maxAll, doc.LimitSubject: maxSummary, doc.LimitMessage: maxMessage, doc.LimitChanged: maxChanged, doc.LimitReason: maxReasonOut,
	doc.LimitQuestion: maxQuestion,
}

// maxAll is more than any text of a card has.
const maxAll = 1 << 20

// markdownOf returns spans in Discord's Markdown: those of a reply's line or lines, or of a card. Only what stands here becomes Markdown:
// all foreign text is escaped.
func markdownOf(spans []doc.Span) string {
	l := liner{closed: -1}
	spans = doc.Shown(spans)
	for i, s := range spans {
		if s.Kind == doc.Tool {
			s.Kind, s.Text = doc.Code, plainLabel(s.Text, maxTool)
		}
		switch code := codeOf(s); {
		case s.Kind == doc.Break:
			l.end(0)
			l.out += "\n"
		case code != "" && !strings.HasSuffix(l.out, "`"):
			l.end(0)
			l.out += code
		case s.Kind == doc.Words || s.Kind == doc.Code:
			l.words(s, followed(spans[i+1:], s.Style))
		default:
			l.end(s.Style)
			l.begin(s.Style)
			l.out += textOf(s)
		}
	}
	l.end(0)
	return l.out
}

// toolOf draws a tool's name.
func toolOf(name string) string { return markdownOf([]doc.Span{{Kind: doc.Tool, Text: name}}) }

// textOf draws a span of a card. A user is named by a mention, which notifies only those whom the message allows it to.
func textOf(s doc.Span) string {
	limit := limits[s.Limit]
	switch s.Kind {
	case doc.Own:
		return s.Text
	case doc.Said:
		return chat.OrNone(said(s.Text, limit))
	case doc.Lines:
		if strings.Contains(s.Text, "\n") {
			return linesOf(s.Text, limit)
		}
	case doc.Moment:
		return timestamp(s.At, "f")
	case doc.Deadline:
		return timestamp(s.At, "f") + " (" + timestamp(s.At, "R") + ")"
	case doc.Person, doc.Approver:
		account := accountOf(s.Who.ID)
		switch {
		case account != "":
			return "<@" + account + ">"
		case s.Kind == doc.Person:
			return chat.OrNone(said(s.Text, maxPerson))
		}
		limit = maxApprover
	}
	return chat.OrNone(literal(chat.OneLine(mask.Escape(s.Text)), limit))
}

// accountOf returns the user or, after an ampersand, the role that an id names, as in a mention; "" for any other.
func accountOf(id string) string {
	if found := preflight.RoleID.FindStringSubmatch(id); found != nil {
		return "&" + found[1]
	}
	if user, ok := userOf(id); ok {
		return user
	}
	return ""
}

// timestamp formats a time so that Discord shows it in the reader's time zone and language.
func timestamp(t time.Time, style string) string { return fmt.Sprintf("<t:%d:%s>", t.Unix(), style) }

// said draws a person's own words on one line, within a limit.
func said(s string, limit int) string { return literal(chat.OneLine(chat.Clean(s)), limit) }

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
	code, _ := fenced("```\n", strings.ReplaceAll(text, "```", "``"+gap+"`"), limit, chat.MoreNote)
	return code
}
