package slack

import (
	"cmp"
	"strings"
	"time"
	"unicode/utf8"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// cardText draws a card's text.
var cardText = chat.CardText[piece]{
	Platform: Name, Limits: chat.CardLimits{Summary: maxSummary, Approvers: maxApprovers, Message: maxMessage, Changed: maxChanged, Reason: maxReason},
	Inline: inline, Said: said, Text: literal, Bold: bold, Tool: toolName, Person: person, Approver: approver, Time: moment,
}

// card draws an approval in its current state, always as one message, whatever its fields contain. It has a header and a coloured edge, which
// no reply has. A decided approval has no buttons, but that of an expired one to ask again.
func (p painter) card(d core.Delivery, link string) (message, error) {
	c := *d.Card
	face := inLines(cardText.Face(d), c, literal, bold)
	arguments := ""
	if c.Question == nil {
		arguments = chat.Arguments(c)
	}
	m := message{Attachments: foot("Approval "+chat.ShortID(c.Approval), face.Color)}
	if d.Late && c.State == core.Open {
		m.Blocks = append(m.Blocks, smallLine(chat.LateNote))
	}
	shown, left := chat.Head(defuse(arguments), maxArguments)
	m.Blocks = append(m.Blocks, api.NewHeaderBlock(plainText(face.Title)), rich(face.Lead))
	m.Blocks = append(m.Blocks, fieldBlocks(face)...)
	if c.Question == nil {
		m.Blocks = append(m.Blocks, argumentBlock(c, shown, left))
	}
	if d.Copy {
		m.Blocks = append(m.Blocks, lastLines(c))
	}
	if !d.Copy {
		link = ""
	}
	var answers []api.BlockElement
	id, err := "", error(nil)
	if c.Question != nil && c.State == core.Open {
		if answers, id, err = p.answerElements(c); err != nil {
			return m, err
		}
	}
	buttons, err := p.cardButtons(c, d.Pressed, left, link)
	if buttons = append(answers, buttons...); len(buttons) > 0 {
		m.Blocks = append(m.Blocks, api.NewActionBlock(id, buttons...))
	}
	m.Text = fallback(d, arguments, min(maxExcerpt, maxMessageText-lengthOf(m.Blocks)))
	return m, err
}

// fieldBlocks draws the fields of a card: short ones in two columns, others on lines of their own, and then the notes.
func fieldBlocks(face chat.Face[piece]) (blocks []api.Block) {
	var columns []*api.TextBlockObject
	var lines []piece
	line := func(pieces ...piece) {
		if len(lines) > 0 {
			lines = append(lines, literal("\n"))
		}
		lines = append(lines, pieces...)
	}
	for _, f := range face.Fields {
		text, ok := mrkdwn(f.Value)
		if f.Wide || !ok || chat.Units(text) > maxField {
			line(append([]piece{bold(f.Label + ": ")}, f.Value...)...)
			continue
		}
		columns = append(columns, api.NewTextBlockObject(api.MarkdownType, "*"+f.Label+"*\n"+text, false, true))
	}
	for _, note := range face.Notes {
		line(note...)
	}
	if len(columns) > 0 {
		blocks = append(blocks, api.NewSectionBlock(nil, columns, nil))
	}
	if len(lines) > 0 {
		blocks = append(blocks, rich(lines...))
	}
	return blocks
}

// argumentBlock draws a call's arguments, of which left characters are not among those shown. Those of a decided call are folded: it shows
// them only if they are short.
func argumentBlock(c core.Card, shown string, left int) api.Block {
	if shown == "" {
		return rich(literal("No arguments"))
	}
	if c.State != core.Open && chat.Units(shown) > maxFolded {
		return smallLine(foldedNote(c, chat.Arguments(c)))
	}
	elements := []api.RichTextElement{api.NewRichTextSection(bold("Arguments")), preformatted(shown)}
	if left > 0 {
		elements = append(elements, api.NewRichTextSection(literal(chat.Thousands(left)+" more characters: press Show all arguments")))
	}
	return api.NewRichTextBlock("", elements...)
}

// foldedNote says how to see arguments that are not shown.
func foldedNote(c core.Card, arguments string) string {
	return "The arguments (" + chat.Thousands(utf8.RuneCountInString(arguments)) + " characters) are not shown here. To see them: " + chat.ShowCommand(c.Approval)
}

// fallback returns the whole card as text, as far as it fits the limit: for notifications, and for screen readers. It mentions nobody; the blocks do.
func fallback(d core.Delivery, arguments string, limit int) string {
	c := *d.Card
	same := func(s string) string { return s }
	face := inLines(plainCard.Face(d), c, same, same)
	_, lines := chat.Facts(face)
	lines = append([]string{face.Title, face.Lead}, lines...)
	switch {
	case c.Question != nil:
		if options := optionsText(c); options != "" {
			lines = append(lines, options)
		}
	case arguments == "":
	case c.State != core.Open && chat.Units(arguments) > maxFolded:
		lines = append(lines, foldedNote(c, arguments))
	default:
		lines = append(lines, "Arguments:", arguments)
	}
	return excerptOf(strings.Join(lines, "\n"), limit)
}

// plainCard draws a card's text for fallback.
var plainCard = chat.CardText[string]{
	Platform: Name, Limits: cardText.Limits, Inline: inline, Said: said,
	Text: func(s string) string { return s }, Bold: func(s string) string { return s },
	Tool:     func(name string) string { return chat.OrNone(inline(name, maxTool)) },
	Person:   func(who core.Actor, name string) string { return nameText(who, name) },
	Approver: func(id string) string { return plainOf(approver(id)) },
	Time:     func(t time.Time) string { return plainOf(moment(t)) },
}

// lastLines draws what a copy adds for an approver who may not see the conversation: its last lines.
func lastLines(c core.Card) api.Block {
	elements := []api.RichTextElement{api.NewRichTextSection(literal("This was asked in another conversation."))}
	if lines, speakers := chat.LastLines(c, maxLines); len(lines) > 0 {
		var quote []piece
		for i, l := range lines {
			if i > 0 {
				quote = append(quote, literal("\n"))
			}
			quote = append(quote, bold(speakers[i]+": "), literal(cmp.Or(said(l.Text, maxLine), "(empty)")))
		}
		elements = append(elements, api.NewRichTextSection(literal("Last messages:")), &api.RichTextQuote{Type: api.RTEQuote, Elements: quote})
	}
	return api.NewRichTextBlock("", elements...)
}

// cardButtons draws the buttons of a card, but those that answer a question. The card leaves out so many characters of the arguments. Approving what is dangerous, or not all on
// the card, opens a confirmation dialog. What is dangerous has a red button, and Deny never has. again: it was already asked again.
func (p painter) cardButtons(c core.Card, again bool, folded int, link string) ([]api.BlockElement, error) {
	type choice struct {
		label  string
		action chat.Action
		style  api.Style
	}
	var choices []choice
	switch {
	case c.State == core.Expired && !again:
		choices = append(choices, choice{"Ask again", chat.ActionAskAgain, api.StyleDefault})
	case c.State == core.Open && c.Question != nil:
		choices = append(choices, choice{"Withdraw", chat.ActionWithdraw, api.StyleDefault})
	case c.State == core.Open:
		if approve := (choice{"Approve", chat.ActionApprove, api.StylePrimary}); !c.Altered {
			if c.Risk == core.Dangerous {
				approve.style = api.StyleDanger
			}
			choices = append(choices, approve)
		}
		choices = append(choices, choice{"Deny", chat.ActionReason, api.StyleDefault})
		if _, ok := chat.EditText(c, maxInput); ok && folded == 0 {
			choices = append(choices, choice{"Edit", chat.ActionEdit, api.StyleDefault})
		}
		if folded > 0 {
			choices = append(choices, choice{"Show all arguments", chat.ActionArguments, api.StyleDefault})
		}
		choices = append(choices, choice{"Withdraw", chat.ActionWithdraw, api.StyleDefault})
	}
	var all []api.BlockElement
	for _, one := range choices {
		made, err := p.button(string(one.action), one.label, chat.CardButton(c, one.action))
		if err != nil {
			return nil, err
		}
		made.Style, made.AccessibilityLabel = one.style, cardText.Label(one.label, c, maxButtonLabel)
		if cautions := cardText.Cautions(c, folded); one.action == chat.ActionApprove && cautions != "" {
			made.Confirm = api.NewConfirmationBlockObject(plainText("Approve this?"),
				plainText(cautions+" "+chat.OrNone(inline(c.Summary, maxConfirm-1-chat.Units(cautions)))),
				plainText("Approve"), plainText("Go back")).WithStyle(api.StyleDanger)
		}
		all = append(all, made)
	}
	if strings.HasPrefix(link, "https://") && chat.Units(link) <= maxURL {
		all = append(all, api.NewButtonBlockElement("open", "", plainText("Open the conversation")).WithURL(link))
	}
	return all, nil
}
