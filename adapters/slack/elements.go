package slack

import (
	"regexp"
	"time"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
)

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

// person returns a mention of a person whom Slack knows, else the person's name.
func person(a core.Actor, name string) piece {
	if user, ok := webapi.UserID(a.ID); ok && mentionable.MatchString(user) {
		return api.NewRichTextSectionUserElement(user, nil)
	}
	return literal(chat.PersonName(a, name, func(n string) string { return inline(n, maxPerson) }))
}

// approver returns the name of a person or group that may decide. A group is not mentioned, because that would notify all its members.
func approver(id string) piece {
	user, isUser := webapi.UserID(id)
	group, isGroup := webapi.GroupID(id)
	switch {
	case isUser && mentionable.MatchString(user):
		return api.NewRichTextSectionUserElement(user, nil)
	case id == core.LocalPerson:
		return literal(chat.LocalApprover)
	case isGroup:
		return literal("group " + inline(group, maxPerson))
	}
	return literal(chat.OrNone(inline(id, maxPerson)))
}

// inThread returns the argument for a thread; none for "", because Slack refuses an empty thread.
func inThread(thread string) []api.MsgOption {
	if thread == "" {
		return nil
	}
	return []api.MsgOption{api.MsgOptionTS(thread)}
}
