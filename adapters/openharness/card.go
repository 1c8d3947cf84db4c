package openharness

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/openharness/internal/wire"
	"gatehouse/core"
)

// card draws an approval in its current state. Only a reader who may decide gets tokens that do; all get one that reads the state.
func (c *call) card(ctx context.Context, p storedPost, about map[string]any) (wire.Directive, error) {
	approval, err := c.Store.LoadApproval(ctx, p.Approval)
	if core.CategoryOf(err) == core.NotFound {
		text := "An approval was requested here. It is no longer stored."
		return wire.Directive{ActionType: "render_message", Payload: map[string]any{"text": text, "message": text}, Extensions: vendor(about)}, nil
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
	d := wire.Directive{ActionType: wire.Namespace + ".approval", Payload: c.facts(card, p.Occasion), Extensions: vendor(about)}
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
		if choices := c.choices(card, run, false); len(choices) > 0 {
			d.Payload["choices"] = choices
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

// facts are what a reader of the card is told. All of it is text without markup; secrets are masked, and what is invisible is written out.
func (c *call) facts(card core.Card, o core.Occasion) map[string]any {
	facts := map[string]any{
		"message": message(card, o), "headline": chat.Headline(card, o), "tool": card.Tool, "summary": card.Summary, "arguments": card.Arguments,
		"requester": chat.PersonName(card.Requested, card.Requester, chat.Name), "state": string(card.State), "hidden_characters": card.Hidden,
		"created_at": card.CreatedAt.UTC().Format(time.RFC3339), "approvals": strconv.Itoa(len(card.Voters)) + " of " + strconv.Itoa(card.Quorum),
	}
	if card.Question != nil {
		delete(facts, "tool")
		delete(facts, "arguments")
		delete(facts, "approvals")
		facts["question"], facts["summary"] = describe(*card.Question), card.Question.Text
	}
	set := func(key, value string) {
		if value != "" {
			facts[key] = value
		}
	}
	set("asked", card.Asked.Message)
	set("changed", card.Changed)
	set("outcome", card.RunText())
	set("cautions", strings.Join(chat.Warnings(card), " "))
	set("reason", card.Reason)
	set("answer", card.Answer)
	if card.Edits > 0 {
		set("edited", fmt.Sprintf("%s changed the arguments.", chat.PersonName(card.Editor, "", chat.Name)))
	}
	if !card.Deadline.IsZero() {
		set("deadline", card.Deadline.UTC().Format(time.RFC3339))
	}
	if card.State != core.Open {
		set("standing", chat.Standing(card))
	}
	return facts
}

// message is the card in one text, for Shells that can't draw it.
func message(card core.Card, o core.Occasion) string {
	if card.Question != nil {
		return asMessage(card, o)
	}
	text := chat.Headline(card, o) + ": " + card.Summary
	if card.State != core.Open {
		text = chat.Standing(card) + " " + card.Summary
	}
	if outcome := card.RunText(); outcome != "" {
		text += " (" + outcome + ")"
	}
	return text
}
