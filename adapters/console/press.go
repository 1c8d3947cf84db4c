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

// What is typed besides messages: wordWhy denies, and wordAgain does what the button "Ask again" of a chat platform
// does.
const (
	wordWhy   = "n REASON"
	wordAgain = "/again"

	wordRemember = " and remember" // after the word that approves
	wordForget   = "/forget"       // does what the button "Stop remembering" does
)

// decision is what a line decides about an approval: y, yes and approve, or n and no, which a reason may follow. The
// action is "" if it decides nothing.
func (a *shown) decision(line string) (action chat.Action, p desk.Press) {
	word, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
	remember := strings.EqualFold(" "+reason, wordRemember)
	switch word = strings.ToLower(word); {
	case word == "n", word == "no":
		return chat.ActionDeny, desk.Press{Typed: []string{reason}}
	case reason != "" && !remember, word != "y" && word != "yes" && word != doc.ConfirmWord:
		return "", p
	case slices.Contains(a.words, doc.ConfirmWord):
		action, p = chat.ActionConfirm, desk.Press{Form: true, Typed: []string{word}}
	default:
		action = chat.ActionApprove
	}
	if remember {
		action = map[chat.Action]chat.Action{
			chat.ActionApprove: chat.ActionRemember, chat.ActionConfirm: chat.ActionConfirmRemember,
		}[action]
	}
	return action, p
}

// ended are the words that press a button of a card that is decided: which card they are for, and what is said where
// there is none.
var ended = map[string]struct {
	action chat.Action
	on     func(*shown) bool
	none   string
}{
	wordAgain:  {chat.ActionAskAgain, func(a *shown) bool { return a.again }, "Nothing here has expired that could be asked for again."},
	wordForget: {chat.ActionForget, func(a *shown) bool { return a.kept }, "Nothing here is remembered that could be stopped."},
}

// pressEnded presses the button of the last card that has one for this word. ok is false for any other line.
func (c *Console) pressEnded(ctx context.Context, accept core.Accept, l input) (stored, ok bool, err error) {
	word, ok := ended[strings.ToLower(strings.TrimSpace(l.text))]
	if !ok || l.pasted {
		return false, false, nil
	}
	c.mu.Lock()
	var card *core.Card
	for _, a := range c.cards {
		if word.on(a) {
			card = &a.card
		}
	}
	c.mu.Unlock()
	if card == nil {
		c.say(word.none)
		return false, true, nil
	}
	stored, err = c.press(ctx, accept, *card, word.action, desk.Press{})
	return stored, true, err
}

// press stores what the desk makes of an answer, or says why nothing happens. What is decided is refused at once, not
// by the store.
func (c *Console) press(
	ctx context.Context, accept core.Accept, card core.Card, action chat.Action, p desk.Press,
) (stored bool, err error) {
	look := func(context.Context, core.ApprovalID, bool) (core.Card, error) { return card, nil }
	at := desk.Desk{Platform: Name, Card: look, Strict: card.State != core.Open, Log: c.opt.Log}
	p.Who, p.Conversation, p.Address, p.ID = c.opt.Actor, c.conversation, c.address(), c.opt.NewID()
	switch made := at.Press(ctx, chat.CardButton(card, action), p).(type) {
	case desk.Event:
		before := c.answered(card.Approval, true) // what comes of it may be told before accept returns
		if stored, err = c.submit(ctx, accept, made.Event); !stored {
			c.answered(card.Approval, before)
		}
	case desk.Say:
		c.say(made.Text())
	}
	return stored, err
}

// answered notes whether this person has answered a card, and returns whether they had.
func (c *Console) answered(id core.ApprovalID, now bool) (before bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	a := c.find(id)
	before, a.answered, c.last = a.answered, now, id
	return before
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
