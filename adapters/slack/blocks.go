package slack

import (
	"encoding/json"
	"regexp"
	"slices"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/wording"
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
	Text   string
	Blocks []api.Block
	// Attachments are the foot of a card: a line beside a coloured edge. An edit with nil keeps those that are there.
	Attachments []api.Attachment `json:",omitempty"`
	reply       []doc.Block      // what a part of a reply says, else nil
}

// options returns the arguments of a call that posts or updates a message.
func (m message) options(more ...api.MsgOption) []api.MsgOption {
	more = append(more, api.MsgOptionText(m.Text, false), api.MsgOptionBlocks(m.Blocks...))
	return append(more, api.MsgOptionAttachments(m.Attachments...))
}

func (m *message) add(b api.Block) { m.Blocks = append(m.Blocks, b) }

// posted returns the arguments of a new message. It carries its key, and its links are not unfurled.
func (m message) posted(d core.Delivery) []api.MsgOption {
	return append(
		m.options(inThread(d.To.Thread)...), api.MsgOptionDisableLinkUnfurl(), api.MsgOptionDisableMediaUnfurl(),
		api.MsgOptionMetadata(metadata(d)),
	)
}

// lengthOf is how long the texts of blocks are together, in UTF-16 units.
func lengthOf(blocks []api.Block) (n int) {
	written, _ := json.Marshal(blocks) // plain data: can't fail
	for _, found := range textMember.FindAllSubmatch(written, -1) {
		var text string
		_ = json.Unmarshal(found[1], &text) // it was just written
		n += chat.Units(text)
	}
	return n
}

// textMember matches a member "text" in JSON. Within a text its quotes would be escaped.
var textMember = regexp.MustCompile(`"text":("(?:[^"\\]|\\.)*")`)

func metadata(d core.Delivery) api.SlackMetadata {
	return api.SlackMetadata{
		EventType: metadataType, EventPayload: map[string]any{metadataKey: d.Key, metadataPart: d.Part},
	}
}

// painter draws deliveries. seal signs the value of a button.
type painter struct {
	seal func(fields ...string) string
	*wording.Texts
}

// draw returns the messages of a delivery, at least one. The same delivery yields the same messages. For the copy of a
// card, link leads to the card's conversation; "" if there is none.
//
// Slack parses no tokens in text that a model or a person wrote: it is rich text, plain text or a table.
func (p painter) draw(d core.Delivery, link string) ([]message, error) {
	return chat.Painter[message]{
		Reply: func(text string) []message { return reply(text, p.Texts) },
		Plain: func(text string) message {
			return message{
				Text: excerpt(text), Blocks: []api.Block{rich(section(own(shorten(defuse(text), maxPlain))))},
			}
		},
		Steps: func(tools string) message {
			line := "🔧 " + shorten(defuse(tools), chat.MaxSteps)
			return message{Text: excerpt("Tools used: " + defuse(tools)), Blocks: []api.Block{smallLine(line)}}
		},
		Late: func(m message) message {
			m.Blocks = slices.Insert(m.Blocks, 0, smallLine(p.CardLate))
			m.Text = excerpt(p.CardLate) + "\n" + m.Text
			return m
		},
		Button: func(m message, label string, b chat.Button) (message, error) {
			made, err := p.button(string(b.Action), label, b)
			if err == nil {
				m.add(api.NewActionBlock("", made))
			}
			return m, err
		},
		Extra: func(d core.Delivery) []string { return []string{d.To.Channel, d.To.Thread} },
		Card:  p.card,
		Texts: p.Texts,
	}.Draw(d, link)
}

// button makes a button whose value is sealed.
func (p painter) button(id, label string, b chat.Button) (*api.ButtonBlockElement, error) {
	value, err := b.Value(p.seal, maxValue)
	if err != nil {
		return nil, err
	}
	return api.NewButtonBlockElement(id, value, plainText(label)), nil
}

// plainText returns a text object in which Slack parses nothing, not even :emoji:.
func plainText(s string) *api.TextBlockObject {
	return api.NewTextBlockObject(api.PlainTextType, s, false, false)
}

// smallLine returns a block with one line in small grey letters.
func smallLine(text string) api.Block { return api.NewContextBlock("", plainText(text)) }

// inThread returns the argument for a thread; none for "", because Slack refuses an empty thread.
func inThread(thread string) []api.MsgOption {
	if thread == "" {
		return nil
	}
	return []api.MsgOption{api.MsgOptionTS(thread)}
}
