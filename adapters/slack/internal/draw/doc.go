// Package draw draws what gatehouse says as messages and forms of Slack: replies, notices and cards, as blocks.
//
// The reply "**Hi** `x`" becomes one block of rich text,
//
//	{"type": "rich_text", "elements": [{"type": "rich_text_section", "elements": [
//		{"type": "text", "text": "Hi", "style": {"bold": true}}, {"type": "text", "text": " "},
//		{"type": "text", "text": "x", "style": {"code": true}}]}]}
//
// and the text "Hi x" beside it, which notifications and screen readers need. Text of people and models is drawn as
// rich text, in which Slack parses nothing; the text beside the blocks, which Slack does parse, is escaped (text.go).
// What a card says comes from adapters/internal/doc as spans; rich.go draws a span, card.go a card and form.go a form.
// A reply is Markdown that adapters/internal/doc has read: reply.go cuts it into messages within Slack's limits
// (limits.go).
//
// A card's coloured edge stands beside its foot, not beside all of it (2026-11-27). The edge is an attachment's. A card
// that is all in one was rejected: Slack's clients may wrap, cut or fold what is in an attachment behind "Show more",
// its buttons too, and an approver must see what runs; and the message's text, which screen readers and notifications
// need, would stand above the attachment as a second card, since only blocks of the message itself take its place. A
// card's fields are lines of one rich text, not the two columns of a section: in those a value would have to be written
// once more, as mrkdwn, and on a phone they are one column of twice as many lines.
package draw
