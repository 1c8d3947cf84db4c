package console

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"gatehouse/adapters/internal/chat"
	"gatehouse/core"
)

// shownCards holds the cards that were shown, in the order of showing.
type shownCards struct {
	open    []shownCard
	last    core.ApprovalID            // the card that was answered last
	printed map[core.ApprovalID]string // each card as it was last printed
	asked   map[core.ApprovalID]bool   // those that are questions
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
	case t.open[i].card.Altered:
		return "n"
	case cautions(t.open[i].card) != "":
		return spelled + "/n"
	}
	return "y/n"
}

// mustSpell returns why the card can't be approved by a y alone; "" if it can, or is not open.
func (c *Console) mustSpell(id core.ApprovalID) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.cards.index(id); i >= 0 {
		return cautions(c.cards.open[i].card)
	}
	return ""
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

// editsShown returns how often the arguments of a card had been changed when it was printed last.
func (c *Console) editsShown(id core.ApprovalID) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.cards.index(id); i >= 0 {
		return c.cards.open[i].card.Edits
	}
	return 0
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

// showCard prints a card in its current state, unless exactly that was printed before. After a decision it names the next open card
// again, which the next answer is for. A reminder of an open card is one line.
func (c *Console) showCard(card core.Card, late bool, occasion core.Occasion) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	text := c.style.card(card)
	if c.cards.printed[card.Approval] == text {
		if occasion != "" && card.State == core.Open {
			if card.Question != nil {
				return c.print(c.style.question("reminder: nobody has answered yet: " + oneLine(card.Question.Text)))
			}
			return c.print(c.style.approval(fmt.Sprintf("reminder: nobody has decided yet: %s (%.*s)", oneLine(card.Summary), minShortID, card.Approval)))
		}
		return nil
	}
	at := c.cards.index(card.Approval)
	known := at >= 0
	out := text
	if late && card.State == core.Open {
		out = c.style.about(card, "(late) this was requested a while ago:") + text
	}
	changed := known && card.Edits != c.cards.open[at].card.Edits // its arguments: it is another card to answer
	voted := known && card.State == core.Open && !changed         // only its votes changed
	if voted && card.Question == nil {
		out = c.style.approval(votes(card) + ": " + oneLine(card.Summary))
	}
	if err := c.print(out); err != nil {
		return err
	}
	c.cards.printed[card.Approval], c.cards.asked[card.Approval] = text, card.Question != nil
	switch {
	case voted:
		c.cards.open[at].card = card
		return nil
	case changed && card.State == core.Open:
		c.cards.open[at] = shownCard{card: card}
		c.repaint()
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

// decisionLine is the result of an approval in one line.
func decisionLine(card core.Card) string {
	what, by, why := cmp.Or(oneLine(card.Summary), oneLine(card.Tool)), cmp.Or(oneLine(card.DecidedBy), "somebody"), ""
	if reason := oneLine(card.Reason); reason != "" {
		why = " (" + reason + ")"
	}
	switch card.State {
	case core.Approved:
		return "approved by " + by + ": " + what + why
	case core.Denied:
		return "denied by " + by + ": " + what + why
	case core.Expired:
		return "expired without a decision: " + what
	case core.Cancelled:
		return "cancelled: " + what + why
	case core.Answered:
		return "answered by " + by + ": " + what + " – " + oneLine(strings.ReplaceAll(card.Answer, "\n", ", "))
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
		about += ", requested by " + oneLine(card.Requester)
	}
	if card.Edits > 0 {
		about += ", arguments changed by " + cmp.Or(oneLine(card.Editor.Name), "an approver")
	}
	if card.Asked.Dropped != "" {
		about += ", an earlier change by " + oneLine(card.Asked.Dropped) + " was dropped"
	}
	if card.Quorum > 1 || card.Vetoes > 1 {
		about += ", " + votes(card)
	}
	if !card.Deadline.IsZero() {
		about += ", until " + card.Deadline.Local().Format("2006-01-02 15:04 MST")
	}
	switch how := cautions(card); {
	case card.Altered:
		lines = append(lines, chat.AlteredNote)
		return append(lines, about, answers("", card))
	case how != "":
		return append(append(lines, strings.Split(how, "\n")...), about, answers(spelled, card))
	}
	return append(lines, about, answers("y", card))
}

// answers says what a card may be answered with; yes is the answer that approves, "" if it can't be approved.
func answers(yes string, card core.Card) string {
	var all []string
	if yes != "" {
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

// votes says how many votes an open card has, and how many it needs.
func votes(card core.Card) string {
	text := fmt.Sprintf("%d of %d approvals", len(card.Voters), max(1, card.Quorum))
	if card.Vetoes > 1 {
		text += fmt.Sprintf(", %d of %d denials", len(card.Against), card.Vetoes)
	}
	return text
}

// cautions returns why a y is not enough to approve the card, "" if it is.
func cautions(card core.Card) string {
	text := chat.CardText[string]{Inline: func(s string, _ int) string { return oneLine(s) }, Limits: chat.CardLimits{Summary: math.MaxInt}}
	return text.Cautions(card, 0)
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

// bot is a text of the bot; its lines after the first are indented.
func (s style) bot(text string) string {
	lines := strings.Split(strings.TrimRight(Sanitize(text), "\n"), "\n")
	return s.paint(cyan, "bot>") + " " + strings.Join(lines, "\n     ") + "\n"
}

// approval is one line about an approval; text is sanitized already.
func (s style) approval(text string) string {
	return s.paint(yellow, "approval>") + " " + text + "\n"
}

// card is an approval in its current state: open in full, decided in one line.
func (s style) card(card core.Card) string {
	if card.State != core.Open {
		code := red
		if card.State == core.Approved || card.State == core.Answered {
			code = green
		}
		return s.about(card, s.paint(code, decisionLine(card)))
	}
	if card.Question != nil {
		return s.openQuestion(card)
	}
	title := oneLine(card.Tool) + " wants your approval: " + oneLine(card.Summary)
	if card.Asked.Of > 1 {
		title += fmt.Sprintf(" (%d of %d)", card.Asked.Place, card.Asked.Of)
	}
	lines := cardLines(card)
	if !s.tty {
		out := s.approval(title)
		for _, l := range lines {
			out += s.approval(l)
		}
		return out
	}
	bar := s.paint(yellow, "│") + " "
	out := s.paint(yellow, "┌ "+title) + "\n"
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
