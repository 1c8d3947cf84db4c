package postgres

import (
	"context"
	"fmt"
	"slices"
	"time"

	"gatehouse/core"
)

// Decide applies a decision: all checks are made with the approval's lock in hand, so of two that come together the first wins.
func (s *Store) Decide(ctx context.Context, d core.Decision) (core.Decided, error) {
	var decided core.Decided
	var refused error // what the rules say; nothing was changed then, and the transaction may stand
	err := s.write(ctx, func(t *tx) error {
		decided, refused = core.Decided{}, nil
		a, err := t.underDecision(d)
		if err != nil {
			return err
		}
		at, err := t.decidedAt(d)
		if err != nil {
			return err
		}
		if d.Expire && a.State == core.Open {
			if err := t.clicksBefore(a); err != nil {
				decided.Approval = a
				return err
			}
		}
		decided, refused = a.Decide(d, at)
		if refused != nil || !changed(a, decided.Approval) {
			return nil
		}
		return t.decide(a, decided)
	})
	if err != nil {
		return core.Decided{Approval: decided.Approval}, err
	}
	return decided, refused
}

func changed(before, after core.Approval) bool {
	return before.State != after.State || len(before.Votes) != len(after.Votes)
}

// underDecision takes the locks in their order and reads the approval: first the conversation's conversation, where the signal goes, and
// for an expiry the queue of the approval's clicks as well, so that no click can be on its way in unseen; then the approval.
func (t *tx) underDecision(d core.Decision) (core.Approval, error) {
	a, err := t.approval(d.Approval)
	if err != nil {
		return a, err
	}
	queues := []core.QueueKey{a.Conversation.Queue()}
	if d.Expire {
		queues = append(queues, clicks(a.ID))
	}
	slices.Sort(queues)
	for _, q := range queues {
		if err := t.conversation(q, a.Address.Platform, a.Conversation); err != nil {
			return a, err
		}
	}
	return t.lockedApproval(d.Approval)
}

// clicks is the queue of an approval's clicks.
func clicks(id core.ApprovalID) core.QueueKey {
	return core.Event{Body: core.ClickEvent{Approval: id}}.QueueKey()
}

// decidedAt is the moment that counts: a click's is when its event was accepted, however late it is taken.
func (t *tx) decidedAt(d core.Decision) (at time.Time, err error) {
	at = t.now
	if d.Event != 0 {
		_, err = t.row([]any{stamp{&at}}, `select accepted_at from events where seq = $1`, d.Event)
	}
	return at, err
}

// clicksBefore puts an expiry off while somebody's click, made in time, waits to be counted.
func (t *tx) clicksBefore(a core.Approval) error {
	if a.Deadline.IsZero() {
		return nil
	}
	waits, err := t.exists(`select 1 from events where queue = $1 and ended_at is null and not signal and accepted_at < $2 limit 1`, clicks(a.ID), a.Deadline)
	if err == nil && waits {
		return core.Errorf(core.StoreBusy, "A click on %s that came in time is still to be counted.", a.ID)
	}
	return err
}

// decide stores what came of a decision.
func (t *tx) decide(before core.Approval, d core.Decided) error {
	a := d.Approval
	for n, v := range a.Votes[len(before.Votes):] {
		n += len(before.Votes)
		if _, err := t.exec(`insert into votes (approval, n, actor, body) values ($1, $2, $3, $4)`, a.ID, n, v.Actor.ID, asJSON{v}); err != nil {
			return err
		}
		t.audit(a.ID, "voted", v.Actor.ID, fmt.Sprintf("choice %s", v.Choice))
	}
	if d.Settled {
		if err := t.storeState(a); err != nil {
			return err
		}
		if err := t.settled(a); err != nil {
			return err
		}
	}
	t.redraw(a.ID)
	return nil
}
