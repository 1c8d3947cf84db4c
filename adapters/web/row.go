package web

import (
	"fmt"
	"html/template"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/markup"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// row is an approval in the list.
type row struct {
	Approval      core.ApprovalID
	Page, Summary string
	Tool          string // "" of a question
	State         core.ApprovalState
	Look          string // see doc.Document.Phase
	Standing      string // the state in words
	By            string // who asked
	Left          template.HTML
	Others        string // who else decides, or has decided so far
	Fate          []template.HTML
	Version       string // another one for each state that the row says
	Edits         int
	Picks         bool // it can be decided together with others
	Reason        bool // a denial of it needs a reason
}

// row is what the list says of an approval.
func (v *request) row(c core.Card) row {
	d := v.view(c)
	r := row{
		Approval: c.Approval, Page: pageOf(c.Approval), Summary: markup.Title(d), Tool: c.Tool, State: c.State,
		Look: d.Phase(), Standing: doc.Unsigned(d.Headline), Edits: c.Edits, Reason: c.NeedsWhy,
		Version: fmt.Sprint(c.State, " ", c.Run, c.Edits, len(c.Voters), len(c.Against), c.Changed != ""),
	}
	if c.Question != nil {
		r.Tool = ""
	}
	for _, f := range d.Fields {
		if f.Part == doc.AskedBy {
			r.By = markup.Text(f.Value)
		}
	}
	if c.State != core.Open {
		words, _ := d.Fate()
		for _, part := range words {
			r.Fate = append(r.Fate, markup.Spans(part, v.Now()))
		}
		return r
	}
	r.Left = markup.Moment{At: c.Deadline, Now: v.Now()}.HTML()
	r.Others = v.others(c, d)
	r.Picks = v.picks(c, d)
	return r
}

// others says who else decides an open approval: how many have, where it takes several, or whose decision it waits for.
func (v *request) others(c core.Card, d doc.Document) string {
	var all []string
	for _, f := range d.Fields {
		if f.Part == doc.Votes && (len(c.Voters) > 0 || f.Label == d.LabelApprovedSoFar) {
			all = append(all, f.Label+" "+markup.Text(f.Value))
		}
	}
	if all != nil {
		return strings.Join(all, "; ")
	}
	if c.Refusal(v.who.Actor) != nil {
		return strings.TrimSuffix(d.Refusal(), ".")
	}
	return d.Beside()
}

// decidedNow are the approvals that the reader has decided about just now, and what became of these decisions, as it is
// stored. One that they may not see any more is left out.
func (v *request) decidedNow(ids []string) (rows []row, result string, err error) {
	var cards []core.Card
	for _, id := range ids[:min(len(ids), maxPicks)] {
		c, err := v.cardOf(core.ApprovalID(id))
		switch {
		case err == nil:
			rows, cards = append(rows, v.row(c)), append(cards, c)
		case core.CategoryOf(err) != core.NotFound:
			return nil, "", err
		}
	}
	if len(cards) == 1 {
		return rows, v.said(cards[0]), nil
	}
	return rows, v.saidOfSeveral(cards), nil
}

// said is what became of a decision of the reader, as it is stored.
func (v *request) said(c core.Card) string {
	switch {
	case c.State != core.Open:
		return v.view(c).Standing()
	case c.HasVoted(v.who.Actor, core.Approve):
		return numbered(v.texts.PageApprovalStored, len(c.Voters), c.Quorum)
	case c.HasVoted(v.who.Actor, core.Deny):
		return numbered(v.texts.PageDenialStored, len(c.Against), c.Vetoes)
	case c.Editor.ID != "" && c.Editor.ID == v.who.Actor.ID:
		return v.texts.PageChangeStored
	}
	return ""
}

func numbered(text string, n, of int) string {
	return wording.Fill(text, "{count}", strconv.Itoa(n), "{of}", strconv.Itoa(of))
}
