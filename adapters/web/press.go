package web

import (
	"cmp"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"gatehouse/adapters/access"
	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/markup"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// press judges the form that was sent from a page that shows this card. A tick confirms what is approved in a second
// step.
func (v *request) press(c core.Card) (b outbound.Button, p desk.Press, answer desk.Answer) {
	form := v.r.PostForm
	p.Who = v.who.Actor
	b = v.button(c, outbound.Action(form.Get("choice")))
	switch b.Action {
	case outbound.ActionApprove, outbound.ActionRemember:
		if v.view(c).Cautions(0) != "" {
			confirms := map[outbound.Action]outbound.Action{
				outbound.ActionApprove: outbound.ActionConfirm, outbound.ActionRemember: outbound.ActionConfirmRemember,
			}
			b.Action, p.Form, p.Typed = confirms[b.Action], form.Get("confirmed") == "yes", []string{doc.ConfirmWord}
		}
	case outbound.ActionDeny:
		p.Typed = []string{form.Get("reason")}
	case outbound.ActionEdit:
		p.Form, p.Typed = true, []string{v.typed("changed")}
	case outbound.ActionAnswer:
		p.Form = true
		for i := 0; c.Question != nil && i < len(c.Question.Fields); i++ {
			p.Typed = append(p.Typed, v.typed(markup.Field(i)))
		}
	case outbound.ActionWithdraw, outbound.ActionAskAgain, outbound.ActionForget, "":
	default:
		b.Action = "unknown"
	}
	return b, p, v.judge(c, b, p)
}

// judge judges a press of this card. Nothing is stored.
func (v *request) judge(c core.Card, b outbound.Button, p desk.Press) desk.Answer {
	at := desk.Desk{
		Platform: access.Platform, Cards: desk.Shown(c), Edits: v.Approvals, Input: markup.MaxArguments, Strict: true,
		Texts: v.texts, Log: v.Log,
	}
	return at.Press(v.r.Context(), b, p)
}

// button is what was pressed on the card that the form was on; one without an action if the form is none of ours.
func (v *request) button(c core.Card, action outbound.Action) outbound.Button {
	edits, err := strconv.Atoi(cmp.Or(v.r.PostForm.Get("edits"), "0"))
	if err != nil {
		action = ""
	}
	return outbound.Button{Action: action, Approval: c.Approval, Edits: edits}
}

// typed is a text of the form. Browsers write its line ends as two characters.
func (v *request) typed(name string) string {
	return strings.ReplaceAll(v.r.PostForm.Get(name), "\r\n", "\n")
}

// outcomes are the states that presses lead to.
var outcomes = map[outbound.Action]core.ApprovalState{
	outbound.ActionApprove: core.Approved, outbound.ActionConfirm: core.Approved,
	outbound.ActionRemember: core.Approved, outbound.ActionConfirmRemember: core.Approved,
	outbound.ActionDeny: core.Denied, outbound.ActionWithdraw: core.Cancelled,
}

// stands reports whether what the reader wants is so already, by another's press or by an earlier one of theirs: they
// pressed twice, or came second, and nothing has failed.
func (v *request) stands(c core.Card, action outbound.Action) bool {
	outcome := outcomes[action]
	return outcome != "" && outcome == c.State || c.State == core.Open &&
		(outcome == core.Approved && c.HasVoted(v.who.Actor, core.Approve) ||
			outcome == core.Denied && c.HasVoted(v.who.Actor, core.Deny))
}

// toDecided leads to what became of a decision.
func (v *request) toDecided(id core.ApprovalID) error {
	return v.redirect("/approvals?decided=" + url.QueryEscape(string(id)))
}

// refused shows the approval, and why nothing was decided. What was typed is shown again, with what is wrong at each
// input.
func (v *request) refused(c core.Card, action outbound.Action, typed []string, say desk.Say) error {
	if core.CategoryOf(say.Err) == core.ApprovalDecided && v.stands(c, action) {
		return v.toDecided(c.Approval)
	}
	status := cmp.Or(statuses[core.CategoryOf(say.Err)], http.StatusBadRequest)
	o := markup.Options{
		Fault: cmp.Or(say.Text(), v.texts.PageNotPossible), Overtaken: c.State != core.Open && c.State != core.Expired,
	}
	switch {
	case say.Faults != nil && action != outbound.ActionEdit:
		status, o.Fault = http.StatusUnprocessableEntity, v.texts.PageNotSent
		o.Tried = markup.Tried{Action: action, Typed: typed, Faults: say.Faults}
	case action == outbound.ActionEdit:
		o.Change = v.refusedChange(typed[0], o.Fault, say)
	}
	if errors.Is(say.Err, core.ErrChanged) {
		status = http.StatusConflict
	}
	return v.showApproval(status, c, o)
}
