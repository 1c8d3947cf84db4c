package web

import (
	"html/template"

	"gatehouse/adapters/access"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/markup"
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
		if _, _, known := v.Platforms.Of(where.Text); known {
			where.Text = v.conversationInWords(c.Conversation)
		}
		d.Fields = append(d.Fields, doc.Field{Label: v.texts.LabelConversation, Value: []doc.Span{where}})
	}
	return d
}

// draw writes a card for the reader.
func (v *request) draw(c core.Card, o markup.Options) (template.HTML, error) {
	o.Now, o.ID, o.Page = v.Now(), string(c.Approval), v.Gate.At(pageOf(c.Approval))
	o.Token = v.Gate.FormToken(v.who, v.r)
	o.All, o.Who = v.Gate.At("/approvals"), v.who.Name
	o.Reveal = v.Secrets != nil && c.Hidden > 0 && o.Revealed == "" && c.Refusal(v.who.Actor) == nil
	return markup.Card(c, v.view(c), o)
}
