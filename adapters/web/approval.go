package web

import (
	"cmp"
	"context"
	"html/template"
	"net/http"
	"net/url"

	"gatehouse/adapters/internal/cardhtml"
	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/desk"
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
	if v.r.PostForm.Get("choice") == "reveal" && v.Reveal != nil {
		return v.reveal(c)
	}
	b, p := v.pressOf(c)
	switch a := v.deskOf(c).Press(v.r.Context(), b, p).(type) {
	case desk.Event:
		if a.Kind() == core.KindAgain {
			return v.askAgain(c)
		}
		return v.vote(a.Click)
	case desk.Say:
		return v.refused(c, b.Action, p.Typed, a)
	}
	o := cardhtml.Options{Reviewed: true, Fault: "Nothing is approved yet. Read everything below, then tick the box and approve."}
	return v.showApproval(http.StatusUnprocessableEntity, c, o)
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
	if _, known := statuses[core.CategoryOf(refused)]; !known {
		return refused
	}
	c, err := v.cardOf(click.Approval)
	if err != nil {
		return err
	}
	say := desk.Say{Err: core.Wrap(core.CategoryOf(refused), refused, "%s", cmp.Or(core.MessageOf(refused), "That was not possible, so nothing was decided."))}
	return v.refused(c, chat.Action(click.Choice), []string{click.Changed}, say)
}
