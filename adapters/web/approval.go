package web

import (
	"context"
	"html/template"
	"net/http"

	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/markup"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// approvalPage is what the page of one approval says.
type approvalPage struct {
	Card template.HTML
	Note string
}

// approval shows one approval, or decides about it.
func (v *request) approval() error {
	c, err := v.cardOf(core.ApprovalID(v.r.PathValue("id")))
	switch {
	case err != nil:
		return err
	case v.r.Method == http.MethodPost:
		return v.decide(c)
	}
	o := markup.Options{Reviewed: v.r.URL.Query().Has("review")}
	if v.r.URL.Query().Has("edit") {
		o.Change = markup.NewChange(c.Arguments)
	}
	return v.showApproval(http.StatusOK, c, o)
}

func (v *request) showApproval(status int, c core.Card, o markup.Options) error {
	o.Alone = true
	if !v.mayChange(c) {
		o.Change = nil
	}
	if o.Change != nil { // the fault is told in its form
		o.Fault = ""
	}
	card, err := v.draw(c, o)
	if err != nil {
		return err
	}
	title := v.texts.PageTitleApproval
	switch {
	case c.Question != nil:
		title = v.texts.PageTitleQuestion
	case o.Reviewed:
		title = v.texts.PageTitleReview
	}
	return v.show(status, "approval", wording.Fill(title, "{title}", markup.Title(v.view(c))),
		approvalPage{card, v.Note})
}

// decide takes the reader's decision or answer.
func (v *request) decide(c core.Card) error {
	limit := int64(formSize)
	if c.Question != nil {
		limit = answerSize
	}
	if err := v.checkedForm(limit); err != nil {
		return err
	}
	switch choice := v.r.PostForm.Get("choice"); choice {
	case "reveal":
		if v.Secrets != nil {
			return v.reveal(c)
		}
	case chooseCheck, chooseJSON, chooseFields:
		return v.change(c, choice)
	}
	b, p, answer := v.press(c)
	if press, ok := answer.(desk.Event); ok {
		err := v.store(c.Approval, press)
		switch {
		case err == nil:
			return v.toDecided(c.Approval)
		case statuses[core.CategoryOf(err)] == 0:
			return err
		}
		answer = desk.Say{Err: err}
		if c, err = v.cardOf(c.Approval); err != nil { // as it is now
			return err
		}
	}
	if say, ok := answer.(desk.Say); ok {
		return v.refused(c, b.Action, p.Typed, say)
	}
	o := markup.Options{Reviewed: true, Fault: v.texts.PageNotApproved}
	return v.showApproval(http.StatusUnprocessableEntity, c, o)
}

// reveal shows an approval with all of its arguments, to somebody who may decide about it.
func (v *request) reveal(c core.Card) error {
	arguments, err := v.Secrets.Reveal(v.r.Context(), c.Approval, v.who.Actor)
	if err != nil {
		return err
	}
	return v.showApproval(http.StatusOK, c, markup.Options{Revealed: arguments})
}

// store does what the reader has sent, whether or not they wait.
func (v *request) store(id core.ApprovalID, press desk.Event) error {
	ctx := context.WithoutCancel(v.r.Context())
	decided, err := core.Decided{Counted: true}, error(nil)
	if press.Kind() == core.KindAgain { // as the button on a chat platform's card
		_, err = v.Approvals.AskAgain(ctx, id, v.who.Actor)
	} else {
		decided, err = v.Approvals.Vote(ctx, press.Click, v.who.Actor, 0)
	}
	if err == nil && decided.Counted && v.Turns != nil {
		v.Turns.Nudge()
	}
	return err
}
