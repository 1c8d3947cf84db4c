package sqlite

import (
	"fmt"

	"gatehouse/core"
)

// ready sets when a queue can next be claimed. Every transaction that adds, ends or puts off an event, or takes or leaves the
// conversation, calls it. Due is when an event was accepted, or when its backing off ends; of signals the earliest counts, of messages
// the first.
func (t *tx) ready(queue core.QueueKey) error {
	_, err := t.exec(`
		update queues set ready_at = case when owner <> '' then lease_until else (
			select min(due) from (
				select min(max(accepted_at, not_before)) as due from events where queue = ?1 and ended_at = 0 and signal = 1
				union all
				select * from (select max(accepted_at, not_before) from events where queue = ?1 and ended_at = 0 and signal = 0 order by seq limit 1)
			)
		) end
		where queue = ?1`, queue)
	return err
}

// fence fails unless the claim still holds its conversation. A lease that has run out but was taken by nobody still holds.
func (t *tx) fence(c core.Claim) error {
	held, err := t.exists(`select 1 from queues where queue = ? and owner = ? and owner <> '' and fence = ? and event = ?`, c.Key, c.Owner, c.Fence, c.Event.Seq)
	if err != nil {
		return err
	}
	if !held {
		return core.Errorf(core.LeaseLost, "Another process has taken the conversation %s over; this turn counts for nothing.", c.Event.Conversation)
	}
	return nil
}

// letGo ends a holder's time: its working state is put out and the conversation is ready for whoever comes next.
func (t *tx) letGo(c core.Claim) error {
	if _, err := t.exec(`update queues set owner = '', lease_until = 0, event = 0 where queue = ?`, c.Key); err != nil {
		return err
	}
	if err := t.clearWorking(c.Event.Seq); err != nil {
		return err
	}
	return t.ready(c.Key)
}

// conversation makes the rows of a queue where there are none.
func (t *tx) conversation(queue core.QueueKey, platform string, conversation core.ConversationID) error {
	beside := 0
	if queue != conversation.Queue() {
		beside = 1
	}
	_, err := t.exec(`insert into queues (queue, platform, conversation, beside) values (?, ?, ?, ?) on conflict do nothing`, queue, platform, conversation, beside)
	return err
}

// session gives the conversation's session in its generation of now.
func (t *tx) session(conversation core.ConversationID) (core.SessionID, error) {
	generation := 1
	if _, err := t.row([]any{&generation}, `select generation from queues where queue = ?`, conversation); err != nil {
		return "", fmt.Errorf("reading the generation: %w", err)
	}
	return conversation.Session(generation), nil
}
