package dispatch

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"gatehouse/core"
)

// linkAlike has the cards of a request name the first open one of the same call by the same person in its conversation.
func linkAlike(a core.Approval, open []core.Approval, cards []core.Post) {
	for _, first := range slices.Backward(open) {
		if a.State == core.Open && first.Conversation == a.Conversation && a.Alike(first) {
			for i := range cards {
				cards[i].Like = first.CardKey() + strings.TrimPrefix(cards[i].Key, a.CardKey())
			}
			return
		}
	}
}

// decisions are words that look like a decision, where only buttons decide.
var decisions = []string{"approve", "approved", "deny", "denied"}

// typedDecision answers a message that is nothing but a word of a decision, while a request of its conversation is
// open: the card is linked to or, where there are no links, shown again. nil: the message is for the agent.
func (t *turn) typedDecision(ctx context.Context, in core.Input) (*core.Finish, error) {
	blocks := len(in.Message.Content.Blocks()) - in.Message.Content.Quoted()
	if _, said := in.Message.Content.Speaker(); said {
		blocks--
	}
	mark := func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }
	word := strings.ToLower(strings.TrimFunc(in.Message.Content.Own(), mark))
	if in.ByWord || blocks != 1 || !slices.Contains(decisions, word) {
		return nil, nil
	}
	for a, err := range t.open(ctx) {
		if err != nil {
			return nil, err
		}
		if a.Question != nil {
			continue
		}
		e := &t.claim.Event
		card := core.Post{
			Key: fmt.Sprintf("%s/typed/%d", a.CardKey(), e.Seq), To: e.Address, Conversation: e.Conversation,
			Kind: core.PostCard, Approval: a.ID, Event: e.Seq, Quiet: true, Occasion: core.Typed, Reminds: a.CardKey(),
		}
		return &core.Finish{End: core.End{Kind: core.EndReplied}, Changes: core.Changes{Posts: []core.Post{card}}}, nil
	}
	return nil, nil
}
