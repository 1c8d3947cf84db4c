package slack

import (
	"slices"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// The metadata of our messages. It identifies a message whose answer was lost.
const (
	metadataType = "gatehouse_post"
	metadataKey  = "key"
	metadataPart = "part"
)

// message is one Slack message: its blocks, and the text that notifications show.
type message struct {
	Text     string
	Blocks   []api.Block
	markdown string // the Markdown in the block of a reply, else ""
}

// options returns the arguments of a call that posts or updates a message.
func (m message) options(more ...api.MsgOption) []api.MsgOption {
	return append(more, api.MsgOptionText(m.Text, false), api.MsgOptionBlocks(m.Blocks...))
}

// posted returns the arguments of a new message. It carries its key, and its links are not unfurled.
func (m message) posted(d core.Delivery, thread string) []api.MsgOption {
	return append(m.options(inThread(thread)...), api.MsgOptionDisableLinkUnfurl(), api.MsgOptionDisableMediaUnfurl(), api.MsgOptionMetadata(metadata(d)))
}

// withoutMarkdown returns a reply as plain text, for when Slack refuses it as Markdown: Slack converts the block to many blocks, by its
// own rules, and these may exceed a limit.
func (m message) withoutMarkdown() message {
	blocks := slices.Clone(m.Blocks)
	blocks[len(blocks)-1] = rich(literal(shorten(defuse(unescapeBrackets.Replace(m.markdown)), maxMessageText)))
	return message{Text: m.Text, Blocks: blocks}
}

func metadata(d core.Delivery) api.SlackMetadata {
	return api.SlackMetadata{EventType: metadataType, EventPayload: map[string]any{metadataKey: d.Key, metadataPart: d.Part}}
}

// painter draws deliveries. seal signs the value of a button.
type painter struct {
	seal func(fields ...string) string
}

// draw returns the messages of a delivery, at least one. The same delivery yields the same messages. For the copy of a card, link leads to
// the card's conversation; "" if there is none.
//
// Slack parses no tokens in text that a model or a person wrote: replies go through neutral, everything else is rich text or plain text,
// in which Slack parses nothing.
func (p painter) draw(d core.Delivery, link string) ([]message, error) {
	return chat.Painter[message]{
		Parts: markdown,
		Reply: func(part string) message {
			return message{Text: excerpt(stripMarkdown.Replace(part)), Blocks: []api.Block{api.NewMarkdownBlock("", part)}, markdown: part}
		},
		Plain: func(text string) message {
			return message{Text: excerpt(text), Blocks: []api.Block{rich(literal(shorten(defuse(text), maxPlain)))}}
		},
		Steps: func(tools string) message {
			line := "🔧 " + shorten(defuse(tools), chat.MaxSteps)
			return message{Text: excerpt(line), Blocks: []api.Block{smallLine(line)}}
		},
		Late: func(m message) message {
			m.Blocks = append([]api.Block{smallLine(chat.LateNote)}, m.Blocks...)
			return m
		},
		Button: func(m message, label string, b chat.Button) (message, error) {
			made, err := p.button(string(b.Action), label, b)
			if err == nil {
				m.Blocks = append(m.Blocks, api.NewActionBlock("", made))
			}
			return m, err
		},
		Extra: func(d core.Delivery) []string { return []string{d.To.Channel, d.To.Thread} },
		Card:  p.card,
	}.Draw(d, link)
}
