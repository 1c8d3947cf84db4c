package console

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
)

// shownCards holds the cards that were shown, in the order of showing.
type shownCards struct {
	open    []shownCard
	printed map[core.ApprovalID]string // what a card looked like when it was last printed
}

type shownCard struct {
	card     core.Card
	answered bool // this person has answered it; it may still wait for others
}

// current is the card that y and n belong to: the last one not answered or, where all are, the last one, so that a second y is
// answered by where the approval stands instead of becoming a message.
func (t *shownCards) current() core.ApprovalID {
	for i := len(t.open) - 1; i >= 0; i-- {
		if !t.open[i].answered {
			return t.open[i].card.Approval
		}
	}
	if n := len(t.open); n > 0 {
		return t.open[n-1].card.Approval
	}
	return ""
}

func (t *shownCards) index(id core.ApprovalID) int {
	return slices.IndexFunc(t.open, func(a shownCard) bool { return a.card.Approval == id })
}

// put keeps an open card, which is then asked first, and forgets any other.
func (t *shownCards) put(card core.Card) {
	t.open = slices.DeleteFunc(t.open, func(a shownCard) bool { return a.card.Approval == card.Approval })
	if card.State == core.Open {
		t.open = append(t.open, shownCard{card: card})
	}
}

// answerTarget gives the card that an answer is for; stillOpen is false where that card is not open any more.
func (c *Console) answerTarget(target *core.ApprovalID) (id core.ApprovalID, stillOpen bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if target == nil {
		id = c.cards.current()
		return id, id != ""
	}
	return *target, c.cards.index(*target) >= 0
}

func (c *Console) markAnswered(id core.ApprovalID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.cards.index(id); i >= 0 {
		c.cards.open[i].answered = true
	}
}

// showCard prints a card as it stands, unless exactly that was printed already. Once one is decided, the next that waits is
// named again, so that it is plain what the next answer is for.
func (c *Console) showCard(card core.Card, late bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := c.style.card(card)
	if c.cards.printed[card.Approval] == text {
		return nil
	}
	known := c.cards.index(card.Approval) >= 0
	out := text
	if late && card.State == core.Open {
		out = c.style.approval("(late) this has waited for a while:") + text
	}
	voted := known && card.State == core.Open // only its votes have changed
	if voted {
		out = c.style.approval(fmt.Sprintf("%d of %d approvals: %s", card.Votes, max(1, card.Quorum), oneLine(card.Summary)))
	}
	if err := c.print(out); err != nil {
		return err
	}
	if c.cards.printed == nil {
		c.cards.printed = map[core.ApprovalID]string{}
	}
	c.cards.printed[card.Approval] = text
	if voted {
		c.cards.open[c.cards.index(card.Approval)].card = card
		return nil
	}
	c.cards.put(card)
	defer c.repaint()
	if i := c.cards.index(c.cards.current()); known && i >= 0 && !c.cards.open[i].answered {
		return c.print(c.style.approval(oneLine(c.cards.open[i].card.Summary) + " still waits: answer y, n or n REASON"))
	}
	return nil
}

// decisionLine says in one line what became of an approval.
func decisionLine(card core.Card) string {
	what := oneLine(card.Summary)
	if what == "" {
		what = oneLine(card.Tool)
	}
	why := ""
	if reason := oneLine(card.Reason); reason != "" {
		why = " (" + reason + ")"
	}
	by := oneLine(card.DecidedBy)
	if by == "" {
		by = "somebody"
	}
	switch card.State {
	case core.Approved:
		return "approved by " + by + ": " + what + why
	case core.Refused:
		return "refused by " + by + ": " + what + why
	case core.Expired:
		return "expired, nobody decided in time: " + what
	case core.Cancelled:
		return "cancelled: " + what + why
	}
	return oneLine(string(card.State)) + ": " + what
}

// cardLines are the lines of an open card below its first.
func cardLines(card core.Card) []string {
	var lines []string
	if card.Arguments != "" {
		lines = strings.Split(Sanitize(arguments(card.Arguments)), "\n")
		lines[0] = "arguments: " + lines[0]
	}
	about := "id " + oneLine(string(card.Approval))
	if card.Requester != "" {
		about += ", asked by " + oneLine(card.Requester)
	}
	if card.Quorum > 1 {
		about += fmt.Sprintf(", %d of %d approvals", card.Votes, card.Quorum)
	}
	if !card.Deadline.IsZero() {
		about += ", until " + card.Deadline.Local().Format("2006-01-02 15:04 MST")
	}
	return append(lines, about, "answer y, n or n REASON")
}

// arguments sets short arguments on one line; longer ones stay as they are.
func arguments(pretty string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(pretty)) == nil && b.Len() <= 100 {
		return b.String()
	}
	return pretty
}
