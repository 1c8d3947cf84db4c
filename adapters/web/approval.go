package web

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// approvalPage is what the page of one approval says.
type approvalPage struct {
	Card   card
	Review bool   // the second step before an approval
	Fault  string // why nothing was decided
	Note   string
}

// approval shows one approval, or decides about it.
func (v *visit) approval() error {
	c, err := v.cardOf(core.ApprovalID(v.r.PathValue("id")))
	switch {
	case err != nil:
		return err
	case v.r.Method == http.MethodPost:
		return v.decide(c)
	}
	v.showApproval(http.StatusOK, c, v.r.URL.Query().Has("review"), "")
	return nil
}

func (v *visit) showApproval(status int, c core.Card, review bool, fault string) {
	page := approvalPage{Card: v.see(c), Fault: fault}
	page.Review = review && page.Card.MayApprove && page.Card.NeedsReview
	v.showPage(status, page)
}

func (v *visit) showPage(status int, page approvalPage) {
	title := "Approval: " + page.Card.Summary
	if page.Card.Question != nil {
		title = "Question: " + page.Card.Summary
	}
	if page.Review {
		title = "Review: " + page.Card.Summary
	}
	page.Note = v.Note
	v.show(status, "approval", title, page)
}

// decide takes the reader's decision or answer.
func (v *visit) decide(c core.Card) error {
	limit := int64(formSize)
	if c.Question != nil {
		limit = answerSize
	}
	if err := v.checkedForm(limit); err != nil {
		return err
	}
	form := v.r.PostForm
	if c.Question != nil && form.Get("choice") == string(core.Answer) {
		return v.answer(c)
	}
	if form.Get("choice") == "reveal" && v.Reveal != nil {
		return v.reveal(c)
	}
	click := core.Click{Approval: c.Approval, Choice: core.Choice(form.Get("choice")), Reason: strings.TrimSpace(form.Get("reason"))}
	edits, err := strconv.Atoi(cmp.Or(form.Get("edits"), "0"))
	click.Edits = edits
	switch {
	case err != nil || click.Choice != core.Approve && click.Choice != core.Deny && click.Choice != core.Withdraw:
		return core.Errorf(core.Invalid, "The form has no decision that gatehouse knows, so nothing was decided. Load the page again.")
	case c.State == core.Open && edits != c.Edits && click.Choice != core.Withdraw:
		v.showApproval(http.StatusConflict, c, false, "The arguments were changed after the page was loaded, so nothing was decided. Look at them again.")
		return nil
	case c.State == core.Open && click.Choice == core.Approve && chat.NeedsReview(c) && form.Get("confirmed") != "yes" && c.Refusal(v.who.Actor) == nil && !c.Altered:
		v.showApproval(http.StatusUnprocessableEntity, c, true, "Nothing is approved yet. Read everything below, then tick the box and approve.")
		return nil
	}
	return v.vote(click)
}

// reveal shows an approval with all of its arguments, to somebody who may decide about it.
func (v *visit) reveal(c core.Card) error {
	arguments, err := v.Reveal(v.r.Context(), c.Approval, v.who.Actor)
	if err != nil {
		return err
	}
	page := approvalPage{Card: v.see(c)}
	page.Card.Arguments, page.Card.MayReveal = arguments, false
	v.showPage(http.StatusOK, page)
	return nil
}

// vote stores what the reader has sent, and leads to the page that says what is stored now.
func (v *visit) vote(click core.Click) error {
	ctx := context.WithoutCancel(v.r.Context()) // a decision that was sent counts, whether or not the reader waits
	decided, err := v.Approvals.Vote(ctx, click, v.who.Actor, 0)
	if err != nil {
		return v.undecided(click.Approval, err)
	}
	if decided.Counted {
		v.Decided()
	}
	v.redirect("/approvals?decided=" + url.QueryEscape(string(click.Approval)))
	return nil
}

// undecided shows the approval as it is now, and why the decision was refused.
func (v *visit) undecided(id core.ApprovalID, refused error) error {
	status, known := statuses[core.CategoryOf(refused)]
	if !known {
		return refused
	}
	c, err := v.cardOf(id)
	if err != nil {
		return err
	}
	v.showApproval(status, c, false, cmp.Or(core.MessageOf(refused), "That was not possible, so nothing was decided."))
	return nil
}
