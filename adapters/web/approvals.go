package web

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"gatehouse/core"
)

// How many approvals a group shows beside others, and alone; and how often the next ones are read for a filter that
// leaves few of them.
const (
	maxTogether = 15
	maxAlone    = 30
	maxReads    = 20
)

// approvalsPage is what the page of approvals says.
type approvalsPage struct {
	Filter filter
	Said   []row // the approvals that the reader has decided about just now
	Result string
	Groups []group
	Admin  bool
	Note   string
	Token  string // of the form of several
	Who    string
}

// group is some approvals under a heading.
type group struct {
	Name  string // that of show
	Title string
	Count int // how many there are; 0 where that is not counted
	Rows  []row
	More  string // the address of those before; "": there are none
	Picks bool   // some can be decided together
}

func (v *request) approvals() error {
	if v.r.Method == http.MethodPost {
		return v.decideSeveral()
	}
	query := v.r.URL.Query()
	page := approvalsPage{
		Filter: filterOf(query), Admin: v.admin(), Note: v.Note, Who: v.who.Name, Token: v.Gate.FormToken(v.who, v.r),
	}
	if err := v.list(&page, query["decided"]); err != nil {
		return err
	}
	return v.show(http.StatusOK, "approvals", "Approvals", page)
}

// listWait is how long a list waits for the person's other ones.
const listWait = 10 * time.Second

// list reads what the page shows. A person has one list made at a time, since that may hold much: the others wait.
func (v *request) list(page *approvalsPage, decided []string) (err error) {
	ctx, cancel := context.WithTimeout(v.r.Context(), listWait)
	defer cancel()
	release, err := v.lists.Take(ctx, v.who.Actor.ID)
	if err != nil {
		return tooBusy()
	}
	defer release()
	if page.Said, page.Result, err = v.decidedNow(decided); err != nil {
		return err
	}
	for _, g := range v.groups(page.Filter) {
		if err := v.fill(&g.group, page.Filter, g.of); err != nil {
			return err
		}
		page.Groups = append(page.Groups, g.group)
	}
	return nil
}

// listed is a group and its listing.
type listed struct {
	group
	of core.ApprovalFilter
}

// groups are those that the page shows.
func (v *request) groups(f filter) (all []listed) {
	asked, seen := "", ""
	if f.Show == "asked" {
		asked = v.who.Actor.ID
	}
	if !v.admin() {
		seen = v.who.Actor.ID
	}
	mine := core.ApprovalFilter{Decider: v.who.Actor, Requester: asked}
	others := core.ApprovalFilter{Decider: v.who.Actor, Others: true, Reader: seen, Requester: asked}
	decided := core.ApprovalFilter{Closed: true, Reader: seen, Requester: asked}
	for _, g := range []listed{
		{group{Name: "mine", Title: "Waiting for you"}, mine},
		{group{Name: "others", Title: "Waiting for others"}, others},
		{group{Name: "decided", Title: "Decided"}, decided},
	} {
		if f.Show == "" || f.Show == g.Name || f.Show == "asked" {
			all = append(all, g)
		}
	}
	return all
}

// fill reads a group's rows.
func (v *request) fill(g *group, f filter, of core.ApprovalFilter) (err error) {
	of.At, of.Before, of.Words = v.Now(), f.Before, f.words()
	if of.Limit = maxTogether; f.Show == g.Name {
		of.Limit = maxAlone
	}
	if !f.Narrows() && !of.Closed {
		if g.Count, err = v.Approvals.Count(v.r.Context(), of); err != nil {
			return err
		}
	}
	size := of.Limit
	for range maxReads {
		cards, last, err := v.cards(of)
		if err != nil {
			return err
		}
		for _, c := range cards {
			if f.fits(v, c) {
				g.Rows = append(g.Rows, v.row(c))
				g.Picks = g.Picks || g.Rows[len(g.Rows)-1].Picks
			}
		}
		if last == "" {
			g.More = ""
			return nil
		}
		g.More, of.Before = f.address(g.Name, last), last
		if len(g.Rows) >= size || !f.Narrows() {
			return nil
		}
	}
	return nil
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
