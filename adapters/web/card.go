package web

import (
	"html/template"
	"strconv"

	"gatehouse/adapters/access"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/markup"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// maxApprovers is how many of those who may decide are named.
const maxApprovers = 10

// view is what a card says to the reader.
func (v *request) view(c core.Card) doc.Document {
	d := doc.View(core.Delivery{Card: &c}, doc.Reader{
		Platform: access.Platform, Who: v.who.Actor, Apart: true, Approvers: maxApprovers, Input: markup.MaxArguments,
		Texts: v.texts, Pages: v.Gate.Address,
	})
	if v.admin() {
		where := doc.Span{Kind: doc.Said, Text: string(c.Conversation)}
		d.Fields = append(d.Fields, doc.Field{Label: v.texts.LabelConversation, Value: []doc.Span{where}})
	}
	return d
}

// draw writes a card for the reader.
func (v *request) draw(c core.Card, o markup.Options) (template.HTML, error) {
	o.Now, o.ID, o.Token, o.Page = v.Now(), string(c.Approval), v.Gate.FormToken(v.who, v.r), v.Gate.At(pageOf(c.Approval))
	o.All, o.Who = v.Gate.At("/approvals"), v.who.Name
	o.Reveal = v.Secrets != nil && c.Hidden > 0 && o.Revealed == "" && c.Refusal(v.who.Actor) == nil
	return markup.Card(c, v.view(c), o)
}

// row is a decided approval in the table of them.
type row struct {
	Approval      core.ApprovalID
	Page, Summary string
	State         core.ApprovalState
	Decision      string
	By            template.HTML
	At            template.HTML
	Result        template.HTML
}

func (v *request) row(c core.Card) row {
	d := v.view(c)
	r := row{
		Approval: c.Approval, Page: pageOf(c.Approval), Summary: markup.Title(d), State: c.State, Decision: d.Headline,
	}
	if c.State == core.Approved && c.Run == core.CallWaits {
		r.Result = template.HTML(template.HTMLEscapeString(d.PageWaits))
	}
	for _, f := range d.Fields {
		value := markup.Spans(f.Value, v.Now())
		switch f.Part {
		case doc.AskedBy:
			r.By = value
		case doc.DecidedBy:
			r.Decision = f.Label + " " + markup.Text(f.Value)
		case doc.DecidedAt:
			r.At = value
		case doc.Result, doc.Answer:
			r.Result = value
		}
	}
	return r
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
	}
	return ""
}

func numbered(text string, n, of int) string {
	return wording.Fill(text, "{count}", strconv.Itoa(n), "{of}", strconv.Itoa(of))
}
