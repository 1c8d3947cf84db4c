package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
)

// lockQueues locks queues of a conversation in the order of their keys; it adds missing rows.
func (t *Tx) lockQueues(platform string, conversation core.ConversationID, keys ...core.QueueKey) error {
	slices.Sort(keys)
	for _, key := range slices.Compact(keys) {
		if err := t.store.engine.LockQueue(t, key, platform, conversation); err != nil {
			return err
		}
	}
	return nil
}

// lockKnownQueue locks a queue's row, if there is one, and then reads the clock.
func (t *Tx) lockKnownQueue(key core.QueueKey) (found bool, err error) {
	return t.lockRows(`queues where queue_key = $1`, key)
}

// fence locks the claim's queue and fails with lease_lost unless the claim still holds it. fence locks the other queues
// too, all in the order of their keys.
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
		held, err := t.lockRows(heldQueue, c.Key, c.Owner, c.Fence, c.Event.Seq)
		if err != nil {
			return err
		}
		if !held {
			return claimLost(c)
		}
	}
	return nil
}

// fenceAsking is fence, and waits for what ask asks, too; without other queues in the same round trip. where narrows
// heldQueue; held reports that the claim holds its queue, which where leaves out.
func (t *Tx) fenceAsking(
	c core.Claim, others []core.QueueKey, where string, ask func() error,
) (held bool, err error) {
	args := []any{c.Key, c.Owner, c.Fence, c.Event.Seq}
	found := false
	if len(others) > 0 {
		if err := t.fence(c, others...); err != nil {
			return false, err
		}
		err = t.askExists(&found, `select 1 from `+heldQueue+where, args...)
	} else {
		err = t.askLock(&found, heldQueue+where, args...)
	}
	if err != nil {
		return false, err
	}
	if err := t.flushed(ask()); err != nil || found {
		return false, err
	}
	if held, err = t.exists(`select 1 from `+heldQueue, args...); err == nil && !held {
		err = claimLost(c)
	}
	return held, err
}

// notDeleted narrows heldQueue to a turn whose message was not deleted.
const notDeleted = ` and stop <> -event`

// heldQueue is the queue of a claim that still holds it.
const heldQueue = `queues where queue_key = $1 and owner = $2 and owner <> '' and fence = $3 and event = $4`

func claimLost(c core.Claim) error {
	return core.Errorf(core.ClaimLost, "Another process has taken the conversation %s over; this turn was discarded.",
		c.Event.Conversation)
}

// suspectFrom is the number of deaths of its process from which an event is a suspect; see core.ClaimRequest.
const suspectFrom = `2`

// updateReady sets whether and when a queue can next be claimed, and by which event: the earliest signal, or the first
// message if that is due earlier. Every transaction that adds, ends or delays an event, or that takes or releases the
// queue, calls it with the queue locked. An event is due at once (0), or when its delay ends. A held queue keeps what
// its claim set. Clicks on an approval may come from several platforms, and a process claims only what it serves; so
// the queue of clicks has the platform and the conversation of the next one.
func (t *Tx) updateReady(key core.QueueKey) error {
	return t.setReady(key, "", ` and owner = ''`)
}

// setReady is updateReady that sets more columns, of a queue for which more holds.
func (t *Tx) setReady(key core.QueueKey, columns, where string) error {
	set := `
		update queues set ` + columns + `(ready_at, delay, rank, head, suspect) = (
			select due_at, delay, rank, seq, attempt >= ` + suspectFrom + ` and queues.controls = false from (
				select * from (select due_at, delay, rank, seq, attempt, 0 as kind from events where queue_key = $1
					and ended_at = 0 and signal = true order by due_at, seq limit 1) first_signal
				union all
				select * from (select due_at, delay, rank, seq, attempt, 1 from events where queue_key = $1
					and ended_at = 0 and signal = false order by seq limit 1) first_message
			) heads
			order by due_at, kind limit 1
		)
		where queue_key = $1` + where
	if t.sql.RowLocks { // to read the result would be a round trip
		if err := t.Do(set, key); err != nil {
			return err
		}
	} else {
		var ready bool
		if _, err := t.Row([]any{&ready}, set+` returning ready_at is not null`, key); err != nil {
			return err
		}
		t.left.Turns = t.left.Turns || ready
	}
	if !ofClicks(key) {
		return nil
	}
	return t.Do(`
		update queues set (platform, conversation) = (select platform, conversation from events where seq = queues.head)
		where queue_key = $1 and owner = '' and head is not null`, key)
}

// ofClicks reports whether a queue is that of an approval's clicks.
func ofClicks(key core.QueueKey) bool { return strings.HasPrefix(string(key), string(clicks(""))) }

// releaseQueue ends a turn's lease: it clears the typing indicator and makes the queue ready for its next event.
func (t *Tx) releaseQueue(key core.QueueKey, event int64) error {
	t.clearWorking(event)
	if err := t.setReady(key, `owner = '', event = 0, `, ``); err != nil || !t.sql.RowLocks {
		return err
	}
	return t.askExists(&t.left.Turns, `select 1 from queues where queue_key = $1 and ready_at is not null`, key)
}

// releaseOwner releases the queues and outbox rows that a dead owner held, and clears its typing indicators. A queue
// keeps its event, so that a request to stop it is not lost.
func (t *Tx) releaseOwner(owner string) error {
	held, err := t.holds(owner)
	if err != nil {
		return err
	}
	for _, h := range held {
		if _, err := t.Exec(`update queues set owner = '' where queue_key = $1`, h.Key); err != nil {
			return err
		}
		t.clearWorking(h.Event)
		if err := t.updateReady(h.Key); err != nil {
			return err
		}
	}
	destinations, err := t.Texts(`select distinct destination from outbox where owner = $1 and owner <> ''
		and destination >= ''`, owner)
	if err != nil || len(destinations) == 0 {
		return err
	}
	if err := t.lockDestinations(destinations...); err != nil {
		return err
	}
	_, err = t.Exec(`update outbox set owner = '' where owner = $1 and owner <> '' and destination >= ''`, owner)
	return err
}

// holds locks and returns the queues that an owner holds.
func (t *Tx) holds(owner string) ([]core.Hold, error) {
	return List(t, readHold, `select `+holdColumns+` from queues where owner = $1 and owner <> ''
		order by queue_key`+t.sql.forUpdate(), owner)
}

// holdColumns are those of a core.Hold. stop is the event that is to stop; negative, if its message was deleted.
const holdColumns = `queue_key, event, fence, stop in (event, -event), stop = -event`

func readHold(scan func(...any) error) (h core.Hold, err error) {
	return h, scan(&h.Key, &h.Event, &h.Fence, &h.Stop, &h.Deleted)
}

// Queue returns up to n queues (0: all) with waiting or running events, and the counts of these, of posts, dead letters
// and open approvals. It is one statement, so all come from one snapshot; without such a queue the statement returns
// the counts with an empty queue.
func (s *Store) Queue(ctx context.Context, n int) (core.QueueView, error) {
	return read(ctx, s, func(t *Tx) (q core.QueueView, err error) {
		queue := func(scan func(...any) error) (e core.QueueEntry, err error) {
			return e, scan(&q.Paused, &q.Queues, &q.Posts, &q.InDoubt, &q.DeadPosts, &q.Dead, &q.Approvals,
				&e.Key, &e.Platform, &e.Owner, timestamp{&e.ReadyAt}, &e.Waiting, timestamp{&e.Oldest})
		}
		q.Entries, err = List(t, queue, `
			select counts.*, coalesce(first.queue_key, ''), coalesce(first.platform, ''), coalesce(first.owner, ''),
				first.ready_at,
				(select count(*) from events e where e.queue_key = first.queue_key and e.ended_at = 0),
				(select min(e.accepted_at) from events e where e.queue_key = first.queue_key and e.ended_at = 0)
			from (select exists (select 1 from kv where name = 'paused'),
				(select count(*) from queues where ready_at >= 0) + (select count(*) from queues
					where owner > '' and owner <> ''),
				(select count(*) from outbox where state = 'waiting' and state <> 'sent' and kind <> 'twin'),
				(select count(*) from outbox where state = 'unknown' and state <> 'sent'),
				(select count(*) from outbox where state = 'dead' and state <> 'sent'), (select count(*) from events
					where end_kind = 'dead' and seq > 0),
				(select count(*) from approvals where state = 'open')) counts
			left join (select * from queues where queue_key in (select queue_key from queues where ready_at >= 0
				union all select queue_key from queues where owner > '' and owner <> '')
				order by rank, head limit $1) first on true
			order by first.rank, first.head`, limit(n))
		if len(q.Entries) == 1 && q.Entries[0].Key == "" {
			q.Entries = nil
		}
		return q, err
	})
}

// mostClosed is of how many closed approvals ClosedAfter tells at once.
const mostClosed = 10_000

// Figures counts what there is in the database.
func (s *Store) Figures(ctx context.Context) (core.Figures, error) {
	return read(ctx, s, func(t *Tx) (f core.Figures, err error) {
		_, err = t.Row([]any{
			&f.Waiting, timestamp{&f.OldestWaiting}, &f.Unsent, timestamp{&f.OldestUnsent}, &f.Doubtful, &f.Unknown,
			&f.DeadPosts, &f.DeadLetters, &f.Approvals, timestamp{&f.OldestApproval}, &f.AuditHead, &f.Bytes,
		}, `select (select count(*) from events where ended_at = 0 and seq > 0),
			coalesce((select accepted_at from events e where ended_at = 0 and seq > 0
				and not exists (select 1 from queues q where q.queue_key = e.queue_key and q.event = e.seq
					and q.owner > '' and q.owner <> '') order by seq limit 1), 0),
			(select count(*) from outbox where state = 'waiting' and state <> 'sent' and kind <> 'twin'),
			coalesce((select created_at from outbox where state = 'waiting' and state <> 'sent' and kind <> 'twin'
				order by seq limit 1), 0),
			(select count(*) from outbox where state = 'waiting' and state <> 'sent' and cause like $1
				and kind <> 'twin'),
			(select count(*) from outbox where state = 'unknown' and state <> 'sent'),
			(select count(*) from outbox where state = 'dead' and state <> 'sent'),
			(select count(*) from events where end_kind = 'dead' and seq > 0),
			(select count(*) from approvals where state = 'open'),
			coalesce((select created_at from approvals where state = 'open' order by seq limit 1), 0),
			(select seq from audit_head where one = 1), `+t.sql.Size, string(core.DeliveryInDoubt)+"%")
		file, log := s.engine.FileBytes()
		f.Bytes, f.LogBytes = f.Bytes+file, log
		return f, err
	})
}

// ClosedAfter returns the approvals that people or time closed after an entry of the audit log, and the place of the
// last entry that it looked at.
func (s *Store) ClosedAfter(ctx context.Context, after int64) (closed []core.ClosedApproval, last int64, err error) {
	last = after
	closed, err = read(ctx, s, func(t *Tx) ([]core.ClosedApproval, error) {
		return List(t, func(scan func(...any) error) (c core.ClosedApproval, err error) {
			var at, since time.Time
			err = scan(&last, &c.Result, timestamp{&at}, timestamp{&since})
			c.Open = at.Sub(since)
			return c, err
		}, `select l.seq, l.action, l.at, a.created_at from audit l join approvals a on a.id = l.approval
			where l.seq > $1 and l.action in ('approved', 'denied', 'answered', 'expired', 'cancelled')
			and l.actor <> 'policy'
			order by l.seq limit $2`,
			after, mostClosed)
	})
	return closed, last, err
}

// SetPaused pauses or resumes the start of turns. Setting it twice changes nothing.
func (s *Store) SetPaused(ctx context.Context, paused bool) error {
	return s.write(ctx, func(t *Tx) error {
		if !paused {
			_, err := t.Exec(`delete from kv where name = 'paused'`)
			return err
		}
		_, err := t.Exec(`insert into kv (name, value) values ('paused', 'true') on conflict (name) do nothing`)
		return err
	})
}

// Stop asks the running turn of a conversation to stop; if its process crashes, the next holder sees the request. If no
// turn has begun and the first message waits for a delayed retry, Stop withdraws that message.
func (s *Store) Stop(ctx context.Context, conversation core.ConversationID, by core.Actor) (core.StopResult, error) {
	return write(ctx, s, func(t *Tx) (result core.StopResult, err error) {
		if found, err := t.lockKnownQueue(conversation.Queue()); err != nil || !found {
			return result, err
		}
		n, err := t.Exec(`update queues set stop = case when stop = -event then stop else event end
			where queue_key = $1 and event <> 0`, conversation)
		if err != nil || n > 0 {
			return core.StopResult{Running: n > 0}, err
		}
		var seq int64
		var until time.Time
		found, err := t.Row([]any{&seq, timestamp{&until}}, `select seq, not_before from events where queue_key = $1
			and ended_at = 0 and signal = false order by seq limit 1`, conversation)
		if err != nil || !found || !until.After(t.Now) {
			return result, err
		}
		if err := t.endEvent(seq, core.EndWithdrawn, fmt.Sprintf("stopped by %s", by.ID)); err != nil {
			return result, err
		}
		return core.StopResult{Withdrawn: seq}, t.updateReady(conversation.Queue())
	})
}
