package draw

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/slack/internal/mrkdwn"
	"gatehouse/adapters/slack/internal/webapi"
	"gatehouse/core"
	"gatehouse/core/question"
)

// reader is a channel, which reads a card.
func (p Painter) reader() doc.Reader {
	return doc.Reader{
		Platform: webapi.Platform, Approvers: maxApprovers, Lines: maxLines, Input: MaxInput, Texts: p.Texts,
	}
}

// card draws an approval in its current state, always as one message, whatever its fields contain. It has a header and
// a coloured edge, which no reply has. Its text says the same, for notifications and for screen readers, but mentions
// nobody.
func (p Painter) card(d core.Delivery, link string) (Message, error) {
	if d.Reminds != "" && link != "" {
		line := doc.Reminder(d, p.reader(), link)
		return Message{
			Text: p.text(line), Blocks: []api.Block{rich(section(line...))},
			Attachments: []api.Attachment{}, // Slack keeps those that an edit does not mention
		}, nil
	}
	reader := p.reader()
	if d.Like != "" && !d.Copy {
		reader.First = link
	}
	v := doc.View(d, reader)
	headline, said := append([]doc.Span{bold(v.Headline)}, v.For...), sayings(v)
	foot, edge := p.text(v.Foot), fmt.Sprintf("#%06X", int(v.Color))
	m := Message{Attachments: []api.Attachment{{
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
	text := p.text(headline) + "\n" + p.text(said)
	if v.Options != nil {
		text += "\n" + v.LabelOptions + ": " + inline(strings.Join(v.Options, ", "), maxQuestion)
	}
	code, instead := v.Shown()
	shown, left := safetext.Head(mrkdwn.Defuse(code), maxArguments)
	if code != "" {
		m.add(arguments(v, shown, left))
		text += "\n" + v.LabelArguments + ":\n" + code
	}
	if instead != "" {
		m.add(smallLine(instead))
		text += "\n" + instead
	}
	if v.Elsewhere {
		m.add(elsewhere(v))
	} else {
		link = ""
	}
	buttons, id, err := p.buttons(v, left)
	if strings.HasPrefix(link, "https://") && safetext.Units(link) <= maxURL {
		buttons = append(buttons, api.NewButtonBlockElement("open", "", plainText(v.ButtonConversation)).WithURL(link))
	}
	if len(buttons) > 0 {
		m.add(api.NewActionBlock(id, buttons...))
	}
	m.Text = excerptOf(text, min(maxExcerpt, maxMessageText-lengthOf(m.Blocks)))
	return m, err
}

// text is the text of some spans, which mentions nobody: those whom it would mention have no name in it.
func (p Painter) text(spans []doc.Span) string {
	return doc.Plain(spans, func(s doc.Span) string {
		switch who := mentionOf(s).Type; {
		case s.Kind != doc.Approver:
		case who == "user":
			return p.AnApprover
		case who == "usergroup":
			return p.ApproverGroup
		}
		return textOf(s)
	})
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
func arguments(v doc.Document, shown string, left int) element {
	box := rich(section(bold(v.LabelArguments)), preformatted(shown))
	if left > 0 {
		box.Elements = append(box.Elements, section(own(safetext.Counted(v.ArgumentsCut, left))))
	}
	return box
}

// elsewhere draws what a copy adds for an approver who may not see the conversation: its last lines.
func elsewhere(v doc.Document) element {
	box := rich(section(own(v.CardElsewhere)))
	var quote []doc.Span
	for i, l := range v.Context {
		if i > 0 {
			quote = append(quote, own("\n"))
		}
		quote = append(quote, bold(l.Speaker+": "), own(said(l.Text, maxLine)))
	}
	if quote != nil {
		box.Elements = append(box.Elements, section(own(v.LastMessages)),
			element{Type: quoteType, Elements: pieces(quote)})
	}
	return box
}

// buttons draws what a reader may press of a card that leaves out so many characters of the arguments. Of many answers
// it draws a menu: since Slack has no value of a menu beside those of its options, the id of its block is the sealed
// one. id is "" for any.
func (p Painter) buttons(v doc.Document, left int) (all []api.BlockElement, id string, err error) {
	choices := v.Answers()
	if len(choices) > question.MaxButtons {
		id, err = doc.Choice{Action: outbound.ActionAnswer}.Button(v).Value(p.Seal, maxBlockID)
		all = append(all, menu(string(outbound.ActionAnswer), v.ChooseAnswer, v.Options))
		choices = nil
	}
	whole := v.Lead[0]
	whole.Limit = doc.NoLimit
	over := max(0, safetext.Units(textOf(whole))-maxSummary)
	for _, c := range append(choices, v.Cut(left, over)...) {
		name := string(c.Action)
		if c.Action == outbound.ActionAnswer {
			name += "_" + strconv.Itoa(c.Option)
		}
		made, fault := p.button(name, short(c.Label, maxOption), c.Button(v))
		if fault != nil {
			return nil, "", fault
		}
		made.Style, made.AccessibilityLabel = styles[c.Look], short(c.Label+": "+whole.Text, maxButtonLabel)
		if c.Cautions != "" {
			text := plainText(c.Cautions + " " + inline(whole.Text, maxConfirm-1-safetext.Units(c.Cautions)))
			made.Confirm = api.NewConfirmationBlockObject(
				plainText(v.FormConfirmTitle), text, plainText(v.ButtonApprove), plainText(v.ButtonGoBack),
			).WithStyle(api.StyleDanger)
		}
		all = append(all, made)
	}
	return all, id, err
}

var styles = map[doc.Look]api.Style{doc.Good: api.StylePrimary, doc.Danger: api.StyleDanger}
