package openharness

import (
	"context"
	"fmt"
	"strconv"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/markup"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// card draws an approval in its current state. Only a reader who may decide gets tokens that do; all get one that reads
// the state. reviewed: this is the second step.
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
	post := core.Post{Occasion: p.Occasion, LeftOut: p.LeftOut, Pressed: p.Pressed}
	v := doc.View(core.Delivery{Post: post, Card: &card, Late: p.Late}, doc.Reader{Platform: Name, Who: c.who.Actor})
	d := wire.Directive{ActionType: wire.Namespace + ".approval", Payload: payloadOf(v, card), Extensions: vendor(about)}
	d.Payload["run_id"] = string(run)
	if key, _ := about["id"].(string); c.html {
		about["html"], err = markup.Card(card, v, markup.Options{Now: c.Now(), ID: key, Reviewed: reviewed})
		if err != nil {
			return d, err
		}
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
		if c.request.TextOnly {
			d, holder = said(fmt.Sprint(d.Payload["message"], "\n", howToDecide(card)), about), about
		}
	}
	c.offer(v, card, run, reviewed, holder, about)
	return d, nil
}

// offer adds what the reader may press, each with a token of its own: decisions among the choices of holder, the rest to
// what is said about the card.
func (c *call) offer(
	v doc.Document, card core.Card, run core.InvocationID, reviewed bool, holder, about map[string]any,
) {
	var choices []map[string]any
	for _, one := range append(v.Answers(), v.Cut(0, 0)...) {
		t := token{Action: action(one.Action), Subject: string(card.Approval), Edits: card.Edits}
		if one.Action == chat.ActionAnswer {
			t.Edits = 0
			about["answer"] = c.continuation(c.who, run, t)
			if t.Edits = one.Option; one.Option == 0 {
				continue
			}
		}
		entry := map[string]any{"id": string(one.Action), "label": one.Label}
		decision := true
		switch one.Action {
		case chat.ActionAnswer:
			entry["id"] = "option-" + strconv.Itoa(one.Option)
		case chat.ActionApprove:
			if one.Cautions != "" && !reviewed {
				t.Action, entry["id"], entry["label"] = actReview, "review", "Review"
			}
		case chat.ActionRemember:
			if one.Cautions != "" && !reviewed {
				continue
			}
		case chat.ActionReason:
			t.Action, entry["id"] = actDeny, "deny"
			if card.NeedsWhy {
				entry["needs_reason"] = true
			}
		default:
			decision = false
		}
		entry["continuation"] = c.continuation(c.who, run, t)
		switch {
		case decision:
			choices = append(choices, entry)
		case one.Action == chat.ActionWithdraw:
			about["withdraw"] = entry["continuation"]
		default:
			about["actions"] = []map[string]any{entry}
		}
	}
	if choices != nil {
		holder["choices"] = choices
	}
}
