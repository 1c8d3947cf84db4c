package sqlstore

import (
	"fmt"
	"slices"

	"gatehouse/core"
)

// lockQueues locks queues of a conversation in the order of their keys; it adds missing rows.
func (t *Tx) lockQueues(platform string, conversation core.ConversationID, keys ...core.QueueKey) error {
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if err := t.hooks.LockQueue(t, key, platform, conversation); err != nil {
			return err
		}
	}
	return nil
}

// lockKnownQueue locks a queue's row, if there is one, and then reads the clock.
func (t *Tx) lockKnownQueue(key core.QueueKey) (found bool, err error) {
	return t.lockRows(`queues where queue_key = $1`, key)
}

// fence locks the claim's queue and fails with lease_lost unless the claim still holds it. An expired lease still holds until
// another process takes the queue. fence locks the other queues too, all in the order of their keys.
func (t *Tx) fence(c core.Claim, others ...core.QueueKey) error {
	keys := append([]core.QueueKey{c.Key}, others...)
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if key != c.Key {
			if _, err := t.lockKnownQueue(key); err != nil {
				return err
			}
			continue
		}
		held, err := t.lockRows(`queues where queue_key = $1 and owner = $2 and owner <> '' and fence = $3 and event = $4`, c.Key, c.Owner, c.Fence, c.Event.Seq)
		if err != nil {
			return err
		}
		if !held {
			return leaseLost(c)
		}
	}
	return nil
}

func leaseLost(c core.Claim) error {
	return core.Errorf(core.LeaseLost, "Another process has taken the conversation %s over; this turn was discarded.", c.Event.Conversation)
}

// updateReady sets when a queue can next be claimed. Every transaction that adds, ends or delays an event, or that takes or releases
// the queue, calls it with the queue locked. An event is due when it was accepted, or when its delay ends. The earliest signal
// counts, and the first message.
func (t *Tx) updateReady(key core.QueueKey) error {
	_, err := t.Exec(`
		update queues set ready_at = case when owner <> '' then lease_until else (
			select min(due_at) from (
				select min(due_at) as due_at from events where queue_key = $1 and ended_at = 0 and signal = true
				union all
				select due_at from (select due_at from events where queue_key = $1 and ended_at = 0 and signal = false order by seq limit 1) first_message
			) heads
		) end
		where queue_key = $1`, key)
	return err
}

// releaseLease ends a turn's lease: it clears the typing indicator and makes the queue ready for its next event.
func (t *Tx) releaseLease(c core.Claim) error {
	if _, err := t.Exec(`update queues set owner = '', lease_until = 0, event = 0 where queue_key = $1`, c.Key); err != nil {
		return err
	}
	t.clearWorking(c.Event.Seq)
	return t.updateReady(c.Key)
}

// releaseOwner releases the queues and outbox rows that a dead owner had leased. A queue keeps its event, so that the next claim
// clears its typing indicator.
func (t *Tx) releaseOwner(owner string) error {
	keys, err := t.Texts(`select queue_key from queues where owner = $1 and owner <> ''`, owner)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if _, err := t.Exec(`update queues set owner = '', lease_until = 0 where queue_key = $1`, key); err != nil {
			return err
		}
		if err := t.updateReady(core.QueueKey(key)); err != nil {
			return err
		}
	}
	destinations, err := t.Texts(`update outbox set owner = '', lease_until = 0 where owner = $1 and owner <> '' returning destination`, owner)
	if err != nil {
		return err
	}
	return t.lockDestinations(destinations...)
}

// session returns the conversation's session in its present generation.
func (t *Tx) session(conversation core.ConversationID) (core.SessionID, error) {
	generation := 1
	if _, err := t.Row([]any{&generation}, `select generation from queues where queue_key = $1`, conversation); err != nil {
		return "", fmt.Errorf("reading the generation: %w", err)
	}
	return conversation.Session(generation), nil
}
