package discord

import (
	"context"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

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
		return ephemeral("You did not type " + doc.ConfirmWord + ", so nothing was decided."), nil
	}
	return d.pressed(ctx, i, b), decision(i, b.Approval)
}

// isConfirmed reports whether doc.ConfirmWord was typed.
func isConfirmed(i interaction) bool {
	return strings.EqualFold(inputOf(i.Data.Components), doc.ConfirmWord)
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
