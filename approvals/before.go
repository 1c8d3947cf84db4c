package approvals

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gatehouse/core"
	"gatehouse/core/mask"
)

// lately is how long ago a denial of the same call may be for its next card to say so.
const lately = 15 * time.Minute

// maxBefore is how many open and denied requests of the conversation are looked through, the latest first.
const maxBefore = 100

// neighbours are what other approvals of a conversation tell on its cards. They are read once for all cards that are
// made together.
type neighbours map[neighbourhood][]core.Approval

type neighbourhood struct {
	conversation core.ConversationID
	states       string
	limit        int
}

// list returns the latest approvals of a conversation that are in these states.
func (n neighbours) list(
	ctx context.Context, s *Service, of core.ConversationID, limit int, states ...core.ApprovalState,
) ([]core.Approval, error) {
	key := neighbourhood{of, fmt.Sprint(states), limit}
	if known, ok := n[key]; ok {
		return known, nil
	}
	found, err := s.store.ListApprovals(ctx, core.ApprovalFilter{States: states, Conversation: of, Limit: limit})
	if err == nil {
		n[key] = found
	}
	return found, err
}

// before notes on the card of an open request what came before it in its conversation: open requests of the same person
// for the same call, and the last denial of that call.
func (s *Service) before(ctx context.Context, a core.Approval, card *core.Card, near neighbours) error {
	found, err := near.list(ctx, s, a.Conversation, maxBefore, core.Open, core.Denied)
	var same, denied []core.Approval
	for _, o := range found {
		since := a.CreatedAt.Sub(o.DecidedAt)
		switch {
		case o.State == core.Open && a.Alike(o):
			same = append(same, o)
		case o.State == core.Denied && o.Call.Tool == a.Call.Tool && o.Call.Digest == a.Call.Digest && since >= 0 &&
			since <= lately:
			denied = append(denied, o)
		}
	}
	if n := len(same); n > 1 {
		first := same[n-1] // the latest come first
		at := slices.IndexFunc(same, func(o core.Approval) bool { return o.ID == a.ID })
		if at >= 0 { // otherwise it was decided just now, and is drawn once more
			card.Same = &core.Same{N: n - at, Of: n, First: first.ID, At: first.CreatedAt}
		}
	}
	if len(denied) > 0 { // one that the audit log contradicts says nothing
		if o, _, err := s.store.Recorded(ctx, denied[0].ID); err == nil {
			card.Refused = &core.Refused{By: o.DecidedBy, At: o.DecidedAt, Reason: mask.Text(o.Reason)}
		}
	}
	return err
}

// left notes on the card of what is remembered, and on that of a use of it, how many calls are left, and until when.
func (s *Service) left(ctx context.Context, a core.Approval, card *core.Card, near neighbours) (err error) {
	if a.State != core.Approved || a.Use == nil && card.Memory == (core.Memory{}) {
		return nil
	}
	card.Memory = core.Memory{}
	if a.Use != nil {
		if a, _, err = s.store.Recorded(ctx, a.Use.Of); err != nil {
			return nil // what the audit log contradicts, or is gone, allows nothing
		}
	}
	later, err := near.list(ctx, s, a.Conversation, core.MaxRemembered, core.Approved)
	uses := 0
	for _, o := range later {
		if o.Use != nil && o.Use.Of == a.ID {
			uses++
		}
		if next := a.NextUse(uses, s.now()); o.ID == a.ID && next != nil {
			card.Memory, card.Until = core.Memory{For: a.Rule.Remember, Uses: next.Uses - uses}, next.Until
		}
	}
	return err
}
