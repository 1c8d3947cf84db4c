package console

import (
	"slices"
	"strconv"
	"strings"

	"gatehouse/adapters/internal/doc"
	"gatehouse/adapters/internal/outbound"
	"gatehouse/adapters/wording"
)

// chosen returns a line that names the card which it decides, "approve 01a21fd0", as one for that card, without the
// name. ok is false for any other line.
func (c *Console) chosen(l input) (one input, ok bool) {
	word, rest, _ := strings.Cut(strings.TrimSpace(l.text), " ")
	id, rest, _ := strings.Cut(strings.TrimSpace(rest), " ")
	if l.pasted || len(id) < minShortID || !decides[strings.ToLower(word)] {
		return l, false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	var named []*shown
	for _, a := range c.openApprovals() {
		if strings.HasPrefix(string(a.card.Approval), id) {
			named = append(named, a)
		}
	}
	if len(named) != 1 {
		return l, false
	}
	l.text, l.target = strings.TrimSpace(word+" "+rest), &named[0].card.Approval
	return l, true
}

// decides are the words that decide a card.
var decides = map[string]bool{"y": true, "yes": true, "n": true, "no": true, doc.ConfirmWord: true}

// ambiguous answers a line that decides one of several open approvals and names none: it lists them, and decides
// nothing. Such a line is any decision at a prompt, and in a pipe the word that approves what is dangerous.
func (c *Console) ambiguous(l input) bool {
	a := c.target(l)
	action, _ := a.decision(l.text)
	if l.pasted || !strings.EqualFold(strings.TrimSpace(l.text), doc.ConfirmWord) && (action == "" || !l.several) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	open := c.openApprovals()
	if len(open) < 2 {
		return false
	}
	lines := []string{wording.Fill(c.texts.TerminalWhich, "{count}", strconv.Itoa(len(open)))}
	for _, a := range open {
		word := append(slices.Clip(a.words), doc.ConfirmWord)[0]
		if action == outbound.ActionDeny {
			word = "n"
		}
		lines = append(lines, doc.Fact{Label: word + " " + c.shortID(a), Text: a.title}.Line())
	}
	_ = c.print(c.look().lines(*open[0], open[0].edge, lines...)) // there is no other place for this message
	return true
}

// openApprovals are the open cards that this person has not answered and may decide; the caller holds mu.
func (c *Console) openApprovals() (all []*shown) {
	for _, a := range c.cards {
		if a.open() && !a.answered && a.card.Question == nil {
			all = append(all, a)
		}
	}
	return all
}
