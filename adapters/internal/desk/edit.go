package desk

import (
	"context"
	"encoding/json"
	"strings"

	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// refuseEdit is what is said about changed arguments that are not taken, with the form to send again: nothing that was
// typed is lost. err is why the press would not count. Quotes that a keyboard has made curly are offered mended.
func (d Desk) refuseEdit(
	ctx context.Context, card core.Card, b outbound.Button, typed string, err error,
) (again Say, refused bool) {
	again.Err = err
	if straight, mended := straightQuotes(typed); mended && err == nil {
		typed, again.Mended, again.Err = straight, true, invalid(d.PressMended)
	} else if err == nil && d.Edits != nil {
		again.Err = d.Edits.CheckEdit(ctx, b.Approval, typed)
	}
	if again.Err == nil || core.BucketOf(core.CategoryOf(again.Err)) != core.UserCorrectable {
		return again, err != nil // what can't be checked now, the store checks
	}
	form, ok := d.view(card).Form(outbound.ActionEdit, d.Input)
	if ok {
		form.Inputs[0].Value = typed
		if again.Mended {
			form.Inputs[0].Hint = again.Text()
		}
		again.Faults = map[int]string{0: again.Text()}
		again.Again = &Open{Form: form, Card: card}
		if d.Signer != nil {
			again.Again.Value = d.Signer.Seal(b.Fields()...)
		}
	}
	return again, true
}

var curly = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‟", `"`)

// straightQuotes is a text that is JSON once its curly quotes are straight; mended is false for any other text.
func straightQuotes(text string) (straight string, mended bool) {
	straight = curly.Replace(text)
	return straight, !json.Valid([]byte(text)) && straight != text && json.Valid([]byte(straight))
}
