package slack

import (
	"strconv"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
	"gatehouse/core/question"
)

// channel reads a card.
var channel = doc.Reader{Platform: Name, Approvers: maxApprovers, Lines: maxLines, Input: maxInput}

// card draws an approval in its current state, always as one message, whatever its fields contain. It has a header and a coloured edge, which
// no reply has.
func (p painter) card(d core.Delivery, link string) (message, error) {
	v := doc.View(d, channel)
	m := message{Attachments: foot(doc.Plain(v.Foot, textOf), v.Color)}
	if v.Late != "" {
		m.Blocks = append(m.Blocks, smallLine(v.Late))
	}
	m.Blocks = append(m.Blocks, headline(v), rich(pieces(v.Lead)...))
	m.Blocks = append(m.Blocks, fieldBlocks(v)...)
	code, instead := v.Shown()
	shown, left := chat.Head(defuse(code), maxArguments)
	if instead != "" {
		m.Blocks = append(m.Blocks, smallLine(instead))
	} else if shown != "" {
		m.Blocks = append(m.Blocks, argumentBlock(shown, left))
	}
	if v.Elsewhere {
		m.Blocks = append(m.Blocks, lastLines(v.Context))
	} else {
		link = ""
	}
	buttons, id, err := p.buttons(v, left)
	if strings.HasPrefix(link, "https://") && chat.Units(link) <= maxURL {
		buttons = append(buttons, api.NewButtonBlockElement("open", "", plainText("Open the conversation")).WithURL(link))
	}
	if len(buttons) > 0 {
		m.Blocks = append(m.Blocks, api.NewActionBlock(id, buttons...))
	}
	m.Text = excerptOf(cardText(v), min(maxExcerpt, maxMessageText-lengthOf(m.Blocks)))
	return m, err
}

// headline draws the first line of a card. A header can't mention anybody, so one that names people is rich text.
func headline(v doc.Document) api.Block {
	if v.For == nil {
		return api.NewHeaderBlock(plainText(v.Headline))
	}
	return rich(append([]piece{bold(v.Headline)}, pieces(v.For)...)...)
}

// fieldBlocks draws the fields of a card: short ones in two columns, others on lines of their own, and then the notes.
func fieldBlocks(v doc.Document) (blocks []api.Block) {
	var columns []*api.TextBlockObject
	var lines []piece
	line := func(pieces ...piece) {
		if len(lines) > 0 {
			lines = append(lines, literal("\n"))
		}
		lines = append(lines, pieces...)
	}
	for _, f := range v.Fields {
		value := pieces(f.Value)
		text, ok := mrkdwn(value)
		if f.Wide || !ok || chat.Units(text) > maxField {
			line(append([]piece{bold(f.Label + ": ")}, value...)...)
			continue
		}
		columns = append(columns, api.NewTextBlockObject(api.MarkdownType, "*"+f.Label+"*\n"+text, false, true))
	}
	for _, note := range v.Notes {
		line(pieces(note.Spans)...)
	}
	if len(columns) > 0 {
		blocks = append(blocks, api.NewSectionBlock(nil, columns, nil))
	}
	if len(lines) > 0 {
		blocks = append(blocks, rich(lines...))
	}
	return blocks
}

// argumentBlock draws a call's arguments, of which left characters are not among those shown.
func argumentBlock(shown string, left int) api.Block {
	elements := []api.RichTextElement{api.NewRichTextSection(bold("Arguments")), preformatted(shown)}
	if left > 0 {
		elements = append(elements, api.NewRichTextSection(literal(chat.Thousands(left)+" more characters: press Show all arguments")))
	}
	return api.NewRichTextBlock("", elements...)
}

// lastLines draws what a copy adds for an approver who may not see the conversation: its last lines.
func lastLines(context []doc.Line) api.Block {
	elements := []api.RichTextElement{api.NewRichTextSection(literal(doc.Copied))}
	var quote []piece
	for _, l := range context {
		if quote != nil {
			quote = append(quote, literal("\n"))
		}
		quote = append(quote, bold(l.Speaker+": "), literal(doc.OrEmpty(said(l.Text, maxLine))))
	}
	if quote != nil {
		elements = append(elements, api.NewRichTextSection(literal("Last messages:")), &api.RichTextQuote{Type: api.RTEQuote, Elements: quote})
	}
	return api.NewRichTextBlock("", elements...)
}

// cardText is a card as text, for notifications and for screen readers. It mentions nobody; the blocks do.
func cardText(v doc.Document) string {
	all := []string{v.Headline + doc.Plain(v.For, textOf), doc.Plain(v.Lead, textOf)}
	for _, f := range v.Fields {
		all = append(all, f.Label+": "+doc.Plain(f.Value, textOf))
	}
	for _, n := range v.Notes {
		all = append(all, doc.Plain(n.Spans, textOf))
	}
	if v.Options != nil {
		var options []string
		for _, title := range v.Options {
			options = append(options, short(title, maxOption))
		}
		all = append(all, "Options: "+strings.Join(options, ", "))
	}
	switch code, instead := v.Shown(); {
	case instead != "":
		all = append(all, instead)
	case code != "":
		all = append(all, "Arguments:", code)
	}
	return strings.Join(all, "\n")
}

// buttons draws what a reader may press of a card that leaves out so many characters of the arguments. Of many answers it draws a menu: since
// Slack has no value of a menu beside those of its options, the id of its block is the sealed one. id is "" for any.
func (p painter) buttons(v doc.Document, left int) (all []api.BlockElement, id string, err error) {
	choices := v.Answers()
	if len(choices) > question.MaxButtons {
		id, err = doc.Choice{Action: chat.ActionAnswer}.Button(v).Value(p.seal, maxBlockID)
		all = append(all, api.NewOptionsSelectBlockElement(
			api.OptTypeStatic, plainText("Choose an answer"), string(chat.ActionAnswer), options(v.Options)...,
		))
		choices = nil
	}
	whole := v.Lead[0]
	whole.Limit = doc.NoLimit
	over := max(0, chat.Units(textOf(whole))-maxSummary)
	for _, c := range append(choices, v.Cut(left, over)...) {
		name := string(c.Action)
		if c.Action == chat.ActionAnswer {
			name += "_" + strconv.Itoa(c.Option)
		}
		made, fault := p.button(name, short(c.Label, maxOption), c.Button(v))
		if fault != nil {
			return nil, "", fault
		}
		made.Style, made.AccessibilityLabel = styles[c.Look], short(c.Label+": "+whole.Text, maxButtonLabel)
		if c.Cautions != "" {
			text := c.Cautions + " " + inline(whole.Text, maxConfirm-1-chat.Units(c.Cautions))
			made.Confirm = api.NewConfirmationBlockObject(plainText("Approve this?"), plainText(text), plainText("Approve"), plainText("Go back")).
				WithStyle(api.StyleDanger)
		}
		all = append(all, made)
	}
	return all, id, err
}

var styles = map[doc.Look]api.Style{doc.Good: api.StylePrimary, doc.Danger: api.StyleDanger}

// options draws the options of a menu. The value of each is its place, from 1.
func options(titles []string) (all []*api.OptionBlockObject) {
	for i, title := range titles {
		all = append(all, api.NewOptionBlockObject(strconv.Itoa(i+1), plainText(short(title, maxOption)), nil))
	}
	return all
}
