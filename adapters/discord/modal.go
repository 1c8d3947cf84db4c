package discord

import (
	"context"
	"strings"

	"github.com/bwmarrin/discordgo"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// The inputs of our forms.
const (
	inputReason  = "reason"
	inputConfirm = "confirm"
	inputEdit    = "arguments"
)

// confirmWord has to be typed to approve something dangerous.
const confirmWord = "approve"

// modal is a form, in the shape of an answer to a press.
type modal struct {
	CustomID   string                       `json:"custom_id"`
	Title      string                       `json:"title"`
	Components []discordgo.MessageComponent `json:"components"`
}

// reasonModal is the form that asks why a request is denied; value is returned with its submission. The reason may be empty unless the rule
// needs one: it should not hold up a denial.
func reasonModal(value string, c core.Card) modal {
	label := "What should be different?"
	if !c.NeedsWhy {
		label += " (optional)"
	}
	return modal{CustomID: value, Title: "Deny this?", Components: []discordgo.MessageComponent{
		discordgo.TextDisplay{Content: subject(c)},
		discordgo.Label{
			Label: label, Description: "The agent and the person who asked will read it.",
			Component: discordgo.TextInput{CustomID: inputReason, Style: discordgo.TextInputParagraph, Required: new(c.NeedsWhy), MaxLength: maxReason},
		},
	}}
}

// confirmModal is the form that asks for confirmation before something dangerous is approved; value is returned with its submission. The
// submission approves if its input is confirmWord.
func confirmModal(value string, c core.Card) modal {
	return modal{CustomID: value, Title: "Approve this?", Components: []discordgo.MessageComponent{
		discordgo.TextDisplay{Content: cautions(c) + "\n" + subject(c)},
		discordgo.Label{
			Label: "Type “" + confirmWord + "” to go on", Description: "Close this form to go back.", Component: discordgo.TextInput{
				CustomID: inputConfirm, Style: discordgo.TextInputShort, Required: new(true), MinLength: len(confirmWord), MaxLength: len(confirmWord), Placeholder: confirmWord,
			},
		},
	}}
}

// editModal is the form that changes a call's arguments, filled with those of the card; value is returned with its submission.
func editModal(value string, c core.Card) modal {
	text, _ := chat.EditText(c, maxInput)
	return modal{CustomID: value, Title: chat.EditTitle, Components: []discordgo.MessageComponent{
		discordgo.TextDisplay{Content: subject(c)},
		discordgo.Label{
			Label: chat.EditLabel, Description: chat.EditHint,
			Component: discordgo.TextInput{CustomID: inputEdit, Style: discordgo.TextInputParagraph, Required: new(true), MaxLength: maxInput, Value: text},
		},
	}}
}

// cautions returns why approving has to be confirmed.
func cautions(c core.Card) string {
	text := cardText.Cautions(c, 0)
	if text == "" || leavesOut(c) {
		text = strings.TrimSpace(text + " The card does not show all arguments. Read them first: press Show all arguments.")
	}
	return text
}

// subject returns the text that says what a form is about.
func subject(c core.Card) string {
	return "**" + chat.OrNone(inline(c.Summary, maxSummary)) + "**\nTool: " + inlineCode(c.Tool, maxTool)
}

// handleSubmit handles the submission of a form.
func (d *Discord) handleSubmit(ctx context.Context, i interaction) (*response, *core.Event) {
	b, ok := chat.OpenButton(d.Signer, i.Data.CustomID)
	if ok && b.Action == chat.ActionAnswer {
		return d.submitAnswer(ctx, i, b)
	}
	form := b.Action == chat.ActionReason || b.Action == chat.ActionConfirm || b.Action == chat.ActionEdit
	if !ok || !form {
		d.Log.Warn("a form that is not gatehouse's was submitted", "person", i.person().ID)
		return ephemeral("This form is not valid any more, so nothing was done. Press the button again."), nil
	}
	if b.Action == chat.ActionConfirm && !isConfirmed(i) {
		return ephemeral("You did not type " + confirmWord + ", so nothing was decided."), nil
	}
	return d.pressed(ctx, i, b), decision(i, b.Approval)
}

// isConfirmed reports whether confirmWord was typed.
func isConfirmed(i interaction) bool {
	return strings.EqualFold(inputOf(i.Data.Components), confirmWord)
}

// inputOf returns the text of a form's only field.
func inputOf(components []component) string {
	for _, c := range components {
		if c.Input != nil {
			c.Inputs = append(c.Inputs, *c.Input)
		}
		if c.Value != "" {
			return strings.TrimSpace(c.Value)
		}
		if text := inputOf(c.Inputs); text != "" {
			return text
		}
	}
	return ""
}
