package console

import (
	"context"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/desk"
	"gatehouse/core"
)

// wordAgain asks for what expired last once more, as the button "Ask again" of a chat platform does.
const wordAgain = "/again"

// asksAgain reports whether a line asks again for what expired.
func asksAgain(l input) bool {
	return !l.pasted && strings.EqualFold(strings.TrimSpace(l.text), wordAgain)
}

// askAgain stores the press that asks again for what expired last.
func (c *Console) askAgain(ctx context.Context, accept core.Accept) (bool, error) {
	c.mu.Lock()
	id := c.cards.expired
	c.mu.Unlock()
	if id == "" {
		c.say("Nothing here has expired that could be asked for again.")
		return false, nil
	}
	return c.press(ctx, accept, chat.Button{Action: chat.ActionAskAgain, Approval: id}, desk.Press{})
}

// expire keeps what was printed of a card that expired, for askAgain.
func (t *shownCards) expire(said saying) {
	switch {
	case said.again:
		t.expired = said.card.Approval
	case t.expired == said.card.Approval: // it was asked again
		t.expired = ""
	}
}
