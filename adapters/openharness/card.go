package openharness

import (
	"context"
	"fmt"
	"strconv"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/markup"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/internal/safetext"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// card draws an approval in its current state. Only a reader who may decide gets tokens that do; all get one that reads
// the state. reviewed: this is the second step.
func (c *call) card(
	ctx context.Context, p storedPost, about map[string]any, reviewed bool,
) (d wire.Directive, err error) {
	approval, err := c.Store.LoadApproval(ctx, p.Approval)
	if core.CategoryOf(err) == core.NotFound {
		return said(c.desk.CardGone, about), nil
	}
	if err != nil {
		return d, err
	}
	card, err := c.Cards.Card(ctx, p.Approval, false)
	if err != nil {
		return d, err
	}
	run := approval.Invocation
	about["approval"], about["status"], about["state"] = string(card.Approval), c.statusToken(run), string(card.State)
	post := core.Post{Occasion: p.Occasion, LeftOut: p.LeftOut, Pressed: p.Pressed}
	reader := doc.Reader{Platform: Name, Who: c.who.Actor, Texts: c.desk.Texts, Pages: c.Gate.Address}
	v := doc.View(core.Delivery{Post: post, Card: &card, Late: p.Late}, reader)
	d = wire.Directive{ActionType: wire.Namespace + ".approval", Payload: payloadOf(v, card), Extensions: vendor(about)}
	d.Payload["run_id"] = string(run)
	if key, _ := about["id"].(string); c.html {
		about["html"], err = markup.Card(card, v, markup.Options{Now: c.Now(), ID: key, Reviewed: reviewed})
	}
	holder := d.Payload // of the choices
	if card.State == core.Open {
		d.ActionType, d.Priority, d.Execution, d.RiskTier = "request_approval", "high", "sequential", "caution"
		if card.Risk == core.Dangerous {
			d.RiskTier = "dangerous"
		}
		if !card.Deadline.IsZero() {
			left := max(0, card.Deadline.Sub(c.Now()).Milliseconds())
			d.DeadlineMS = &left
		}
		if c.request.TextOnly { // its Shell shows no approvals
			address := reader.Pages + "/approvals/" + safetext.Name(string(card.Approval))
			page := wording.Fill(v.DecideOnPage, "{page}", address)
			d, holder = said(fmt.Sprint(d.Payload["message"], "\n", page), about), about
		}
	}
	if choices := c.choices(v, card, run, reviewed, about); choices != nil {
		holder["choices"] = choices
	}
	return d, err
}

// choices are what the reader may press to decide, each with a token of its own. What else they may do is said about
// the card.
func (c *call) choices(
	v doc.Document, card core.Card, run core.InvocationID, reviewed bool, about map[string]any,
) (all []map[string]any) {
	for _, one := range append(v.Answers(), v.Cut(0, 0)...) {
		t := token{Action: one.Action, Subject: string(card.Approval), Edits: card.Edits}
		switch one.Action {
		case outbound.ActionAnswer:
			t.Edits = 0
			about["answer"] = c.continuation(run, t)
			if t.Edits = one.Option; one.Option == 0 {
				continue
			}
		case outbound.ActionApprove:
			if one.Cautions != "" && !reviewed {
				t.Action, one.Label = actReview, v.ButtonReview
			}
		case outbound.ActionRemember:
			if one.Cautions != "" && !reviewed {
				continue
			}
		case outbound.ActionReason:
			t.Action = outbound.ActionDeny
		}
		b := c.button(one.Label, run, t)
		switch {
		case one.Option > 0:
			b["id"] = "option-" + strconv.Itoa(one.Option)
		case t.Action == outbound.ActionDeny && card.NeedsWhy:
			b["needs_reason"] = true
		case t.Action == outbound.ActionWithdraw:
			about["withdraw"] = b["continuation"]
			continue
		case t.Action == outbound.ActionAskAgain, t.Action == outbound.ActionForget:
			about["actions"] = []map[string]any{b}
			continue
		}
		all = append(all, b)
	}
	return all
}

// button is something to press, for Shells.
func (c *call) button(label string, run core.InvocationID, t token) map[string]any {
	return map[string]any{"id": string(t.Action), "label": label, "continuation": c.continuation(run, t)}
}
