package slack

import (
	"fmt"
	"regexp"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core/mask"
)

// limits are how much of a text a card shows.
var limits = doc.Limits{
	doc.NoLimit: maxMessageText, doc.LimitSubject: maxSummary, doc.LimitMessage: maxMessage, doc.LimitChanged: maxChanged, doc.LimitReason: maxReason,
	doc.LimitQuestion: maxQuestion,
}

// piece is a piece of rich text. Slack parses no tokens in it.
type piece = api.RichTextSectionElement

func rich(pieces ...piece) api.Block {
	return api.NewRichTextBlock("", api.NewRichTextSection(pieces...))
}

func literal(s string) piece { return api.NewRichTextSectionTextElement(s, nil) }

func bold(s string) piece {
	return api.NewRichTextSectionTextElement(s, &api.RichTextSectionTextStyle{Bold: true})
}

// preformatted returns text in a box, unchanged.
func preformatted(s string) *api.RichTextPreformatted {
	return &api.RichTextPreformatted{Type: api.RTEPreformatted, Elements: []piece{literal(s)}}
}

// pieces draws spans. Neighbours of one style are one piece.
func pieces(spans []doc.Span) (all []piece) {
	for _, s := range spans {
		next := pieceOf(s)
		if text, ok := next.(*api.RichTextSectionTextElement); ok && text.Style == nil && len(all) > 0 {
			if last, ok := all[len(all)-1].(*api.RichTextSectionTextElement); ok && last.Style == nil {
				last.Text += text.Text
				continue
			}
		}
		all = append(all, next)
	}
	return all
}

// pieceOf draws a span: an approver as a mention, which tells them, and a time so that Slack shows it in the reader's own zone. A person is
// mentioned only if their name has letters that look like others.
func pieceOf(s doc.Span) piece {
	user, group := mentioned(s)
	switch {
	case s.Kind == doc.Moment || s.Kind == doc.Deadline:
		fallback := textOf(s)
		return api.NewRichTextSectionDateElement(s.At.Unix(), dateFormat, nil, &fallback)
	case user != "" && (s.Kind == doc.Approver || mask.LookAlike(s.Text) || mask.LookAlike(s.Who.Name)):
		return api.NewRichTextSectionUserElement(user, nil)
	case group != "":
		return api.NewRichTextSectionUserGroupElement(group)
	case s.Kind == doc.Tool:
		return api.NewRichTextSectionTextElement(textOf(s), &api.RichTextSectionTextStyle{Code: true})
	case s.Style&doc.Bold != 0:
		return bold(textOf(s))
	}
	return literal(textOf(s))
}

const dateFormat = "{date_short_pretty} at {time}"

// mentioned is the person or the group that a span can mention; both are "" if there is none.
func mentioned(s doc.Span) (user, group string) {
	if s.Kind != doc.Person && s.Kind != doc.Approver {
		return "", ""
	}
	if id, ok := webapi.UserID(s.Who.ID); ok && userID.MatchString(id) {
		return id, ""
	}
	if id, ok := webapi.GroupID(s.Who.ID); ok && s.Kind == doc.Approver && groupID.MatchString(id) {
		return "", id
	}
	return "", ""
}

var (
	userID  = regexp.MustCompile(`^[UW][A-Z0-9]{1,20}$`)
	groupID = regexp.MustCompile(`^S[A-Z0-9]{1,20}$`)
)

// textOf is a span as text that mentions nobody.
func textOf(s doc.Span) string {
	switch s.Kind {
	case doc.Own:
		return s.Text
	case doc.Said:
		return chat.OrNone(said(s.Text, limits[s.Limit]))
	case doc.Lines:
		return chat.OrNone(lines(s.Text, limits[s.Limit]))
	case doc.Tool:
		return chat.OrNone(inline(s.Text, maxTool))
	case doc.Moment, doc.Deadline:
		return s.At.UTC().Format("2006-01-02 15:04 UTC")
	case doc.Approver:
		switch user, group := mentioned(s); {
		case user != "":
			return "an approver"
		case group != "":
			return "a group of approvers"
		}
		return chat.OrNone(inline(s.Text, maxPerson))
	case doc.Person:
		return doc.NameOf(s.Who, s.Text, func(name string) string { return inline(name, maxPerson) })
	}
	return chat.OrNone(inline(s.Text, limits[s.Limit]))
}

// lines draws a text with its lines, within a limit.
func lines(s string, limit int) string {
	return shorten(defuse(strings.TrimSpace(joinBlankLines(mask.Escape(s)))), limit)
}

// short returns a text on one line that ends within a limit, with a sign where it is cut.
func short(s string, limit int) string {
	text := defuse(chat.OneLine(mask.Escape(s)))
	if head, left := chat.Head(text, limit); left == 0 {
		return chat.OrNone(head)
	}
	head, _ := chat.Head(text, limit-1)
	return head + "…"
}

// mrkdwn returns pieces as Slack's own markup; ok is false if one contains what could be markup.
func mrkdwn(pieces []piece) (text string, ok bool) {
	for _, p := range pieces {
		switch p := p.(type) {
		case *api.RichTextSectionUserElement:
			text += "<@" + p.UserID + ">"
		case *api.RichTextSectionUserGroupElement:
			text += "<!subteam^" + p.UsergroupID + ">"
		case *api.RichTextSectionDateElement:
			text += fmt.Sprintf("<!date^%d^%s|%s>", int64(p.Timestamp), p.Format, *p.Fallback)
		case *api.RichTextSectionTextElement:
			code := p.Style != nil && p.Style.Code
			if strings.ContainsAny(p.Text, "*~`\n") || strings.Contains(p.Text, "_") && !code {
				return "", false
			}
			if code {
				text += "`" + escape.Replace(p.Text) + "`"
				continue
			}
			text += escape.Replace(p.Text)
		default:
			return "", false
		}
	}
	return text, true
}
