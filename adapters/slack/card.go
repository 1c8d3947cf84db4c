package slack

import (
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	api "github.com/slack-go/slack"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// cardText draws a card's text.
var cardText = chat.CardText[piece]{
	Limits: chat.CardLimits{Summary: maxSummary, Approvers: maxApprovers, Changed: maxChanged, Reason: maxReason},
	Inline: inline, Said: said, Text: literal, Bold: bold, Tool: toolName, Person: person, Approver: approver, Time: moment,
	Deadline: func(t time.Time) []piece { return []piece{moment(t)} },
}

// card draws an approval in its current state, always as one message, whatever its fields contain. A decided approval has no buttons.
func (p painter) card(d core.Delivery, link string) (message, error) {
	c := *d.Card
	m := message{Text: excerpt(chat.Headline(c) + ": " + core.Reveal(c.Summary))}
	if d.Late && c.State == core.Open {
		m.Blocks = append(m.Blocks, smallLine(chat.LateNote))
	}
	arguments, left := chat.Head(defuse(strings.TrimSpace(core.Reveal(c.Arguments))), maxArguments)
	m.Blocks = append(m.Blocks, face(c, arguments, left))
	if d.Copy {
		m.Blocks = append(m.Blocks, lastLines(c, link))
	}
	if c.State != core.Open {
		return m, nil
	}
	buttons, err := p.cardButtons(c, left)
	m.Blocks = append(m.Blocks, api.NewActionBlock("", buttons...))
	return m, err
}

// face draws the card without its buttons.
func face(c core.Card, arguments string, left int) api.Block {
	text := cardText.Face(c)
	if arguments == "" {
		return rich(append(text, literal("\nArguments: none"))...)
	}
	elements := []api.RichTextElement{api.NewRichTextSection(append(text, literal("\nArguments:"))...), preformatted(arguments)}
	if left > 0 {
		how := "press Show all"
		if c.State != core.Open {
			how = chat.ShowCommand(c.Approval)
		}
		elements = append(elements, api.NewRichTextSection(literal(chat.Thousands(left)+" more characters: "+how)))
	}
	return api.NewRichTextBlock("", elements...)
}

// lastLines draws what a copy adds for an approver who may not see the conversation: its last lines, and a link to it.
func lastLines(c core.Card, link string) api.Block {
	elements := []api.RichTextElement{}
	if lines, speakers := chat.LastLines(c, maxLines); len(lines) > 0 {
		var quote []piece
		for i, l := range lines {
			if i > 0 {
				quote = append(quote, literal("\n"))
			}
			quote = append(quote, bold(speakers[i]+": "), literal(chat.OrNone(said(l.Text, maxLine))))
		}
		elements = append(elements, api.NewRichTextSection(literal("Last messages:")), &api.RichTextQuote{Type: api.RTEQuote, Elements: quote})
	}
	where := []piece{literal("This was asked in another conversation.")}
	if strings.HasPrefix(link, "https://") && chat.Units(link) <= maxURL {
		where = []piece{literal("This was asked in another conversation: "), api.NewRichTextSectionLinkElement(link, "", nil)}
	}
	return api.NewRichTextBlock("", append(elements, api.NewRichTextSection(where...))...)
}

// cardButtons draws the buttons of an open card, which leaves out so many characters of the arguments. Approving what is dangerous, or not
// all on the card, opens a confirmation dialog.
func (p painter) cardButtons(c core.Card, folded int) ([]api.BlockElement, error) {
	cautions := cardText.Cautions(c, folded)
	var all []api.BlockElement
	for _, b := range []struct {
		id, label string
		action    chat.Action
		style     api.Style
	}{
		{"approve", "Approve", chat.ActionApprove, api.StylePrimary},
		{"deny", "Deny", chat.ActionDeny, api.StyleDanger},
		{"deny_reason", "Deny with reason…", chat.ActionReason, api.StyleDefault},
		{"arguments", "Show all", chat.ActionArguments, api.StyleDefault},
	} {
		if b.action == chat.ActionArguments && folded == 0 || b.action == chat.ActionApprove && c.Altered {
			continue
		}
		made, err := p.button(b.id, b.label, chat.CardButton(c.Approval, b.action))
		if err != nil {
			return nil, err
		}
		made.Style = b.style
		if b.action == chat.ActionApprove && cautions != "" {
			made.Confirm = api.NewConfirmationBlockObject(plainText("Approve this?"),
				plainText(cautions+" "+chat.OrNone(inline(c.Summary, maxConfirm-1-chat.Units(cautions)))),
				plainText("Approve"), plainText("Go back")).WithStyle(api.StyleDanger)
		}
		all = append(all, made)
	}
	return all, nil
}

// The ids of the modal that asks for a reason: its callback id, and the block and action id of its one input.
const (
	callbackReason = "deny_reason"
	inputReason    = "reason"
)

// reasonModal returns the modal that asks why a request is denied. value is sent with its submission. The reason is optional, so that it
// does not delay a denial.
func reasonModal(value string, c core.Card) api.ModalViewRequest {
	input := api.NewPlainTextInputBlockElement(plainText("What should be different?"), inputReason).WithMultiline(true).WithMaxLength(maxReason)
	return api.ModalViewRequest{
		Type: api.VTModal, CallbackID: callbackReason, PrivateMetadata: value,
		Title: plainText("Deny with reason"), Submit: plainText("Deny"), Close: plainText("Go back"),
		Blocks: api.Blocks{BlockSet: []api.Block{
			rich(bold(chat.OrNone(inline(c.Summary, maxSummary))), literal("\nTool: "), toolName(c.Tool)),
			api.NewInputBlock(inputReason, plainText("Reason"), plainText("The agent and the person who asked will read it."), input).WithOptional(true),
		}},
	}
}

// argumentsModal returns a modal with all arguments of a call. If they exceed Slack's limits, it shows how much is missing.
func argumentsModal(c core.Card) api.ModalViewRequest {
	blocks := []api.Block{rich(literal("Tool: "), toolName(c.Tool))}
	rest, bytes := strings.TrimSpace(defuse(core.Reveal(c.Arguments))), 0
	for n := 0; rest != "" && n < maxChunks; n++ {
		chunk := chunkOf(rest)
		if bytes += jsonSize(chunk); bytes > maxArgBytes {
			break
		}
		blocks = append(blocks, api.NewRichTextBlock("", preformatted(chunk)))
		rest = rest[len(chunk):]
	}
	if rest != "" {
		blocks = append(blocks, rich(literal(chat.Thousands(utf8.RuneCountInString(rest))+" more characters do not fit here. On a terminal: "+chat.ShowCommand(c.Approval))))
	}
	return api.ModalViewRequest{Type: api.VTModal, Title: plainText("All arguments"), Close: plainText("Close"), Blocks: api.Blocks{BlockSet: blocks}}
}

// chunkOf returns the beginning of a text that fits in one block. It ends at the end of a line if that leaves the block at least half
// full.
func chunkOf(s string) string {
	chunk, left := chat.Head(s, maxChunk)
	if end := strings.LastIndexByte(chunk, '\n') + 1; left > 0 && end > len(chunk)/2 {
		return chunk[:end]
	}
	return chunk
}

func jsonSize(s string) int {
	raw, _ := json.Marshal(s) // a string: can't fail
	return len(raw)
}
