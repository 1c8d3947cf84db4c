package console

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// What is typed besides messages: wordWhy denies, and wordAgain does what the button "Ask again" of a chat platform does.
const (
	wordWhy   = "n REASON"
	wordAgain = "/again"
)

// decision is what a line decides about an approval: y, yes and approve, or n and no, which a reason may follow. ok is false if it decides nothing.
func (a *shown) decision(line string) (action chat.Action, p desk.Press, ok bool) {
	word, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch strings.ToLower(word) {
	case "y", "yes", doc.ConfirmWord:
		if slices.Contains(a.words, doc.ConfirmWord) {
			return chat.ActionConfirm, desk.Press{Form: true, Typed: []string{word}}, reason == ""
		}
		return chat.ActionApprove, p, reason == ""
	case "n", "no":
		return chat.ActionDeny, desk.Press{Typed: []string{reason}}, true
	}
	return "", p, false
}

// askAgain asks for what expired last once more.
func (c *Console) askAgain(ctx context.Context, accept core.Accept) (bool, error) {
	c.mu.Lock()
	card := core.Card{}
	for _, a := range c.cards {
		if a.again {
			card = a.card
		}
	}
	c.mu.Unlock()
	if card.Approval == "" {
		c.say("Nothing here has expired that could be asked for again.")
		return false, nil
	}
	return c.press(ctx, accept, card, chat.ActionAskAgain, desk.Press{})
}

// press stores what the desk makes of an answer, or says why nothing happens. What is decided is refused at once, not by the store.
func (c *Console) press(ctx context.Context, accept core.Accept, card core.Card, action chat.Action, p desk.Press) (stored bool, err error) {
	p.Who, p.Conversation, p.Address = c.opt.Actor, c.conversation, core.Address{Platform: Name, Channel: c.opt.Session}
	p.ID = c.opt.NewID()
	at := desk.Desk{Platform: Name, Card: c.shownCard, Strict: card.State != core.Open, Log: c.opt.Log}
	switch made := at.Press(ctx, chat.CardButton(card, action), p).(type) {
	case desk.Event:
		stored, err = c.submit(ctx, accept, made.Event)
	case desk.Say:
		c.say(made.Text())
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.find(card.Approval); stored {
		a.answered, a.typed, c.last = true, nil, card.Approval
	}
	return stored, err
}

// shownCard is a card as it was printed last.
func (c *Console) shownCard(_ context.Context, id core.ApprovalID, _ bool) (core.Card, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(id).card, nil
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
