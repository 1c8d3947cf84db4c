package web

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// maxPicks is how many approvals are decided together.
const maxPicks = 50

// picks reports whether the reader may decide an approval together with others: its rule says so, and nothing of it has
// to be read in a second step.
func (v *request) picks(c core.Card, d doc.Document) bool {
	return c.Batch && c.State == core.Open && d.Cautions(0) == "" && c.Refusal(v.who.Actor) == nil &&
		!c.HasVoted(v.who.Actor, core.Approve) && !c.HasVoted(v.who.Actor, core.Deny)
}

// decideSeveral decides about the approvals that are ticked in the list. Each is a decision of its own, with its own
// check of what the list had said; what becomes of one is nothing to the others. A decision that does not count is not
// lost: the page says of each what is stored.
func (v *request) decideSeveral() error {
	if err := v.checkedForm(formSize); err != nil {
		return err
	}
	form := v.r.PostForm
	choice, ids := core.Choice(form.Get("choice")), slices.Compact(form["pick"])
	switch {
	case choice != core.Approve && choice != core.Deny:
		return refuse(http.StatusBadRequest, "Not possible", "The list approves or denies, so nothing was done.")
	case len(ids) == 0:
		return refuse(http.StatusUnprocessableEntity, "Nothing is ticked",
			"Tick the requests that you want to decide together, then press the button again. Nothing was done.")
	case len(ids) > maxPicks:
		return refuse(http.StatusUnprocessableEntity, "Too many",
			fmt.Sprintf("At most %d requests are decided together, so nothing was done.", maxPicks))
	}
	decided := url.Values{}
	for _, id := range ids {
		if err := v.decideOne(core.ApprovalID(id), choice); err != nil {
			return err
		}
		decided.Add("decided", id)
	}
	if v.Turns != nil {
		v.Turns.Nudge()
	}
	return v.redirect("/approvals?" + decided.Encode())
}

// decideOne stores the reader's decision about one of several. Only a fault of ours is an error.
func (v *request) decideOne(id core.ApprovalID, choice core.Choice) error {
	c, err := v.cardOf(id)
	if err == nil && v.picks(c, v.view(c)) {
		edits, bad := strconv.Atoi(v.r.PostForm.Get("edits-" + string(id)))
		click := core.Click{Approval: id, Choice: choice, Edits: edits}
		if choice == core.Deny {
			click.Reason = strings.TrimSpace(v.typed("reason"))
		}
		if bad == nil {
			err = v.vote(click)
		}
	}
	if statuses[core.CategoryOf(err)] != 0 || core.CategoryOf(err) == core.NotFound {
		return nil // it is decided, changed or gone: the page says so
	}
	return err
}

// saidOfSeveral says what became of several approvals, as it is stored: "3 approved, 1 was already decided by eve."
func (v *request) saidOfSeveral(cards []core.Card) string {
	var order []string
	counts := map[string]int{}
	for _, c := range cards {
		what := v.becameOf(c)
		if counts[what] == 0 {
			order = append(order, what)
		}
		counts[what]++
	}
	for i, what := range order {
		n := counts[what]
		words := []string{"{was}", "was", "{waits}", "waits", "{it}", "it by itself"}
		if n > 1 {
			words = []string{"{was}", "were", "{waits}", "wait", "{it}", "them one by one"}
		}
		order[i] = strconv.Itoa(n) + " " + strings.NewReplacer(words...).Replace(what)
	}
	if order == nil {
		return ""
	}
	return strings.Join(order, ", ") + "."
}

// becameOf says what became of one of several.
func (v *request) becameOf(c core.Card) string {
	own := c.HasVoted(v.who.Actor, core.Approve) && c.State == core.Approved ||
		c.HasVoted(v.who.Actor, core.Deny) && c.State == core.Denied
	switch {
	case own:
		return string(c.State)
	case c.State == core.Expired:
		return "{was} expired already"
	case c.State != core.Open && c.Decided.ID != "":
		return "{was} already decided by " + v.view(c).Decider()
	case c.State != core.Open:
		return "{was} already decided"
	case c.HasVoted(v.who.Actor, core.Approve) || c.HasVoted(v.who.Actor, core.Deny):
		return "{waits} for others, with your vote"
	}
	return "still {waits} for you: look at {it}"
}

// vote stores a decision, whether or not the reader waits for it.
func (v *request) vote(click core.Click) error {
	_, err := v.Approvals.Vote(context.WithoutCancel(v.r.Context()), click, v.who.Actor, 0)
	return err
}
