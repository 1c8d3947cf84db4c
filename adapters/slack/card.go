package slack

import (
	"fmt"
	"slices"
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

// card draws an approval in its current state, always as one message, whatever its fields contain. It has a header and
// a coloured edge, which no reply has. Its text says the same, for notifications and for screen readers, but mentions
// nobody.
func (p painter) card(d core.Delivery, link string) (message, error) {
	if d.First != "" && link != "" {
		line := doc.Reminder(d, channel, link)
		return message{
			Text: doc.Plain(line, textOf), Blocks: []api.Block{rich(section(line...))},
			Attachments: []api.Attachment{}, // Slack keeps those that an edit does not mention
		}, nil
	}
	v := doc.View(d, channel)
	headline, said := append([]doc.Span{bold(v.Headline)}, v.For...), sayings(v)
	foot, edge := doc.Plain(v.Foot, textOf), fmt.Sprintf("#%06X", int(v.Color))
	m := message{Attachments: []api.Attachment{{
		Color: edge, Fallback: foot, Blocks: api.Blocks{BlockSet: []api.Block{smallLine(foot)}},
	}}}
	if v.Late != "" {
		m.add(smallLine(v.Late))
	}
	if v.For == nil {
		m.add(api.NewHeaderBlock(plainText(v.Headline)))
	} else { // a header can't mention anybody
		m.add(rich(section(headline...)))
	}
	m.add(rich(section(said...)))
	text := doc.Plain(headline, textOf) + "\n" + doc.Plain(said, textOf)
	if v.Options != nil {
		text += "\nOptions: " + inline(strings.Join(v.Options, ", "), maxQuestion)
	}
	code, instead := v.Shown()
	shown, left := chat.Head(defuse(code), maxArguments)
	if code != "" {
		m.add(arguments(shown, left))
		text += "\nArguments:\n" + code
	}
	if instead != "" {
		m.add(smallLine(instead))
		text += "\n" + instead
	}
	if v.Elsewhere {
		m.add(elsewhere(v.Context))
	} else {
		link = ""
	}
	buttons, id, err := p.buttons(v, left)
	if strings.HasPrefix(link, "https://") && chat.Units(link) <= maxURL {
		buttons = append(buttons, api.NewButtonBlockElement("open", "", plainText("Open the conversation")).WithURL(link))
	}
	if len(buttons) > 0 {
		m.add(api.NewActionBlock(id, buttons...))
	}
	m.Text = excerptOf(text, min(maxExcerpt, maxMessageText-lengthOf(m.Blocks)))
	return m, err
}

// sayings are what a card is about, its fields and its notes, each on a line of its own.
func sayings(v doc.Document) []doc.Span {
	all := slices.Clip(v.Lead)
	for _, f := range v.Fields {
		all = append(append(all, own("\n"), bold(f.Label+": ")), f.Value...)
	}
	for _, note := range v.Notes {
		all = append(append(all, own("\n")), note.Spans...)
	}
	return all
}

// arguments draws a call's arguments, of which left characters are not among those shown.
func arguments(shown string, left int) element {
	box := rich(section(bold("Arguments")), preformatted(shown))
	if left > 0 {
		box.Elements = append(box.Elements, section(own(chat.Thousands(left)+" more characters: press Show all arguments")))
	}
	return box
}

// elsewhere draws what a copy adds for an approver who may not see the conversation: its last lines.
func elsewhere(context []doc.Line) element {
	box := rich(section(own(doc.Copied)))
	var quote []doc.Span
	for i, l := range context {
		if i > 0 {
			quote = append(quote, own("\n"))
		}
		quote = append(quote, bold(l.Speaker+": "), own(doc.OrEmpty(said(l.Text, maxLine))))
	}
	if quote != nil {
		box.Elements = append(box.Elements, section(own("Last messages:")), element{Type: quoteType, Elements: pieces(quote)})
	}
	return box
}

// buttons draws what a reader may press of a card that leaves out so many characters of the arguments. Of many answers
// it draws a menu: since Slack has no value of a menu beside those of its options, the id of its block is the sealed
// one. id is "" for any.
func (p painter) buttons(v doc.Document, left int) (all []api.BlockElement, id string, err error) {
	choices := v.Answers()
	if len(choices) > question.MaxButtons {
		id, err = doc.Choice{Action: chat.ActionAnswer}.Button(v).Value(p.seal, maxBlockID)
		all = append(all, menu(string(chat.ActionAnswer), "Choose an answer", v.Options))
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
			text := plainText(c.Cautions + " " + inline(whole.Text, maxConfirm-1-chat.Units(c.Cautions)))
			made.Confirm = api.NewConfirmationBlockObject(
				plainText("Approve this?"), text, plainText("Approve"), plainText("Go back"),
			).WithStyle(api.StyleDanger)
		}
		all = append(all, made)
	}
	return all, id, err
}

var styles = map[doc.Look]api.Style{doc.Good: api.StylePrimary, doc.Danger: api.StyleDanger}
