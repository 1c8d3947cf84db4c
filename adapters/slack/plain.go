package slack

import (
	"slices"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

// orPlain makes a call with a message. If Slack refuses what the message says, or how, it makes the call once more with
// plain text: what a model writes, and what Slack makes of it, can always exceed a limit or meet a rule that is not
// known here.
func (s *Slack) orPlain(d core.Delivery, m message, call func(message) error) error {
	err := call(m)
	if !webapi.RefusesContent(err) {
		return err
	}
	plain, ok := s.painter.plainMessage(d, m)
	if !ok {
		return err
	}
	s.Log.Warn("Slack does not accept a message as it was drawn; it is sent as plain text", "event", d.Event,
		"kind", d.Kind, "err", err)
	return call(plain)
}

// plainMessage returns a message as plain text: a reply with Markdown's marks, anything else without blocks. A button
// below an error is lost; its text is what the person needs.
//
// ok is false for the card of an open approval. Without its buttons nobody could decide there, and its text says who is
// asked to. Drawn in another way it might also show less of what is approved. So the refusal stands, as an error: the
// approvers get the card as a direct message, or the requester is told that they did not. Of a closed card the outcome
// is what matters.
func (p painter) plainMessage(d core.Delivery, m message) (plain message, ok bool) {
	late := ""
	if d.Late && d.Part == 0 {
		late = p.CardLate
	}
	switch {
	case m.reply != nil:
		// Slack may refuse it because of a rule that is not known here, so it is text with Markdown's marks.
		m.Blocks = []api.Block{rich(section(own(shorten(doc.Text(m.reply, true), maxMessageText-maxExcerpt))))}
		if late != "" {
			m.Blocks = slices.Insert(m.Blocks, 0, smallLine(late))
		}
		return m, true
	case d.Kind != core.PostCard:
		text := strings.TrimSpace(chat.Clean(d.Text))
		if late != "" {
			text = late + "\n" + text
		}
		return message{Text: escaped(text, maxText)}, true
	case d.Card.State == core.Open:
		return message{}, false
	}
	// Slack keeps attachments that an edit does not mention
	return message{Text: m.Text, Attachments: []api.Attachment{}}, true
}
