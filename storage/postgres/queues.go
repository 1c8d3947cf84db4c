package postgres

import (
	"fmt"
	"slices"

	"gatehouse/core"
)

// conversation takes the lock of a queue's row, which is made where there is none, and then reads the clock: so times rise in the order
// in which a conversation's transactions commit. What is read before this says nothing about the conversation; later statements see all of it.
func (t *tx) conversation(queue core.QueueKey, platform string, conversation core.ConversationID) error {
	_, err := t.row([]any{stamp{&t.now}}, `
		insert into queues (queue, platform, conversation, beside) values ($1, $2, $3, $4)
		on conflict (queue) do update set fence = queues.fence
		returning clock_timestamp()`, queue, platform, conversation, queue != conversation.Queue())
	return err
}

// hold takes the lock of a queue's row, if there is one, and reads the clock.
func (t *tx) hold(queue core.QueueKey) (found bool, err error) {
	return t.row([]any{stamp{&t.now}}, `select clock_timestamp() from (select 1 from queues where queue = $1 for update) held`, queue)
}

// fence takes the conversation's lock and fails unless the claim still holds it. A lease that has run out but was taken by nobody still
// holds. The locks of others are taken too, all in the order of their names, as everybody does.
func (t *tx) fence(c core.Claim, others ...core.QueueKey) error {
	queues := append([]core.QueueKey{c.Key}, others...)
	slices.Sort(queues)
	for _, q := range slices.Compact(queues) {
		if q != c.Key {
			if _, err := t.hold(q); err != nil {
				return err
			}
			continue
		}
		held, err := t.row([]any{stamp{&t.now}}, `
			select clock_timestamp() from (
				select 1 from queues where queue = $1 and owner = $2 and owner <> '' and fence = $3 and event = $4 for update) held`,
			c.Key, c.Owner, c.Fence, c.Event.Seq)
		if err != nil {
			return err
		}
		if !held {
			return lostConversation(c)
		}
	}
	return nil
}

func lostConversation(c core.Claim) error {
	return core.Errorf(core.LeaseLost, "Another process has taken the conversation %s over; this turn counts for nothing.", c.Event.Conversation)
}

// clock reads the time, in a transaction that waits for no lock.
func (t *tx) clock() error {
	_, err := t.row([]any{stamp{&t.now}}, `select clock_timestamp()`)
	return err
}

// ready sets when a queue can next be claimed. Every transaction that adds, ends or puts off an event, or takes or leaves the
// conversation, calls it with the conversation's lock in hand. Due is when an event was accepted, or when its backing off ends; of signals the
// earliest counts, of messages the first.
func (t *tx) ready(queue core.QueueKey) error {
	_, err := t.exec(`
		update queues set ready_at = case when owner <> '' then lease_until else (
			select min(due_at) from (
				select min(due_at) as due_at from events where queue = $1 and ended_at is null and signal
				union all
				(select due_at from events where queue = $1 and ended_at is null and not signal order by seq limit 1)
			) heads
		) end
		where queue = $1`, queue)
	return err
}

// letGo ends a holder's time: its working state is put out and the conversation is ready for whoever comes next.
func (t *tx) letGo(c core.Claim) error {
	if _, err := t.exec(`update queues set owner = '', lease_until = null, event = 0 where queue = $1`, c.Key); err != nil {
		return err
	}
	t.putOut(c.Event.Seq)
	return t.ready(c.Key)
}

// session gives the conversation's session in its generation of now.
func (t *tx) session(conversation core.ConversationID) (core.SessionID, error) {
	generation := 1
	if _, err := t.row([]any{&generation}, `select generation from queues where queue = $1`, conversation); err != nil {
		return "", fmt.Errorf("reading the generation: %w", err)
	}
	return conversation.Session(generation), nil
}
