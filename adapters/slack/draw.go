package slack

import (
	"slices"
	"strconv"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// drawn is one Slack message: its blocks, and the text that notifications show.
type drawn struct {
	Text   string
	Blocks []api.Block
	source string // of a reply: the Markdown in its block
}

// plain is a reply as a plain text: for where Slack does not take it as Markdown. One block of Markdown becomes many, by rules that only
// Slack knows, and may break a limit by that.
func (m drawn) plain() drawn {
	text := strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(m.source)
	blocks := slices.Clone(m.Blocks)
	blocks[len(blocks)-1] = rich(literal(cutTo(defuse(text), maxMessageText)))
	return drawn{Text: m.Text, Blocks: blocks}
}

// painter draws deliveries. seal signs what a button carries.
type painter struct {
	seal func(fields ...string) string
}

// draw gives the messages that a delivery consists of, at least one; the same delivery gives the same. link leads to the
// conversation that the copy of a card is about; "" where there is none.
//
// Nothing that a model or a person wrote stands where Slack reads its own tokens in it: replies go through neutral, all else is
// rich or plain text, in which nothing is read.
func (p painter) draw(d core.Delivery, link string) ([]drawn, error) {
	switch d.Kind {
	case core.PostReply:
		return drawReply(d), nil
	case core.PostError:
		return p.drawError(d)
	case core.PostNotice, core.PostPrivate:
		return []drawn{note(d, d.Text)}, nil
	case core.PostSteps:
		return []drawn{drawSteps(d)}, nil
	case core.PostCard:
		if d.Card == nil {
			return nil, core.Errorf(core.Internal, "The approval's card came without its data.")
		}
		return p.drawCard(d, link)
	}
	return nil, core.Errorf(core.Internal, "A post of the kind %q can't be drawn.", d.Kind)
}

// lateNote marks what is older than it should be.
const lateNote = "⏳ This comes late: it could not be sent earlier."

// noText stands for a text of white space: Slack takes no message without text.
const noText = "(no text)"

// drawReply draws a model's text. How it is cut does not depend on whether it is late: that may change between the parts.
func drawReply(d core.Delivery) []drawn {
	parts := markdown(d.Text)
	if len(parts) == 0 {
		return []drawn{note(d, noText)}
	}
	all := make([]drawn, 0, len(parts))
	for i, part := range parts {
		m := drawn{Text: excerpt(unmarked.Replace(part)), source: part}
		if d.Late && i == 0 {
			m.Blocks = append(m.Blocks, aside(lateNote))
		}
		m.Blocks = append(m.Blocks, api.NewMarkdownBlock("", part))
		all = append(all, m)
	}
	return all
}

// unmarked makes a plain text of neutral Markdown, near enough for a notification.
var unmarked = strings.NewReplacer("&lt;", "<", "&gt;", ">", "**", "", "`", "", "\n#", "\n")

// note draws a plain text: a sentence of gatehouse, which may repeat words of others.
func note(d core.Delivery, text string) drawn {
	if strings.TrimSpace(clean(text)) == "" {
		text = noText
	}
	m := drawn{Text: excerpt(text)}
	if d.Late {
		m.Blocks = append(m.Blocks, aside(lateNote))
	}
	m.Blocks = append(m.Blocks, rich(literal(cutTo(defuse(strings.TrimSpace(clean(text))), maxPlain))))
	return m
}

// drawError draws the reply of a bucket, with the button that may mend it. What a person must change themselves has none.
func (p painter) drawError(d core.Delivery) ([]drawn, error) {
	m := note(d, d.Text)
	action, label := "", ""
	switch d.Bucket {
	case core.SessionTerminating:
		action, label = actionNew, "Start a new conversation"
	case core.RetryableTransient:
		action, label = actionAgain, "Try again"
	}
	if action == "" || d.Pressed {
		return []drawn{m}, nil
	}
	b, err := p.button(action, label, action, strconv.FormatInt(d.Event, 10), string(d.Conversation), d.To.Channel, d.To.Thread)
	if err != nil {
		return nil, err
	}
	m.Blocks = append(m.Blocks, api.NewActionBlock("", b))
	return []drawn{m}, nil
}

// drawSteps draws the tools that a turn has used, small, on one line.
func drawSteps(d core.Delivery) drawn {
	line := "🔧 " + cutTo(defuse(strings.Join(strings.Fields(clean(d.Text)), " ")), maxSteps)
	return drawn{Text: excerpt(line), Blocks: []api.Block{aside(line)}}
}

// button makes a button whose value is sealed.
func (p painter) button(action, label string, fields ...string) (*api.ButtonBlockElement, error) {
	value := p.seal(fields...)
	if units(value) > maxValue {
		return nil, core.Errorf(core.Internal, "A button's value has %d characters; Slack takes %d.", units(value), maxValue)
	}
	return api.NewButtonBlockElement(action, value, plainText(label)), nil
}

// plainText is a text object in which Slack reads nothing, not even :emoji:.
func plainText(s string) *api.TextBlockObject {
	return api.NewTextBlockObject(api.PlainTextType, s, false, false)
}

// aside is a small line.
func aside(text string) api.Block { return api.NewContextBlock("", plainText(text)) }
