package web

import (
	"fmt"
	"html/template"
	"strings"

	"gatehouse/adapters/access"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/markup"
	"gatehouse/core"
)

// maxApprovers is how many of those who may decide are named.
const maxApprovers = 10

// view is what a card says to the reader.
func (v *visit) view(c core.Card) doc.Document {
	d := doc.View(core.Delivery{Card: &c}, doc.Reader{
		Platform: access.Platform, Who: v.who.Actor, Apart: true, Approvers: maxApprovers, Input: markup.MaxArguments,
	})
	if v.admin() {
		where := doc.Span{Kind: doc.Said, Text: string(c.Conversation)}
		d.Fields = append(d.Fields, doc.Field{Label: "Conversation", Value: []doc.Span{where}})
	}
	return d
}

// draw writes a card for the reader.
func (v *visit) draw(c core.Card, o markup.Options) (template.HTML, error) {
	o.Now, o.ID, o.Token, o.Page = v.Now(), string(c.Approval), v.Gate.FormToken(v.who, v.r), pageOf(c.Approval)
	o.Reveal = v.Reveal != nil && c.Hidden > 0 && o.Revealed == "" && c.Refusal(v.who.Actor) == nil
	return markup.Card(c, v.view(c), o)
}

// row is a decided approval in the table of them.
type row struct {
	Page, Summary string
	State         core.ApprovalState
	Decision      string
	By            template.HTML
	At            template.HTML
	Result        template.HTML
}

func (v *visit) row(c core.Card) row {
	d := v.view(c)
	r := row{Page: pageOf(c.Approval), Summary: markup.Title(d), State: c.State, Decision: d.Headline}
	if c.State == core.Approved && c.Run == core.CallWaits {
		r.Result = "Waits to be run"
	}
	for _, f := range d.Fields {
		value := markup.Spans(f.Value, v.Now())
		switch _, how, _ := strings.Cut(f.Label, " "); {
		case f.Label == "Asked by":
			r.By = value
		case how == "by":
			r.Decision = f.Label + " " + markup.Text(f.Value)
		case how == "at":
			r.At = value
		case f.Label == "Result", f.Label == "Answer":
			r.Result = value
		}
	}
	return r
}

// said is what became of a decision of the reader, as it is stored.
func (v *visit) said(c core.Card) string {
	switch {
	case c.State != core.Open:
		return doc.Standing(c)
	case c.HasVoted(v.who.Actor, core.Approve):
		return fmt.Sprintf("Your approval is stored. It is number %d of the %d that are needed.", len(c.Voters), c.Quorum)
	case c.HasVoted(v.who.Actor, core.Deny):
		return fmt.Sprintf("Your denial is stored. It is number %d of the %d that are needed.", len(c.Against), c.Vetoes)
	}
	return ""
}
