package openharness

import (
	"context"
	"fmt"
	"strconv"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// card draws an approval in its current state. Only a reader who may decide gets tokens that do; all get one that reads the state. reviewed: this
// is the second step.
func (c *call) card(ctx context.Context, p storedPost, about map[string]any, reviewed bool) (wire.Directive, error) {
	approval, err := c.Store.LoadApproval(ctx, p.Approval)
	if core.CategoryOf(err) == core.NotFound {
		return said("An approval was requested here. It is no longer stored.", about), nil
	}
	if err != nil {
		return wire.Directive{}, err
	}
	card, err := c.Card(ctx, p.Approval, false)
	if err != nil {
		return wire.Directive{}, err
	}
	run := approval.Invocation
	about["approval"], about["status"], about["state"] = string(card.Approval), c.statusToken(run), string(card.State)
	delivery := core.Delivery{Post: core.Post{Occasion: p.Occasion, LeftOut: p.LeftOut}, Card: &card, Late: p.Late}
	d := wire.Directive{ActionType: wire.Namespace + ".approval", Payload: payloadOf(delivery), Extensions: vendor(about)}
	d.Payload["run_id"] = string(run)
	switch {
	case card.State == core.Open:
		d.ActionType, d.Priority, d.Execution, d.RiskTier = "request_approval", "high", "sequential", riskTier(card)
		if !card.Deadline.IsZero() {
			left := max(0, card.Deadline.Sub(c.Now()).Milliseconds())
			d.DeadlineMS = &left
		}
		if card.Question != nil && card.Refusal(c.who.Actor) == nil {
			about["answer"] = c.continuation(c.who, run, token{Action: actAnswer, Subject: string(card.Approval)})
		}
		holder := d.Payload // of the choices
		if c.request.TextOnly {
			d, holder = said(fmt.Sprint(d.Payload["message"], "\n", howToDecide(card)), about), about
		}
		if choices := c.choices(card, run, reviewed); len(choices) > 0 {
			holder["choices"] = choices
		}
		if card.AskedBy(c.who.Actor) {
			about["withdraw"] = c.continuation(c.who, run, token{Action: actWithdraw, Subject: string(card.Approval), Edits: card.Edits})
		}
	case card.State == core.Expired && card.AskedBy(c.who.Actor) && !p.Pressed:
		about["actions"] = []map[string]any{{"id": string(actAskAgain), "label": "Ask again", "continuation": c.continuation(c.who, run, token{Action: actAskAgain, Subject: string(card.Approval)})}}
	}
	return d, nil
}

func riskTier(card core.Card) string {
	if card.Risk == core.Dangerous {
		return "dangerous"
	}
	return "caution"
}

// choices are what the reader may decide, each with a token of its own; none if they may not. reviewed: this is the second step.
func (c *call) choices(card core.Card, run core.InvocationID, reviewed bool) []map[string]any {
	if card.Refusal(c.who.Actor) != nil {
		return nil
	}
	choice := func(id, label string, a action) map[string]any {
		return map[string]any{"id": id, "label": label, "continuation": c.continuation(c.who, run, token{Action: a, Subject: string(card.Approval), Edits: card.Edits})}
	}
	var all []map[string]any
	if card.Question != nil {
		for i, option := range card.Question.Options() {
			t := token{Action: actAnswer, Subject: string(card.Approval), Edits: i + 1}
			all = append(all, map[string]any{"id": "option-" + strconv.Itoa(i+1), "label": option.Title, "continuation": c.continuation(c.who, run, t)})
		}
		return all
	}
	switch {
	case card.Altered:
	case chat.NeedsReview(card) && !reviewed:
		all = append(all, choice("review", "Review", actReview))
	default:
		all = append(all, choice("approve", "Approve", actApprove))
	}
	deny := choice("deny", "Deny", actDeny)
	if card.NeedsWhy {
		deny["needs_reason"] = true
	}
	return append(all, deny)
}
