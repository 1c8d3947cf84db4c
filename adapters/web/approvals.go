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
	maxOpen    = 100
	maxHistory = 50
	maxLook    = 1000 // how many decided approvals are looked through for those that the reader may see
)

// approvalsPage is what the page of approvals says.
type approvalsPage struct {
	Said    *row // the approval that the reader has decided about just now
	Result  string
	Open    []template.HTML
	More    int // open ones that are not on the page
	History []row
	Admin   bool
	Note    string
}

func (v *request) approvals() error {
	page := approvalsPage{Admin: v.admin(), Note: v.Note}
	if id := core.ApprovalID(v.r.URL.Query().Get("decided")); id != "" {
		c, err := v.cardOf(id)
		if err == nil {
			said := v.row(c)
			page.Said, page.Result = &said, v.said(c)
		} else if core.CategoryOf(err) != core.NotFound {
			return err
		}
	}
	open, more, err := v.cards(core.ApprovalFilter{States: []core.ApprovalState{core.Open}}, maxOpen)
	page.More = more
	if err != nil {
		return err
	}
	// The newest first, within each rank.
	slices.SortStableFunc(open, func(a, b core.Card) int { return v.rank(a) - v.rank(b) })
	decided := []core.ApprovalState{core.Approved, core.Denied, core.Answered, core.Expired, core.Cancelled}
	history, _, err := v.cards(core.ApprovalFilter{States: decided, Limit: maxLook}, maxHistory)
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

// cards returns those of the listed approvals that the reader may see, up to a limit, and how many more there are.
func (v *request) cards(f core.ApprovalFilter, limit int) (cards []core.Card, more int, err error) {
	all, err := v.Approvals.List(v.r.Context(), f)
	if err != nil {
		return nil, 0, err
	}
	for _, a := range all {
		rule := a.Rule.At(a.CreatedAt, v.Now())
		if !v.admin() && !a.AskedBy(v.who.Actor) && !rule.MayDecide(v.who.Actor, a.Requester) {
			continue
		}
		if len(cards) == limit {
			more++
			continue
		}
		c, err := v.Approvals.Card(v.r.Context(), a.ID, false)
		if core.CategoryOf(err) == core.NotFound { // removed meanwhile
			continue
		}
		if err != nil {
			return nil, 0, err
		}
		if c.Altered || slices.Contains(f.States, c.State) { // not decided meanwhile
			cards = append(cards, c)
		}
	}
	return cards, more, nil
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

// pageOf is the address of an approval's page.
func pageOf(id core.ApprovalID) string { return "/approvals/" + url.PathEscape(string(id)) }
