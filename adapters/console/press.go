package console

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"gatehouse/adapters/internal/desk"
	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/core"
)

// wordAgain and wordForget are typed for what the buttons "Ask again" and "Stop remembering" of a chat platform do;
// wordRemember follows the word that approves.
const (
	wordStatus   = "/status" // prints what is open
	wordAgain    = "/again"
	wordForget   = "/forget"
	wordRemember = " and remember"
)

// endedWords are the words that press a button of a card that is decided.
var endedWords = map[string]outbound.Action{wordAgain: outbound.ActionAskAgain, wordForget: outbound.ActionForget}

// decision is what a line decides about an approval: y, yes and approve, which wordRemember may follow, or n and no,
// which a reason may follow. The action is "" if it decides nothing.
func (a *shown) decision(line string) (action outbound.Action, p desk.Press) {
	word, reason, _ := strings.Cut(strings.TrimSpace(line), " ")
	remember := strings.EqualFold(" "+reason, wordRemember)
	switch word = strings.ToLower(word); {
	case a.lines == nil || a.card.Question != nil:
		return "", p
	case word == "n", word == "no":
		return outbound.ActionDeny, desk.Press{Typed: []string{reason}}
	case reason != "" && !remember, word != "y" && word != "yes" && word != doc.ConfirmWord:
		return "", p
	case !slices.Contains(a.words, doc.ConfirmWord):
		return map[bool]outbound.Action{false: outbound.ActionApprove, true: outbound.ActionRemember}[remember], p
	}
	action = map[bool]outbound.Action{false: outbound.ActionConfirm, true: outbound.ActionConfirmRemember}[remember]
	return action, desk.Press{Form: true, Typed: []string{word}}
}

// pressEnded presses a button of the last card that is decided and has it.
func (c *Console) pressEnded(ctx context.Context, action outbound.Action) error {
	c.mu.Lock()
	var card core.Card
	for _, a := range c.cards {
		if action == outbound.ActionAskAgain && a.again || action == outbound.ActionForget && a.kept {
			card = a.card
		}
	}
	c.mu.Unlock()
	if card.Approval != "" {
		return c.press(ctx, card, action, desk.Press{})
	}
	c.say(map[outbound.Action]string{
		outbound.ActionAskAgain: c.texts.TerminalNoneExpired, outbound.ActionForget: c.texts.TerminalNoneKept,
	}[action])
	return nil
}

// press stores what the desk makes of an answer, or says why nothing happens, which is its error then. What is decided
// is refused at once, not by the store.
func (c *Console) press(ctx context.Context, card core.Card, action outbound.Action, p desk.Press) error {
	at := desk.Desk{
		Platform: Name, Cards: desk.Shown(card), Strict: card.State != core.Open, Texts: c.texts, Log: c.opt.Log,
	}
	p.Who, p.Conversation, p.Address, p.ID = c.opt.Actor, c.conversation, c.address(), c.opt.NewID()
	made := at.Press(ctx, outbound.CardButton(card, action), p)
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
