package heard

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"gatehouse/adapters/internal/inbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/core"
)

// attachment is the part of an attachment that is read: a forwarded message, the preview of a link, what an app
// attached, or a table that a person pasted.
type attachment struct {
	IsShare     bool `json:"is_share"`
	IsMessage   bool `json:"is_msg_unfurl"`
	IsReply     bool `json:"is_reply_unfurl"`
	IsAppUnfurl bool `json:"is_app_unfurl"`

	AuthorID   string          `json:"author_id"`
	AuthorName string          `json:"author_name"`
	BotID      string          `json:"bot_id"`
	AppID      string          `json:"app_id"`
	Service    string          `json:"service_name"`
	TS         json.RawMessage `json:"ts"`
	From       string          `json:"from_url"`
	Original   string          `json:"original_url"`

	Pretext   string          `json:"pretext"`
	Title     string          `json:"title"`
	TitleLink string          `json:"title_link"`
	Text      string          `json:"text"`
	Fields    json.RawMessage `json:"fields"`
	Footer    string          `json:"footer"`
	Fallback  string          `json:"fallback"`
	Blocks    json.RawMessage `json:"blocks"`

	MessageBlocks json.RawMessage `json:"message_blocks"`
	Attachments   json.RawMessage `json:"attachments"`
	Files         json.RawMessage `json:"files"`
}

// isForward reports whether it is another message: one that was forwarded, or to which a link leads.
func (a attachment) isForward() bool { return a.IsShare || a.IsMessage || a.IsReply }

// isOwn reports whether it is a part of what the author of the message wrote: of a bot's words, or a pasted table.
func (a attachment) isOwn(byBot bool) bool {
	if a.isForward() || a.IsAppUnfurl || a.AuthorName+a.Service+a.From+a.Original != "" {
		return false
	}
	return byBot || a.BotID+a.AppID+a.Pretext+a.Title+a.Text == "" && len(items(a.Blocks)) > 0
}

// attach reads the attachments of a message by somebody. Their own parts, such as pasted tables, are added to text.
func (c *Content) attach(text *string, by core.Speaker, attachments json.RawMessage, depth int) {
	for _, raw := range items(attachments) {
		if c.left == 0 || depth == 0 {
			c.cut++
			continue
		}
		c.left--
		var a attachment
		_ = inbound.Decode(raw, &a) // what can be read of it
		if a.isOwn(c.bot) {
			*text = strings.TrimSpace(*text + "\n" + a.said())
			c.addFiles(by, a.Files)
			continue
		}
		if a.isForward() {
			c.forward(a, depth)
			continue
		}
		what, from := "attachment", by // an app may give any name as its author's, but no id
		switch {
		case a.From != "" || a.Original != "" || a.IsAppUnfurl:
			what, from = "link preview",
				speaker(cmp.Or(a.Service, a.AuthorName, hostOf(cmp.Or(a.From, a.Original))), "")
		case a.AuthorName+a.Service != "":
			from = speaker(cmp.Or(a.AuthorName, a.Service), "")
		}
		if text := a.said(); text != "" {
			c.Quoted = append(c.Quoted, a.quotation(what, from, text))
		}
		c.addFiles(from, a.Files)
	}
}

// forward reads a forwarded message, its files, and what it forwards itself.
func (c *Content) forward(a attachment, depth int) {
	by := speaker(a.AuthorName, cmp.Or(a.AuthorID, a.BotID))
	q := a.quotation("linked message", by, a.said())
	if a.IsShare {
		q.What = "forwarded message"
	}
	if depth < maxForwards {
		q.What += " in the one before"
	}
	inner := Content{bot: a.BotID != "", left: c.left}
	inner.addFiles(by, a.Files)
	originals := items(a.MessageBlocks)
	known := min(len(originals), maxForwards) // Slack sends one
	inner.cut = len(originals) - known
	for _, raw := range originals[:known] {
		var original struct {
			Message Message `json:"message"`
		}
		_ = inbound.Decode(raw, &original)
		q.Text = withBlocks(q.Text, original.Message.Blocks)
		if !holds(q.Text, original.Message.Text) {
			q.Text = original.Message.Text + "\n" + q.Text
		}
		inner.addFiles(by, original.Message.Files)
		inner.attach(&q.Text, by, original.Message.Attachments, depth-1)
	}
	inner.attach(&q.Text, by, a.Attachments, depth-1)
	if q.Text == "" && !slices.Contains(noPreview, a.Fallback) {
		q.Text = a.Fallback
	}
	if q.Text = safetext.Joined("\n", q.Text, namesOf(inner.Files)); q.Text == "" && len(inner.Quoted) == 0 {
		q.Text = "[Slack sent no text of it]"
	}
	c.Quoted = append(append(c.Quoted, q), inner.Quoted...)
	c.left, c.cut = inner.left, c.cut+inner.cut
	for _, f := range inner.Files {
		c.addFile(f)
	}
}

func (a attachment) quotation(what string, by core.Speaker, text string) core.Quotation {
	return core.Quotation{What: what, Name: by.Name, ID: by.ID, At: core.QuotedAt(mrkdwn.Time(a.TS)), Text: text}
}

// said is the text of an attachment. Its fallback stands for one that has none.
func (a attachment) said() string {
	title := a.Title
	if title != "" && a.TitleLink != "" {
		title = "<" + a.TitleLink + "|" + title + ">"
	}
	parts := []string{a.Pretext, title, a.Text}
	for _, raw := range items(a.Fields) {
		var field struct {
			Title string `json:"title"`
			Value string `json:"value"`
		}
		_ = inbound.Decode(raw, &field)
		if field.Title != "" {
			field.Title += ": "
		}
		parts = append(parts, field.Title+field.Value)
	}
	text := withBlocks(safetext.Joined("\n", parts...), a.Blocks)
	switch {
	case a.isForward():
		return text
	case text == "" && !slices.Contains(noPreview, a.Fallback):
		return a.Fallback
	case text == "":
		return ""
	}
	return safetext.Joined("\n", text, a.Footer)
}

func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
}
