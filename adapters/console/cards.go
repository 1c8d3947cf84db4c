package console

import (
	"slices"
	"strings"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/wording"
	"gatehouse/core"
)

// The caller of what is in this file holds mu, but that of showCard, target and reopenAnswered.

// find returns a card that was printed, or none.
func (c *Console) find(id core.ApprovalID) *shown {
	for _, a := range c.cards {
		if a.card.Approval == id {
			return a
		}
	}
	return &shown{}
}

// current is the card that a line answers: the last open one without an answer or, if all have one, the last approval.
// A second y is then answered with the approval's state and does not become a message.
func (c *Console) current() *shown {
	current := &shown{}
	for _, a := range slices.Backward(c.cards) {
		switch {
		case a.open() && !a.answered:
			return a
		case a.open() && !current.open() && a.card.Question == nil:
			current = a
		}
	}
	return current
}

// put makes a card the last one.
func (c *Console) put(a *shown) {
	c.cards = append(slices.DeleteFunc(c.cards, func(other *shown) bool { return other == a }), a)
}

// minShortID is how much of an id is shown at least.
const minShortID = 8

// shortID is the beginning of a card's id that no other open card's id has; "" where no other is open.
func (c *Console) shortID(a *shown) string {
	id, n, several := string(a.card.Approval), minShortID, false
	for _, other := range c.cards {
		if other == a || !other.open() {
			continue
		}
		for several = true; n < len(id) && strings.HasPrefix(string(other.card.Approval), id[:n]); n++ {
		}
	}
	if !several {
		return ""
	}
	return strings.TrimRight(oneLine(id[:min(n, len(id))]), "-")
}

// target returns the card that a line is for.
func (c *Console) target(l input) shown {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l.target != nil {
		return *c.find(*l.target)
	}
	return *c.current()
}

// reopenAnswered makes the card that was answered last the one that the next answer is for: the answer was not stored,
// or a private message says why it did not count. Otherwise the next answer would be for another card.
func (c *Console) reopenAnswered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if a := c.find(c.last); a.open() && a.answered {
		a.answered, a.typed = false, nil
		c.put(a)
	}
}

// showCard prints a card: all of it the first time and when its arguments have changed, which makes it another card to
// answer; later what is new. After a decision it names the next open card again, which the next answer is for.
func (c *Console) showCard(d core.Delivery) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	reader := doc.Reader{Platform: Name, IDs: true, Texts: c.texts}
	if d.Card.State == core.Open && len(d.Card.Approvers) > 0 {
		reader.Who = c.opt.Actor
	}
	v := doc.View(d, reader)
	a, now := c.find(d.Card.Approval), read(*d.Card, v)
	now.answered = (d.Card.Question != nil || reader.Who.ID != "") && d.Card.Refusal(c.opt.Actor) != nil
	var before, first []string
	if a.lines != nil && a.card.Edits == d.Card.Edits {
		before, now.answered, now.typed = a.lines, a.answered, a.typed
	}
	if d.Occasion != "" && now.open() {
		first = append(first, v.Headline+": "+now.title+" ("+doc.ShortID(d.Card.Approval)+")")
	}
	if v.Late != "" && before == nil {
		first = append(first, v.Late)
	}
	if err := c.print(c.look().lines(now, now.edge, first...) + c.look().news(now, before)); err != nil {
		return err
	}
	defer c.repaint()
	wasOpen := a.open()
	if *a = now; !wasOpen || !a.open() {
		c.put(a)
	}
	next := c.current()
	if !wasOpen || a.open() || !next.open() || next.answered {
		return nil
	}
	title := next.title
	if which := c.shortID(next); which != "" {
		title += " (" + which + ")"
	}
	asks, _ := next.asks()
	asks[len(asks)-1] = wording.Fill(c.texts.TerminalStillOpen, "{what}", title, "{asks}", asks[len(asks)-1])
	return c.print(c.look().lines(*next, next.edge, asks...))
}
