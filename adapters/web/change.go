package web

import (
	"errors"
	"net/http"
	"slices"

	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/markup"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// What the buttons of the form for a call's arguments choose, besides sending them. Nothing is stored.
const (
	chooseCheck  = "change" // show what changes
	chooseJSON   = "json"   // show them as JSON
	chooseFields = "fields" // show a field for each
)

// mayChange reports whether the reader is offered to change a call's arguments.
func (v *request) mayChange(c core.Card) bool {
	return slices.ContainsFunc(v.view(c).Cut(0, 0), func(one doc.Choice) bool {
		return one.Action == outbound.ActionEdit
	})
}

// change shows the form for a call's arguments again, with what was typed: in another shape, with what is wrong or, if
// it can be sent, as what changes.
func (v *request) change(c core.Card, choice string) error {
	change := markup.TypedChange(v.r.PostForm, v.texts)
	o := markup.Options{Change: change}
	switch {
	case choice == chooseJSON:
		change.JSON = true
	case choice == chooseFields && markup.NewChange(change.Text).Fields != nil:
		o.Change = markup.NewChange(change.Text)
	case change.Wrong():
		change.Fault = v.texts.PageNotSent
		return v.showApproval(http.StatusUnprocessableEntity, c, o)
	default:
		b := v.button(c, outbound.ActionEdit)
		p := desk.Press{Who: v.who.Actor, Form: true, Typed: []string{change.Text}}
		if say, refused := v.judge(c, b, p).(desk.Say); refused {
			return v.refused(c, b.Action, p.Typed, say)
		}
		change.Ready = true
	}
	return v.showApproval(http.StatusOK, c, o)
}

// refusedChange is the form for changed arguments that were not taken, filled with them.
func (v *request) refusedChange(text, fault string, say desk.Say) *markup.Change {
	if say.Again != nil {
		text = say.Again.Form.Inputs[0].Value
	}
	change := markup.NewChange(text)
	asJSON := v.r.PostForm.Get("choice") == chooseCheck && !v.r.PostForm.Has("fields")
	change.JSON, change.Fault = change.JSON || asJSON || say.Mended, fault
	var faults core.ArgumentFaults
	if errors.As(say.Err, &faults) && change.Blame(faults) {
		change.Fault = v.texts.PageNotSent
	}
	return change
}
