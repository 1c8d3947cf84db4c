package web

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/cardhtml"
	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// approvalPage is what the page of one approval says.
type approvalPage struct {
	Card template.HTML
	Note string
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
	return v.showApproval(http.StatusOK, c, cardhtml.Options{Reviewed: v.r.URL.Query().Has("review")})
}

func (v *visit) showApproval(status int, c core.Card, o cardhtml.Options) error {
	o.Alone = true
	card, err := v.draw(c, o)
	if err != nil {
		return err
	}
	title := "Approval: "
	switch {
	case c.Question != nil:
		title = "Question: "
	case o.Reviewed:
		title = "Review: "
	}
	v.show(status, "approval", title+cardhtml.Title(v.view(c)), approvalPage{card, v.Note})
	return nil
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
	choice := v.r.PostForm.Get("choice")
	switch {
	case c.Question != nil && choice == string(core.Answer):
		return v.answer(c)
	case choice == "reveal" && v.Reveal != nil:
		return v.reveal(c)
	case choice == string(chat.ActionAskAgain):
		return v.askAgain(c)
	}
	click := core.Click{
		Approval: c.Approval, Choice: core.Choice(choice), Reason: strings.TrimSpace(v.r.PostForm.Get("reason")), Changed: v.typed("changed"),
	}
	edits, err := strconv.Atoi(cmp.Or(v.r.PostForm.Get("edits"), "0"))
	click.Edits = edits
	known := slices.Contains([]core.Choice{core.Approve, core.Deny, core.Edit, core.Withdraw}, click.Choice)
	switch {
	case err != nil || !known:
		return core.Errorf(core.Invalid, "The form has no decision that gatehouse knows, so nothing was decided. Load the page again.")
	case c.State == core.Open && edits != c.Edits && click.Choice != core.Withdraw:
		return v.showApproval(http.StatusConflict, c, tried(click, "The arguments were changed after the page was loaded, so nothing was decided. Look at them again."))
	case click.Choice == core.Approve && v.r.PostForm.Get("confirmed") != "yes" && v.cautioned(c):
		o := cardhtml.Options{Reviewed: true, Fault: "Nothing is approved yet. Read everything below, then tick the box and approve."}
		return v.showApproval(http.StatusUnprocessableEntity, c, o)
	}
	return v.vote(click)
}

// cautioned reports whether the reader may approve a card, in a second step only.
func (v *visit) cautioned(c core.Card) bool {
	return slices.ContainsFunc(v.view(c).Cut(0, 0), func(one doc.Choice) bool {
		return one.Action == chat.ActionApprove && one.Cautions != ""
	})
}

// tried shows why a decision was refused. What was typed for an edit is shown again.
func tried(click core.Click, fault string) cardhtml.Options {
	o := cardhtml.Options{Fault: fault}
	if click.Choice == core.Edit {
		o.Tried = &cardhtml.Tried{Action: chat.ActionEdit, Typed: []string{click.Changed}, Faults: []string{fault}}
	}
	return o
}

// reveal shows an approval with all of its arguments, to somebody who may decide about it.
func (v *visit) reveal(c core.Card) error {
	arguments, err := v.Reveal(v.r.Context(), c.Approval, v.who.Actor)
	if err != nil {
		return err
	}
	return v.showApproval(http.StatusOK, c, cardhtml.Options{Revealed: arguments})
}

// askAgain asks once more for what expired, as the button on a chat platform's card does.
func (v *visit) askAgain(c core.Card) error {
	if _, err := v.Approvals.AskAgain(context.WithoutCancel(v.r.Context()), c.Approval, v.who.Actor); err != nil {
		return v.undecided(core.Click{Approval: c.Approval}, err)
	}
	v.Decided()
	v.redirect("/approvals?decided=" + url.QueryEscape(string(c.Approval)))
	return nil
}

// vote stores what the reader has sent, and leads to the page that says what is stored now.
func (v *visit) vote(click core.Click) error {
	ctx := context.WithoutCancel(v.r.Context()) // a decision that was sent counts, whether or not the reader waits
	decided, err := v.Approvals.Vote(ctx, click, v.who.Actor, 0)
	if err != nil {
		return v.undecided(click, err)
	}
	if decided.Counted {
		v.Decided()
	}
	v.redirect("/approvals?decided=" + url.QueryEscape(string(click.Approval)))
	return nil
}

// undecided shows the approval as it is now, and why the decision was refused.
func (v *visit) undecided(click core.Click, refused error) error {
	status, known := statuses[core.CategoryOf(refused)]
	if !known {
		return refused
	}
	c, err := v.cardOf(click.Approval)
	if err != nil {
		return err
	}
	return v.showApproval(status, c, tried(click, cmp.Or(core.MessageOf(refused), "That was not possible, so nothing was decided.")))
}
