package console

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// wordAgain is typed for what the button "Ask again" of a chat platform does.
const wordAgain = "/again"

// decision is what a line decides about an approval: y, yes and approve, or n and no, which a reason may follow. The
// action is "" if it decides nothing.
func (a *shown) decision(line string) (action chat.Action, p desk.Press) {
	word, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
	switch word = strings.ToLower(word); {
	case a.lines == nil || a.card.Question != nil:
		return "", p
	case word == "n", word == "no":
		return chat.ActionDeny, desk.Press{Typed: []string{reason}}
	case reason != "", word != "y" && word != "yes" && word != doc.ConfirmWord:
		return "", p
	case slices.Contains(a.words, doc.ConfirmWord):
		return chat.ActionConfirm, desk.Press{Form: true, Typed: []string{word}}
	}
	return chat.ActionApprove, p
}

// askAgain asks for what expired last once more.
func (c *Console) askAgain(ctx context.Context) error {
	c.mu.Lock()
	var expired core.Card
	for _, a := range c.cards {
		if a.again {
			expired = a.card
		}
	}
	c.mu.Unlock()
	if expired.Approval == "" {
		c.say(c.texts.TerminalNoneExpired)
		return nil
	}
	return c.press(ctx, expired, chat.ActionAskAgain, desk.Press{})
}

// press stores what the desk makes of an answer, or says why nothing happens, which is its error then. What is decided
// is refused at once, not by the store.
func (c *Console) press(ctx context.Context, card core.Card, action chat.Action, p desk.Press) error {
	look := func(context.Context, core.ApprovalID, bool) (core.Card, error) { return card, nil }
	at := desk.Desk{Platform: Name, Card: look, Strict: card.State != core.Open, Texts: c.texts, Log: c.opt.Log}
	p.Who, p.Conversation, p.Address, p.ID = c.opt.Actor, c.conversation, c.address(), c.opt.NewID()
	made := at.Press(ctx, chat.CardButton(card, action), p)
	if refused, ok := made.(desk.Say); ok {
		c.say(refused.Text())
		return refused.Err
	}
	c.mu.Lock()
	c.find(card.Approval).answered, c.last = true, card.Approval // what comes of it may be told before accept returns
	c.mu.Unlock()
	err := c.submit(ctx, made.(desk.Event).Event)
	if err != nil {
		c.reopenAnswered()
	}
	return err
}

// OldClick reads a decision whose number of edits was stored as text.
func (c *Console) OldClick(e core.Event) (core.Click, error) {
	var p struct {
		core.Click
		Edits *uint `json:"edits,string"`
	}
	err := json.Unmarshal(e.Payload, &p)
	if err != nil || p.Edits == nil || p.Approval == "" || string(p.Approval) != e.Subject() || p.Choice == "" {
		return core.Click{}, core.Wrap(core.Invalid, err,
			"The input from the terminal is no answer to the approval %q.", e.Subject())
	}
	p.Click.Edits = int(*p.Edits)
	return p.Click, nil
}
