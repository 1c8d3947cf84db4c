package draw

import (
	"encoding/json"
	"regexp"
	"slices"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// Message is one Slack message: its blocks, and the text that notifications show.
type Message struct {
	Text   string
	Blocks []api.Block
	// Attachments are the foot of a card: a line beside a coloured edge. An edit with nil keeps those that are there.
	Attachments []api.Attachment `json:",omitempty"`
	reply       []doc.Block      // what a part of a reply says, else nil
}

// Options returns the arguments of a call that posts or updates a message.
func (m Message) Options(more ...api.MsgOption) []api.MsgOption {
	more = append(more, api.MsgOptionText(m.Text, false), api.MsgOptionBlocks(m.Blocks...))
	return append(more, api.MsgOptionAttachments(m.Attachments...))
}

func (m *Message) add(b api.Block) { m.Blocks = append(m.Blocks, b) }

// lengthOf is how long the texts of blocks are together, in UTF-16 units.
func lengthOf(blocks []api.Block) (n int) {
	written, _ := json.Marshal(blocks) // plain data: can't fail
	for _, found := range textMember.FindAllSubmatch(written, -1) {
		var text string
		_ = json.Unmarshal(found[1], &text) // it was just written
		n += safetext.Units(text)
	}
	return n
}

// textMember matches a member "text" in JSON. Within a text its quotes would be escaped.
var textMember = regexp.MustCompile(`"text":("(?:[^"\\]|\\.)*")`)

// Sealer seals the value of a button, so that it can't be forged.
type Sealer interface{ Seal(fields ...string) string }

// Painter draws deliveries with the texts of a deployment.
type Painter struct {
	Sealer
	*wording.Texts
}

// Draw returns the messages of a delivery, at least one. The same delivery yields the same messages. For the copy of a
// card, link leads to the card's conversation; "" if there is none.
//
// Slack parses no tokens in text that a model or a person wrote: it is rich text, plain text or a table.
func (p Painter) Draw(d core.Delivery, link string) ([]Message, error) {
	return outbound.Painter[Message]{Drawer: drawer{p}, Texts: p.Texts}.Draw(d, link)
}

// drawer draws each kind of post.
type drawer struct{ painter Painter }

func (d drawer) Reply(text string) []Message { return reply(text, d.painter.Texts) }

func (drawer) Plain(text string) Message {
	shown := own(mrkdwn.Shorten(mrkdwn.Defuse(text), maxPlain))
	return Message{Text: excerpt(text), Blocks: []api.Block{rich(section(shown))}}
}

func (drawer) Steps(tools string) Message {
	line := "🔧 " + mrkdwn.Shorten(mrkdwn.Defuse(tools), outbound.MaxSteps)
	return Message{Text: excerpt("Tools used: " + mrkdwn.Defuse(tools)), Blocks: []api.Block{smallLine(line)}}
}

func (d drawer) Late(m Message) Message {
	late := d.painter.CardLate
	m.Blocks = slices.Insert(m.Blocks, 0, smallLine(late))
	m.Text = excerpt(late) + "\n" + m.Text
	return m
}

func (d drawer) Button(post core.Delivery, m Message, label string, b outbound.Button) (Message, error) {
	b.More = []string{post.To.Channel, post.To.Thread}
	made, err := d.painter.button(string(b.Action), label, b)
	if err == nil {
		m.add(api.NewActionBlock("", made))
	}
	return m, err
}

func (d drawer) Card(post core.Delivery, link string) (Message, error) {
	return d.painter.card(post, link)
}

// button makes a button whose value is sealed.
func (p Painter) button(id, label string, b outbound.Button) (*api.ButtonBlockElement, error) {
	value, err := b.Value(p.Seal, maxValue)
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
