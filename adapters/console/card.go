package console

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/adapters/internal/doc"
	"gatehouse/core"
)

// shownCards holds the cards that were shown, in the order of showing.
type shownCards struct {
	open    []shownCard
	last    core.ApprovalID              // the card that was answered last
	printed map[core.ApprovalID][]string // what was printed of each card
	asked   map[core.ApprovalID]bool     // those that are questions
	expired core.ApprovalID              // the last one that expired, and was not asked again; "" if there is none
}

type shownCard struct {
	card     core.Card
	answered bool     // by this person; it may still need other votes. A question that is for somebody else counts as answered
	typed    []string // of a form: what was typed for its first fields
}

// current is the card that a line answers: the last one without an answer or, if all have one, the last approval. A second y is then
// answered with the approval's state and does not become a message.
func (t *shownCards) current() core.ApprovalID {
	for _, a := range slices.Backward(t.open) {
		if !a.answered {
			return a.card.Approval
		}
	}
	for _, a := range slices.Backward(t.open) {
		if a.card.Question == nil {
			return a.card.Approval
		}
	}
	return ""
}

// minShortID is how much of an id is shown at least.
const minShortID = 8

// shortID is the beginning of an open card's id that no other open card's id has; "" where the card is the only one that is open.
func (t *shownCards) shortID(id core.ApprovalID) string {
	if len(t.open) < 2 || id == "" {
		return ""
	}
	n := min(minShortID, len(id))
	for _, other := range t.open {
		for other.card.Approval != id && n < len(id) && strings.HasPrefix(string(other.card.Approval), string(id[:n])) {
			n++
		}
	}
	return strings.TrimRight(oneLine(string(id[:n])), "-")
}

func (t *shownCards) index(id core.ApprovalID) int {
	return slices.IndexFunc(t.open, func(a shownCard) bool { return a.card.Approval == id })
}

// answers are the answers that the current card takes in a word; "" if no card is open.
func (t *shownCards) answers() string {
	i := t.index(t.current())
	switch {
	case i < 0:
		return ""
	case t.open[i].card.Question != nil:
		return t.open[i].asks()
	}
	yes, _ := approving(t.open[i].card)
	return strings.TrimPrefix(yes+"/n", "/")
}

// answerTarget returns the card that an answer is for; stillOpen is false if that card is no longer open.
func (c *Console) answerTarget(target *core.ApprovalID) (id core.ApprovalID, stillOpen bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if target == nil {
		id = c.cards.current()
		return id, id != ""
	}
	return *target, c.cards.index(*target) >= 0
}

// reopenAnswered makes the card that was answered last the one that the next answer is for: a private message says why the answer did not count.
// Otherwise the next answer would be for another card.
func (c *Console) reopenAnswered() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.cards.index(c.cards.last); i >= 0 && c.cards.open[i].answered {
		card := c.cards.open[i]
		card.answered, card.typed = false, nil
		c.cards.open = append(slices.Delete(c.cards.open, i, i+1), card)
	}
}

func (c *Console) markAnswered(id core.ApprovalID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.cards.index(id); i >= 0 {
		c.cards.open[i].answered, c.cards.open[i].typed, c.cards.last = true, nil, id
	}
}

// showCard prints a card in its current state: in full, or of a card that was printed before what is new, if anything is. After a decision
// it names the next open card again, which the next answer is for. A reminder of an open card is one line.
func (c *Console) showCard(d core.Delivery) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	card := *d.Card
	at := c.cards.index(card.Approval)
	known := at >= 0
	changed := known && card.Edits != c.cards.open[at].card.Edits // its arguments: it is another card to answer
	before := c.cards.printed[card.Approval]
	said := sayCard(d)
	out := c.style.news(said, before)
	switch {
	case before == nil || changed:
		out = c.style.card(d, said)
	case out == "" && d.Occasion != "" && card.State == core.Open:
		return c.print(c.style.reminder(card))
	}
	if err := c.print(out); err != nil {
		return err
	}
	c.cards.expire(said)
	c.cards.printed[card.Approval], c.cards.asked[card.Approval] = append(said.lines, said.first), card.Question != nil
	switch {
	case changed && card.State == core.Open:
		c.cards.open[at] = shownCard{card: card}
		c.repaint()
		return nil
	case known && card.State == core.Open:
		c.cards.open[at].card = card
		return nil
	case known:
		c.cards.open = slices.Delete(c.cards.open, at, at+1)
	case card.State == core.Open:
		c.cards.open = append(c.cards.open, shownCard{card: card, answered: card.Question != nil && card.Refusal(c.opt.Actor) != nil})
	}
	defer c.repaint()
	if i := c.cards.index(c.cards.current()); known && i >= 0 && !c.cards.open[i].answered {
		if c.cards.open[i].card.Question != nil {
			return c.print(c.style.stillAsks(c.cards.open[i]))
		}
		which := ""
		if short := c.cards.shortID(c.cards.open[i].card.Approval); short != "" {
			which = " (" + short + ")"
		}
		return c.print(c.style.approval(oneLine(c.cards.open[i].card.Summary) + which + " is still open: answer " + strings.Join(strings.Split(c.cards.answers(), "/"), ", ") + " or n REASON"))
	}
	return nil
}

// howToAnswer says what an open card may be answered with.
func howToAnswer(card core.Card) string {
	var all []string
	if yes, _ := approving(card); yes != "" {
		all = append(all, yes)
	}
	if !card.NeedsWhy {
		all = append(all, "n")
	}
	if len(all) == 0 {
		return "answer n REASON"
	}
	return "answer " + strings.Join(all, ", ") + " or n REASON"
}

// approving is the word that approves a card, "" if it can't be approved, and why a y is not enough for it.
func approving(card core.Card) (word, why string) {
	switch c, ok := offered(view(core.Delivery{Card: &card}), chat.ActionApprove); {
	case !ok:
		return "", ""
	case c.Cautions != "":
		return spelled, c.Cautions
	}
	return "y", ""
}

// arguments puts short arguments on one line; longer ones stay as they are.
func arguments(pretty string) string {
	var b bytes.Buffer
	if json.Compact(&b, []byte(pretty)) == nil && b.Len() <= 100 {
		return b.String()
	}
	return pretty
}

// style formats texts. Its results are sanitized and end with a newline.
type style struct{ tty, color bool }

const (
	cyan   = "36"
	yellow = "33"
	green  = "32"
	red    = "31"
	faint  = "2"
)

func (s style) paint(code, text string) string {
	if !s.color {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// reply is a model's reply as text with Markdown's marks. Code stands at the margin of the bot's lines.
func reply(markdown string) string { return doc.Text(doc.Parse(Sanitize(markdown)), true) }

// bot is a text of the bot; its lines after the first are indented.
func (s style) bot(text string) string {
	lines := strings.Split(strings.TrimRight(Sanitize(text), "\n"), "\n")
	return s.paint(cyan, "bot>") + " " + strings.Join(lines, "\n     ") + "\n"
}

// approval is one line about an approval; text is sanitized already.
func (s style) approval(text string) string {
	return s.paint(yellow, "approval>") + " " + text + "\n"
}

// card is a card in full: one that waits for an answer with how to answer it.
func (s style) card(d core.Delivery, said saying) (out string) {
	card := *d.Card
	if card.State == core.Open && d.Occasion != "" {
		out = s.about(card, doc.Headline(card, d.Occasion))
	}
	if card.State == core.Open && d.Late {
		out += s.about(card, "(late) this was requested a while ago:")
	}
	switch {
	case card.State != core.Open:
		return s.news(said, []string{})
	case card.Question != nil:
		return out + s.openQuestion(card, said.lines)
	}
	lines := append(slices.Clone(said.lines), howToAnswer(card))
	if !s.tty {
		return out + s.approval(said.first) + s.all(card, lines)
	}
	bar := s.paint(yellow, "│") + " "
	out += s.paint(yellow, "┌ "+said.first) + "\n"
	for i, l := range lines {
		if i == len(lines)-1 {
			bar = s.paint(yellow, "└") + " "
		}
		out += bar + l + "\n"
	}
	return out
}

// prompt is the text before the person's own line. While a card is open it says which answers it takes, and which card they are for where
// several are.
func (s style) prompt(frame, answers, which string) string {
	text := "you> "
	switch {
	case which != "":
		text = "you (" + answers + " to " + which + ")> "
	case answers != "":
		text = "you (" + answers + ")> "
	}
	if frame != "" {
		return s.paint(faint, frame) + " " + text
	}
	return text
}
