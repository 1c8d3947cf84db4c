package slack

import (
	"fmt"
	"strings"

	api "github.com/slack-go/slack"

	"gatehouse/core"
)

// drawCard draws an approval as it stands, always as one message, whatever its fields hold. Once it is decided it has no buttons.
func (p painter) drawCard(d core.Delivery, link string) ([]drawn, error) {
	c := *d.Card
	m := drawn{Text: excerpt(headline(c) + ": " + exposed(c.Summary))}
	if d.Late && c.State == core.Open {
		m.Blocks = append(m.Blocks, aside(lateNote))
	}
	arguments, left := head(defuse(strings.TrimSpace(exposed(c.Arguments))), maxArguments)
	m.Blocks = append(m.Blocks, face(c, arguments, left))
	if d.Copy {
		m.Blocks = append(m.Blocks, elsewhere(c, link))
	}
	if c.State != core.Open {
		return []drawn{m}, nil
	}
	buttons, err := p.buttons(c, left > 0)
	if err != nil {
		return nil, err
	}
	m.Blocks = append(m.Blocks, api.NewActionBlock("", buttons...))
	return []drawn{m}, nil
}

// headline says in a few words where an approval stands.
func headline(c core.Card) string {
	switch c.State {
	case core.Open:
		if c.Risk == core.Dangerous {
			return "⚠️ Approval needed for something dangerous"
		}
		return "Approval needed"
	case core.Approved:
		return "✅ Approved"
	case core.Refused:
		return "⛔ Refused"
	case core.Expired:
		return "⌛ Expired: nobody decided in time"
	case core.Cancelled:
		return "🚫 Cancelled"
	}
	return "Approval: " + inline(string(c.State), maxPerson)
}

// face is the card but for its buttons.
func face(c core.Card, arguments string, left int) api.Block {
	text := append(decision(c), literal("\n"), bold(orNone(inline(c.Summary, maxSummary))), literal("\nTool: "), codeWord(orNone(inline(c.Tool, maxTool))))
	text = append(text, literal("\nAsked by: "), person(c.Requested, c.Requester))
	if c.State == core.Open {
		text = append(text, waits(c)...)
	}
	if c.Changed != "" {
		text = append(text, literal("\n"), bold("The request was changed after it was asked:"), literal(" "+inline(c.Changed, maxChanged)))
	}
	if arguments == "" {
		return rich(append(text, literal("\nArguments: none"))...)
	}
	elements := []api.RichTextElement{api.NewRichTextSection(append(text, literal("\nArguments:"))...), preformatted(arguments)}
	if left > 0 {
		how := "press Show all"
		if c.State != core.Open {
			how = showCommand(c)
		}
		elements = append(elements, api.NewRichTextSection(literal(thousands(left)+" more characters: "+how)))
	}
	return api.NewRichTextBlock("", elements...)
}

// decision is the card's first line: where it stands and, once decided, by whom, when and why.
func decision(c core.Card) []piece {
	text := []piece{bold(headline(c))}
	switch c.State {
	case core.Open:
		if c.Risk == core.Dangerous {
			text = append(text, literal("\nThis is hard or impossible to undo."))
		}
		return text
	case core.Approved, core.Refused, core.Cancelled:
		if c.DecidedBy != "" || c.Decided.ID != "" {
			text = append(text, literal(" by "), person(c.Decided, c.DecidedBy))
		}
	}
	if !c.DecidedAt.IsZero() {
		text = append(text, literal(", "), moment(c.DecidedAt))
	}
	if c.Reason != "" {
		text = append(text, literal("\nReason: "+inline(c.Reason, maxReason)))
	}
	return text
}

// waits is what an open card waits for.
func waits(c core.Card) []piece {
	var text []piece
	for i, id := range c.Approvers {
		if i == maxApprovers {
			text = append(text, literal(fmt.Sprintf(" and %d more", len(c.Approvers)-i)))
			break
		}
		switch i {
		case 0:
			text = append(text, literal("\nMay decide: "))
		default:
			text = append(text, literal(", "))
		}
		text = append(text, approver(id))
	}
	if c.Quorum > 1 {
		text = append(text, literal(fmt.Sprintf("\nApprovals: %d of %d", c.Votes, c.Quorum)))
	}
	if !c.Deadline.IsZero() {
		text = append(text, literal("\nDecide by: "), moment(c.Deadline))
	}
	return text
}

// elsewhere is what somebody must be told who may not see the conversation: what was said last, and where.
func elsewhere(c core.Card, link string) api.Block {
	elements := []api.RichTextElement{}
	lines := c.Context[max(0, len(c.Context)-maxLines):]
	if len(lines) > 0 {
		elements = append(elements, api.NewRichTextSection(literal("What was said last:")))
		var quote []piece
		for i, l := range lines {
			who := "Bot: "
			if l.Role == core.User {
				who = "Person: "
			}
			if i > 0 {
				quote = append(quote, literal("\n"))
			}
			quote = append(quote, bold(who), literal(orNone(inline(l.Text, maxLine))))
		}
		elements = append(elements, &api.RichTextQuote{Type: api.RTEQuote, Elements: quote})
	}
	where := []piece{literal("This was asked in another conversation.")}
	if strings.HasPrefix(link, "https://") && units(link) <= maxURL {
		where = []piece{literal("This was asked in another conversation: "), api.NewRichTextSectionLinkElement(link, "", nil)}
	}
	return api.NewRichTextBlock("", append(elements, api.NewRichTextSection(where...))...)
}

// buttons are those of an open card. A dangerous call is asked for twice.
func (p painter) buttons(c core.Card, folded bool) ([]api.BlockElement, error) {
	approve, err := p.button(string(core.Approve), "Approve", string(c.Approval), string(core.Approve))
	if err != nil {
		return nil, err
	}
	approve.Style = api.StylePrimary
	if c.Risk == core.Dangerous {
		approve.Confirm = api.NewConfirmationBlockObject(plainText("Approve this?"),
			plainText("This is hard or impossible to undo. "+orNone(inline(c.Summary, maxConfirmSummary))),
			plainText("Approve"), plainText("Go back")).WithStyle(api.StyleDanger)
	}
	deny, err := p.button(string(core.Deny), "Deny", string(c.Approval), string(core.Deny))
	if err != nil {
		return nil, err
	}
	deny.Style = api.StyleDanger
	reason, err := p.button(actionReason, "Deny with reason…", string(c.Approval), choiceReason)
	if err != nil {
		return nil, err
	}
	all := []api.BlockElement{approve, deny, reason}
	if folded {
		show, err := p.button(choiceArguments, "Show all", string(c.Approval), choiceArguments)
		if err != nil {
			return nil, err
		}
		all = append(all, show)
	}
	return all, nil
}

// showCommand shows an approval whole, on a terminal.
func showCommand(c core.Card) string {
	return "gatehouse approvals show " + inline(string(c.Approval), maxTool)
}

// orNone stands for an empty text: Slack takes no empty piece.
func orNone(s string) string {
	if s == "" {
		return "(none)"
	}
	return s
}
