package draw

import (
	"regexp"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core/mask"
)

// element is a block of rich text or a table, an element of such a block, or a piece of a line. Slack parses no tokens
// in any of them. slack-go has types for them, but its list always has an offset, which Slack's own types do not know.
type element struct {
	Type     string              `json:"type"`
	Elements []element           `json:"elements,omitempty"`
	Rows     [][]element         `json:"rows,omitempty"`
	Columns  []api.ColumnSetting `json:"column_settings,omitempty"`
	User     string              `json:"user_id,omitempty"`
	Group    string              `json:"usergroup_id,omitempty"`
	Time     int64               `json:"timestamp,omitempty"`
	Format   string              `json:"format,omitempty"`
	Fallback string              `json:"fallback,omitempty"`
	URL      string              `json:"url,omitempty"`
	Text     string              `json:"text,omitempty"`
	Style    any                 `json:"style,omitempty"` // of a list its kind, of a piece its look
	Indent   int                 `json:"indent,omitempty"`
	Border   int                 `json:"border,omitempty"`
}

// BlockType is the element's type.
func (e element) BlockType() api.MessageBlockType { return api.MessageBlockType(e.Type) }

// ID is "": Slack gives a block its id.
func (e element) ID() string { return "" }

// The types of elements that hold pieces.
const (
	sectionType = "rich_text_section"
	quoteType   = "rich_text_quote"
	codeType    = "rich_text_preformatted"
	listType    = "rich_text_list"
)

// rich returns a block of rich text.
func rich(elements ...element) element { return element{Type: "rich_text", Elements: elements} }

func section(spans ...doc.Span) element { return element{Type: sectionType, Elements: pieces(spans)} }

// preformatted returns text in a box, unchanged.
func preformatted(s string) element {
	return element{Type: codeType, Elements: []element{{Type: "text", Text: s}}}
}

func own(s string) doc.Span { return doc.Span{Text: s} }

func bold(s string) doc.Span { return doc.Span{Text: s, Style: doc.Bold} }

// pieces draws the spans of a card or a reply. Neighbours without a style are one piece.
func pieces(spans []doc.Span) (all []element) {
	for _, s := range doc.Shown(spans) {
		p, last := pieceOf(s), len(all)-1
		switch {
		case p.isPlain() && p.Text == "":
		case p.isPlain() && last >= 0 && all[last].isPlain():
			all[last].Text += p.Text
		default:
			all = append(all, p)
		}
	}
	return all
}

func (e element) isPlain() bool { return e.Type == "text" && e.Style == nil }

// pieceOf draws a span: an approver as a mention, which tells them, and a time so that Slack shows it in the reader's
// own zone. A person is mentioned only if their name has letters that look like others.
func pieceOf(s doc.Span) (p element) {
	switch who := mentionOf(s); {
	case s.Kind == doc.Moment || s.Kind == doc.Deadline:
		return element{Type: "date", Time: s.At.Unix(), Format: dateFormat, Fallback: textOf(s)}
	case who.Type != "" && (s.Kind == doc.Approver || mask.LookAlike(s.Text) || mask.LookAlike(s.Who.Name)):
		return who
	case len(s.To) <= maxURL && webAddress.MatchString(s.To):
		p = element{Type: "link", URL: s.To}
	default:
		p = element{Type: "text", Text: textOf(s)}
	}
	look := api.RichTextSectionTextStyle{
		Bold: s.Style&doc.Bold != 0, Italic: s.Style&doc.Italic != 0, Strike: s.Style&doc.Struck != 0,
		Code: s.Kind == doc.Code || s.Kind == doc.Tool,
	}
	if look != (api.RichTextSectionTextStyle{}) {
		p.Style = look
	}
	return p
}

const dateFormat = "{date_short_pretty} at {time}"

var (
	// accountID matches the ids of people, and of user groups, which begin with S.
	accountID = regexp.MustCompile(`^[UWS][A-Z0-9]{1,20}$`)
	// webAddress matches the addresses that become links. Slack shows them whole.
	webAddress = regexp.MustCompile(`^https?://[^\s<>|]+$`)
)

// mentionOf is the piece that mentions the person or, of an approver, the group of a span. Its type is "" if nothing
// can.
func mentionOf(s doc.Span) element {
	id, ours := strings.CutPrefix(s.Who.ID, webapi.Platform+":")
	switch {
	case !ours || !accountID.MatchString(id):
	case s.Kind == doc.Approver && id[0] == 'S':
		return element{Type: "usergroup", Group: id}
	case (s.Kind == doc.Person || s.Kind == doc.Approver) && id[0] != 'S':
		return element{Type: "user", User: id}
	}
	return element{}
}

// limits are how much of a text a card shows.
var limits = doc.Limits{
	doc.NoLimit: maxMessageText, doc.LimitSubject: maxSummary, doc.LimitMessage: maxMessage,
	doc.LimitChanged: maxChanged, doc.LimitReason: MaxReason, doc.LimitQuestion: maxQuestion,
}

// textOf is a span as text that mentions nobody. Of a reply it is the text itself, in which Slack parses nothing.
func textOf(s doc.Span) string {
	limit := limits[s.Limit]
	switch s.Kind {
	case doc.Own, doc.Words, doc.Code:
		return s.Text
	case doc.Break:
		return "\n"
	case doc.Moment, doc.Deadline:
		return s.At.UTC().Format("2006-01-02 15:04 UTC")
	case doc.Said:
		return safetext.OrNone(said(s.Text, limit))
	case doc.Lines:
		return safetext.OrNone(mrkdwn.Shorten(mrkdwn.Defuse(joinBlankLines(mask.Escape(s.Text))), limit))
	case doc.Person, doc.Approver:
		limit = maxPerson
	case doc.Tool:
		limit = maxTool
	}
	return safetext.OrNone(inline(s.Text, limit))
}
