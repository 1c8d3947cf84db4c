package console

import (
	"context"
	"encoding/json"
	"strconv"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/desk"
	"gatehouse/core"
)

// press stores what the desk makes of an answer, or says why nothing happens.
func (c *Console) press(ctx context.Context, accept core.Accept, b chat.Button, p desk.Press) (stored bool, err error) {
	p.Who, p.Conversation, p.Address = c.opt.Actor, c.conversation, core.Address{Platform: Name, Channel: c.opt.Session}
	p.ID = c.opt.NewID()
	at := desk.Desk{Platform: Name, Card: c.shownCard, Log: c.opt.Log}
	switch a := at.Press(ctx, b, p).(type) {
	case desk.Event:
		return c.submit(ctx, accept, a.Event)
	case desk.Say:
		c.say(a.Text())
	}
	return false, nil
}

// shownCard is a card as it was printed last.
func (c *Console) shownCard(_ context.Context, id core.ApprovalID, _ bool) (core.Card, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.cards.index(id); i >= 0 {
		return c.cards.open[i].card, nil
	}
	return core.Card{}, core.Errorf(core.NotFound, "The card of %s is not open here.", id)
}

// decide stores a y or an n. A y is not enough for what must be spelled.
func (c *Console) decide(ctx context.Context, accept core.Accept, id core.ApprovalID, l input, choice core.Choice, reason string) (bool, error) {
	card, _ := c.shownCard(ctx, id, false)
	b, p := chat.CardButton(card, chat.ActionApprove), desk.Press{}
	_, why := approving(card)
	switch {
	case choice == core.Deny:
		b.Action, p.Typed = chat.ActionDeny, []string{reason}
	case why != "":
		b.Action, p.Form, p.Typed = chat.ActionConfirm, true, []string{l.text}
	}
	return c.press(ctx, accept, b, p)
}

// OldClick reads a decision whose number of edits was stored as text.
func (c *Console) OldClick(e core.Event) (core.Click, error) {
	var p struct {
		core.Click
		Edits string `json:"edits"`
	}
	err := json.Unmarshal(e.Payload, &p)
	if err == nil {
		p.Click.Edits, err = strconv.Atoi(p.Edits)
	}
	if err != nil || p.Click.Edits < 0 || p.Approval == "" || string(p.Approval) != e.Subject() || p.Choice == "" {
		return core.Click{}, core.Wrap(core.Invalid, err, "The input from the terminal is no answer to the approval %q.", e.Subject())
	}
	return p.Click, nil
}
