package web

import (
	"html/template"
	"net/http"
	"net/url"
	"slices"

	"gatehouse/adapters/internal/markup"
	"gatehouse/core"
)

// How much the page of approvals shows.
const (
	maxOpen    = 30
	maxHistory = 30
)

// approvalsPage is what the page of approvals says.
type approvalsPage struct {
	Said    *row // the approval that the reader has decided about just now
	Result  string
	Waiting int // open ones, those on other pages too
	Open    []template.HTML
	Older   string // the address of the page with those before; "" = there are none
	History []row
	Admin   bool
	Note    string
}

func (v *request) approvals() error {
	page := approvalsPage{Admin: v.admin(), Note: v.Note}
	query := v.r.URL.Query()
	if id := core.ApprovalID(query.Get("decided")); id != "" {
		c, err := v.cardOf(id)
		if err == nil {
			said := v.row(c)
			page.Said, page.Result = &said, v.said(c)
		} else if core.CategoryOf(err) != core.NotFound {
			return err
		}
	}
	waiting := v.toSee(core.ApprovalFilter{
		States: []core.ApprovalState{core.Open}, Before: core.ApprovalID(query.Get("before")), Limit: maxOpen,
	})
	var err error
	if page.Waiting, err = v.Approvals.Count(v.r.Context(), waiting); err != nil {
		return err
	}
	open, last, err := v.cards(waiting)
	if err != nil {
		return err
	}
	if last != "" {
		page.Older = "/approvals?before=" + url.QueryEscape(string(last))
	}
	// The newest first, within each rank.
	slices.SortStableFunc(open, func(a, b core.Card) int { return v.rank(a) - v.rank(b) })
	history, _, err := v.cards(v.toSee(core.ApprovalFilter{Closed: true, Limit: maxHistory}))
	if err != nil {
		return err
	}
	for _, c := range open {
		card, err := v.draw(c, markup.Options{})
		if err != nil {
			return err
		}
		page.Open = append(page.Open, card)
	}
	for _, c := range history {
		page.History = append(page.History, v.row(c))
	}
	return v.show(http.StatusOK, "approvals", "Approvals", page)
}

// toSee narrows a listing to what the reader may see.
func (v *request) toSee(f core.ApprovalFilter) core.ApprovalFilter {
	if !v.admin() {
		f.Reader, f.At = v.who.Actor.ID, v.Now()
	}
	return f
}

// rank orders open cards: those that wait for the reader come first.
func (v *request) rank(c core.Card) int {
	switch {
	case c.Refusal(v.who.Actor) != nil:
		return 2
	case v.said(c) != "": // they have voted
		return 1
	}
	return 0
}

// cards returns the cards of a page of approvals, and the last one's id if there may be more.
func (v *request) cards(f core.ApprovalFilter) (cards []core.Card, last core.ApprovalID, err error) {
	listed, err := v.Approvals.List(v.r.Context(), f)
	if err != nil {
		return nil, "", err
	}
	var ids []core.ApprovalID
	for _, a := range listed {
		rule := a.Rule.At(a.CreatedAt, v.Now())
		// the listing alone never decides who sees what
		if v.admin() || a.AskedBy(v.who.Actor) || rule.MayDecide(v.who.Actor, a.Requester) {
			ids = append(ids, a.ID)
		}
	}
	if len(listed) == f.Limit {
		last = listed[len(listed)-1].ID
	}
	all, err := v.Approvals.Cards(v.r.Context(), ids)
	for _, c := range all {
		if c.Altered || (c.State != core.Open) == f.Closed { // not decided meanwhile
			cards = append(cards, c)
		}
	}
	return cards, last, err
}

// cardOf returns a card that the reader may see. One that they may not see does not exist for them.
func (v *request) cardOf(id core.ApprovalID) (core.Card, error) {
	c, err := v.Approvals.Card(v.r.Context(), id, false)
	mayNot := !v.admin() && !c.AskedBy(v.who.Actor) && c.Refusal(v.who.Actor) != nil
	if core.CategoryOf(err) == core.NotFound || err == nil && mayNot {
		return core.Card{}, core.Wrap(core.NotFound, err, "There is no such approval, or it is not for you to see.")
	}
	return c, err
}

// pageOf is the address of an approval's page, without the prefix of a proxy.
func pageOf(id core.ApprovalID) string { return "/approvals/" + url.PathEscape(string(id)) }
