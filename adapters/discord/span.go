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

// cardLine draws spans in Discord's Markdown.
func cardLine(spans []doc.Span) string {
	var b strings.Builder
	for _, s := range spans {
		text := textOf(s)
		if s.Style&doc.Bold != 0 {
			text = "**" + text + "**"
		}
		b.WriteString(text)
	}
	return b.String()
}

// textOf draws a span. A user is named by a mention, which notifies only those whom the message allows it to.
func textOf(s doc.Span) string {
	switch s.Kind {
	case doc.Own:
		return s.Text
	case doc.Said:
		return chat.OrNone(said(s.Text, limits[s.Limit]))
	case doc.Lines:
		if strings.Contains(s.Text, "\n") {
			return linesOf(s.Text, limits[s.Limit])
		}
		return chat.OrNone(said(s.Text, limits[s.Limit]))
	case doc.Tool, doc.Code:
		return inlineCode(s.Text, maxTool)
	case doc.Moment:
		return timestamp(s.At, "f")
	case doc.Deadline:
		return timestamp(s.At, "f") + " (" + timestamp(s.At, "R") + ")"
	case doc.Person, doc.Approver:
		if user, ok := userOf(s.Who.ID); ok {
			return "<@" + user + ">"
		}
		if role := preflight.RoleID.FindStringSubmatch(s.Who.ID); role != nil {
			return "<@&" + role[1] + ">"
		}
		if s.Kind == doc.Approver {
			return chat.OrNone(inline(s.Text, maxApprover))
		}
		return doc.NameOf(s.Who, s.Text, func(name string) string { return said(name, maxPerson) })
	}
	return chat.OrNone(inline(s.Text, limits[s.Limit]))
}

// timestamp formats a time so that Discord shows it in the reader's time zone and language.
func timestamp(t time.Time, style string) string { return fmt.Sprintf("<t:%d:%s>", t.Unix(), style) }

// leadOf draws what a card or a form is about. A question takes what room there is.
func leadOf(lead []doc.Span, room int) string {
	if lead[0].Kind == doc.Lines {
		return linesOf(lead[0].Text, room)
	}
	return cardLine(lead)
}

// linesOf draws a text with its lines: as a quotation, which its own Markdown can't end, or as code if too much
// of it would have to be escaped. A note says how much of it is over the limit.
func linesOf(text string, limit int) string {
	text = strings.TrimSpace(mask.Escape(text))
	quoted := "> " + strings.ReplaceAll(literal(text, 2*chat.Units(text)+limit), "\n", "\n> ")
	if chat.Units(quoted) <= limit {
		return quoted
	}
	const start, end = "```\n", "\n```"
	text = strings.ReplaceAll(text, "```", "``"+gap+"`")
	room := limit - chat.Units(start+end)
	shown, left := chat.Head(text, room)
	if left == 0 {
		return start + shown + end
	}
	shown, left = chat.Head(text, room-chat.Units(chat.MoreNote(left+room)))
	return start + shown + end + chat.MoreNote(left)
}
