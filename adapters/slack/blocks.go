package slack

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
	"gatehouse/core/mask"
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
	// Attachments are the foot of a card: a line beside a coloured edge.
	Attachments []api.Attachment `json:",omitempty"`
	markdown    string           // the Markdown in the block of a reply, else ""
}

// options returns the arguments of a call that posts or updates a message.
func (m message) options(more ...api.MsgOption) []api.MsgOption {
	more = append(more, api.MsgOptionText(m.Text, false), api.MsgOptionBlocks(m.Blocks...))
	if m.Attachments == nil {
		return more
	}
	return append(more, api.MsgOptionAttachments(m.Attachments...))
}

// foot returns the line below a card, beside an edge in the colour of its state.
func foot(text string, color chat.Color) []api.Attachment {
	return []api.Attachment{{Color: fmt.Sprintf("#%06X", int(color)), Fallback: text, Blocks: api.Blocks{BlockSet: []api.Block{smallLine(text)}}}}
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

// lengthOf is how long the texts of blocks are together, in UTF-16 units.
func lengthOf(blocks []api.Block) int {
	written, err := json.Marshal(blocks)
	var all any
	if err != nil || json.Unmarshal(written, &all) != nil {
		return maxMessageText // Slack could not be sent them
	}
	return textLength(all)
}

func textLength(v any) (n int) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			n += textLength(one)
		}
	case map[string]any:
		for key, one := range v {
			if text, ok := one.(string); ok && key == "text" {
				n += chat.Units(text)
			} else {
				n += textLength(one)
			}
		}
	}
	return n
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
		Reply: reply,
		Plain: func(text string) message {
			return message{Text: excerpt(text), Blocks: []api.Block{rich(literal(shorten(defuse(text), maxPlain)))}}
		},
		Steps: func(tools string) message {
			line := "🔧 " + shorten(defuse(tools), chat.MaxSteps)
			return message{Text: excerpt("Tools used: " + defuse(tools)), Blocks: []api.Block{smallLine(line)}}
		},
		Late: func(m message) message {
			m.Blocks = append([]api.Block{smallLine(chat.LateNote)}, m.Blocks...)
			m.Text = excerpt(chat.LateNote) + "\n" + m.Text
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

// piece is a piece of rich text. Slack parses no tokens in it.
type piece = api.RichTextSectionElement

func rich(pieces ...piece) api.Block {
	return api.NewRichTextBlock("", api.NewRichTextSection(pieces...))
}

func literal(s string) piece { return api.NewRichTextSectionTextElement(s, nil) }

func bold(s string) piece {
	return api.NewRichTextSectionTextElement(s, &api.RichTextSectionTextStyle{Bold: true})
}

func toolName(name string) piece {
	return api.NewRichTextSectionTextElement(chat.OrNone(inline(name, maxTool)), &api.RichTextSectionTextStyle{Code: true})
}

// preformatted returns text in a box, unchanged.
func preformatted(s string) *api.RichTextPreformatted {
	return &api.RichTextPreformatted{Type: api.RTEPreformatted, Elements: []piece{literal(s)}}
}

// moment returns a time that Slack shows in the reader's own time zone.
func moment(t time.Time) piece {
	fallback := t.UTC().Format("2006-01-02 15:04 UTC")
	return api.NewRichTextSectionDateElement(t.Unix(), "{date_short_pretty} at {time}", nil, &fallback)
}

var mentionable = regexp.MustCompile(`^[UW][A-Z0-9]{1,20}$`)

// person returns a person's name. A mention would notify them, so that only somebody whose name has letters that look like others is mentioned.
func person(a core.Actor, name string) piece {
	if user, ok := webapi.UserID(a.ID); ok && mentionable.MatchString(user) && (mask.LookAlike(name) || mask.LookAlike(a.Name)) {
		return api.NewRichTextSectionUserElement(user, nil)
	}
	return literal(nameText(a, name))
}

// nameText returns a person's name as text.
func nameText(a core.Actor, name string) string {
	return chat.PersonName(a, name, func(n string) string { return inline(n, maxPerson) })
}

// approver returns a mention of a person or group that may decide: the card tells them.
func approver(id string) piece {
	user, isUser := webapi.UserID(id)
	group, isGroup := webapi.GroupID(id)
	switch {
	case isUser && mentionable.MatchString(user):
		return api.NewRichTextSectionUserElement(user, nil)
	case isGroup && groupID.MatchString(group):
		return api.NewRichTextSectionUserGroupElement(group)
	case id == core.LocalPerson:
		return literal(chat.LocalApprover)
	}
	return literal(cmp.Or(chat.Elsewhere(id), chat.OrNone(inline(id, maxPerson))))
}

var groupID = regexp.MustCompile(`^S[A-Z0-9]{1,20}$`)

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
			if strings.ContainsAny(p.Text, "*~`\n") || strings.Contains(p.Text, "_") && (p.Style == nil || !p.Style.Code) {
				return "", false
			}
			if p.Style != nil && p.Style.Code {
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

// plainOf returns a piece as text that mentions nobody.
func plainOf(p piece) string {
	switch p := p.(type) {
	case *api.RichTextSectionUserElement:
		return "an approver"
	case *api.RichTextSectionUserGroupElement:
		return "a group of approvers"
	case *api.RichTextSectionDateElement:
		return *p.Fallback
	case *api.RichTextSectionTextElement:
		return p.Text
	}
	return ""
}

// inThread returns the argument for a thread; none for "", because Slack refuses an empty thread.
func inThread(thread string) []api.MsgOption {
	if thread == "" {
		return nil
	}
	return []api.MsgOption{api.MsgOptionTS(thread)}
}
