package draw

import (
	"slices"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/core"
)

// Plain returns a message as plain text: a reply with Markdown's marks, anything else without blocks. A button
// below an error is lost; its text is what the person needs.
//
// ok is false for the card of an open approval. Without its buttons nobody could decide there, and its text says who is
// asked to. Drawn in another way it might also show less of what is approved. So the refusal stands, as an error: the
// approvers get the card as a direct message, or the requester is told that they did not. Of a closed card the outcome
// is what matters.
func (p Painter) Plain(d core.Delivery, m Message) (plain Message, ok bool) {
	late := ""
	if d.Late && d.Part == 0 {
		late = p.CardLate
	}
	switch {
	case m.reply != nil:
		// Slack may refuse it because of a rule that is not known here, so it is text with Markdown's marks.
		m.Blocks = []api.Block{rich(section(own(mrkdwn.Shorten(doc.Text(m.reply, true), maxMessageText-maxExcerpt))))}
		if late != "" {
			m.Blocks = slices.Insert(m.Blocks, 0, smallLine(late))
		}
		return m, true
	case d.Kind != core.PostCard:
		text := strings.TrimSpace(safetext.Clean(d.Text))
		if late != "" {
			text = late + "\n" + text
		}
		return Message{Text: escaped(text, maxText)}, true
	case d.Card.State == core.Open:
		return Message{}, false
	}
	// Slack keeps attachments that an edit does not mention
	return Message{Text: m.Text, Attachments: []api.Attachment{}}, true
}
