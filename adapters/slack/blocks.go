package slack

import (
	"slices"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// The metadata of our messages: by it a message whose answer was lost is found again.
const (
	metadataType = "gatehouse_post"
	metadataKey  = "key"
	metadataPart = "part"
)

// message is one Slack message: its blocks, and the text that notifications show.
type message struct {
	Text     string
	Blocks   []api.Block
	markdown string // of a reply: the Markdown in its block
}

// options are the arguments of a call that posts or updates a message.
func (m message) options(more ...api.MsgOption) []api.MsgOption {
	return append(more, api.MsgOptionText(m.Text, false), api.MsgOptionBlocks(m.Blocks...))
}

// posted are the arguments of a new message: it carries its key, and its links are not unfolded.
func (m message) posted(d core.Delivery, thread string) []api.MsgOption {
	return append(m.options(inThread(thread)...), api.MsgOptionDisableLinkUnfurl(), api.MsgOptionDisableMediaUnfurl(), api.MsgOptionMetadata(metadata(d)))
}

// withoutMarkdown is a reply as plain text, where Slack refuses it as Markdown: it makes many blocks of one, by its own rules, and that
// may break a limit.
func (m message) withoutMarkdown() message {
	blocks := slices.Clone(m.Blocks)
	blocks[len(blocks)-1] = rich(literal(shorten(defuse(unescapeBrackets.Replace(m.markdown)), maxMessageText)))
	return message{Text: m.Text, Blocks: blocks}
}

func metadata(d core.Delivery) api.SlackMetadata {
	return api.SlackMetadata{EventType: metadataType, EventPayload: map[string]any{metadataKey: d.Key, metadataPart: d.Part}}
}

// painter draws deliveries. seal signs what a button carries.
type painter struct {
	seal func(fields ...string) string
}

// draw gives the messages that a delivery consists of, at least one; the same delivery gives the same messages. link leads to the
// conversation that the copy of a card is about; "" where there is none.
//
// Nothing that a model or a person wrote stands where Slack reads its own tokens in it: replies go through neutral, all else is
// rich text or plain text, in which Slack reads nothing.
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
