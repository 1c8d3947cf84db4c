package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"gatehouse/core"
)

// Claim takes ready queues, the one whose turn it is first. An event is returned again, with a higher Attempt, if its
// owner dies. Claim skips a queue that is locked, because it is being claimed or receives an event; the next call finds
// it.
func (s *Store) Claim(ctx context.Context, r core.ClaimRequest) ([]core.Claim, error) {
	if r.Limit <= 0 || len(r.Scopes) == 0 {
		return nil, nil
	}
	ready := func(t *Tx, take bool) ([]string, error) { return s.engine.ReadyQueues(t, r, take) }
	claim := func(t *Tx, key string) ([]core.Claim, error) {
		claims, err := t.claim(r, core.QueueKey(key))
		if err != nil {
			return nil, fmt.Errorf("claiming %s: %w", key, err)
		}
		return claims, nil
	}
	return claiming(ctx, s, r.Owner, func() ([]core.Claim, error) { return claimEach(ctx, s, r.Owner, ready, claim) },
		(*claimed).addClaim)
}

// claimEach finds what is ready and claims it all in one transaction. It looks first without a transaction: this costs
// no commit, and usually nothing is ready.
func claimEach[T any](
	ctx context.Context, s *Store, owner string, ready func(t *Tx, take bool) ([]string, error),
	claim func(*Tx, string) ([]T, error),
) ([]T, error) {
	if owner == "" {
		return nil, core.Errorf(core.Invalid, "A claim must name its owner.")
	}
	found, err := read(ctx, s, func(t *Tx) ([]string, error) { return ready(t, false) })
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return write(ctx, s, func(t *Tx) (all []T, err error) {
		taken, err := ready(t, true)
		if err != nil || len(taken) == 0 {
			return nil, err
		}
		if err := t.keepAlive(owner); err != nil {
			return nil, err
		}
		for _, key := range taken {
			claimed, err := claim(t, key)
			if err != nil {
				return nil, err
			}
			all = append(all, claimed...)
		}
		return all, nil
	})
}

// lightPayload is how many bytes a payload has at most that is read with its event, before it is known whether there is
// room for that: many may be found for which there is none.
const lightPayload = 16 << 10

var lightColumns = strings.Replace(eventColumns, "payload",
	fmt.Sprintf("case when octet_length(payload) <= %d then payload end", lightPayload), 1)

// claim takes one queue; the caller holds its lock. It takes the first signal that is due, otherwise the first message
// if it is due.
func (t *Tx) claim(r core.ClaimRequest, key core.QueueKey) ([]core.Claim, error) {
	var fence, bytes int64
	generation, waits := 1, false
	e, found, err := one(t, func(scan func(...any) error) (core.EventRecord, error) {
		return readEvent(func(columns ...any) error {
			return scan(append(columns, &bytes, &fence, &generation, &waits)...)
		})
	}, `
		select `+lightColumns+`, coalesce(octet_length(payload), 0),
			(select fence + 1 from queues where queue_key = $1), coalesce((select generation
			from queues where queue_key = events.conversation), 1), due_at > $2 and due_at - delay <= $3
		from events where seq = coalesce(
			(select seq from events where queue_key = $1 and ended_at = 0 and signal = true and (due_at <= $2
				or due_at - delay > $3) order by seq limit 1),
			(select seq from events where queue_key = $1 and ended_at = 0 and signal = false order by seq
				limit 1))`, key, t.Now, t.Now.Add(SetBack))
	if err != nil {
		return nil, err
	}
	if !found || waits {
		return nil, t.updateReady(key)
	}
	if ofClicks(key) && !serves(r.Scopes, e.Event) { // it was another event's turn when the queue was found
		return nil, nil
	}
	e.Attempt++
	if r.Attempts > 0 && e.Attempt > r.Attempts || r.Room != nil && !r.Room.Admits(e, bytes) {
		return nil, nil
	}
	if bytes > lightPayload {
		var payload []byte
		if _, err := t.Row([]any{&payload}, `select payload from events where seq = $1`, e.Seq); err != nil {
			return nil, err
		}
		e.Payload = payload
	}
	e.Session = e.Conversation.Session(generation)
	if err := t.Do(`update events set attempt = $1, session = $2 where seq = $3`, e.Attempt, e.Session,
		e.Seq); err != nil {
		return nil, err
	}
	if err := t.Do(`update queues set owner = $1, fence = $2, event = $3, ready_at = null
		where queue_key = $4`, r.Owner, fence, e.Seq, key); err != nil {
		return nil, err
	}
	return []core.Claim{{Owner: r.Owner, Key: key, Fence: fence, Event: e, Session: e.Session}}, nil
}

// serves reports whether an event is within the scopes.
func serves(scopes []core.Scope, e core.Event) bool {
	return slices.ContainsFunc(scopes, func(s core.Scope) bool {
		return s.Platform == e.Platform && (s.Conversations == nil || slices.Contains(s.Conversations, e.Conversation))
	})
}

// StopRequested returns the claim's queue, with whether its turn was asked to stop. The request survives a crash of the
// holder.
func (s *Store) StopRequested(ctx context.Context, c core.Claim) (core.Hold, error) {
	return read(ctx, s, func(t *Tx) (core.Hold, error) {
		h, held, err := one(t, readHold, `select `+holdColumns+` from `+heldQueue, c.Key, c.Owner, c.Fence, c.Event.Seq)
		if err == nil && !held {
			err = claimLost(c)
		}
		return h, err
	})
}

// Release returns the event to its queue as if it had not been claimed. It fails with lease_lost if the claim no longer
// holds its queue.
func (s *Store) Release(ctx context.Context, c core.Claim) error {
	err := s.fenced(ctx, c, func(t *Tx) error {
		if err := t.Do(`update events set attempt = attempt - 1 where seq = $1`, c.Event.Seq); err != nil {
			return err
		}
		return t.releaseQueue(c.Key, c.Event.Seq)
	})
	s.ended(c, err)
	return err
}

// KeepFetched stores the message that the claim's event was read as.
func (s *Store) KeepFetched(ctx context.Context, c core.Claim, m core.Message) error {
	return s.fenced(ctx, c, func(t *Tx) error {
		return t.Do(`update events set fetched = $1 where seq = $2`, asJSON{m}, c.Event.Seq)
	})
}

// ended forgets a claim that the result of its last call shows to be over.
func (s *Store) ended(c core.Claim, err error) {
	if err == nil || core.CategoryOf(err) == core.ClaimLost {
		s.claimed.endClaim(c)
	}
}

// TakeBack makes the attempt of a claim that was lost not count, if its event has not ended: its turn came to an end
// that could not be stored, so it was not the death of a process. It must be called once.
func (s *Store) TakeBack(ctx context.Context, c core.Claim) error {
	return s.write(ctx, func(t *Tx) error {
		if _, err := t.lockKnownQueue(c.Key); err != nil {
			return err
		}
		if _, err := t.Exec(`update events set attempt = attempt - 1 where seq = $1 and ended_at = 0
			and attempt > 0`, c.Event.Seq); err != nil {
			return err
		}
		return t.updateReady(c.Key)
	})
}

// Holds returns the queues that owner holds, each with the event that its turn is for; with stops only those whose
// turns were requested to stop.
func (s *Store) Holds(ctx context.Context, owner string, stops bool) ([]core.Hold, error) {
	query := `select ` + holdColumns + ` from queues where owner = $1 and owner <> ''`
	if stops {
		query += ` and stop in (event, -event)`
	}
	return read(ctx, s, func(t *Tx) ([]core.Hold, error) { return List(t, readHold, query, owner) })
}

// AcceptClaim is Accept for an event whose turn its process could begin now: if nobody holds the event's queue, nothing
// waits in it and turns are not paused, the event is claimed for owner in the same transaction, which saves a commit.
// Otherwise the claim is nil, and the event waits for Claim. The caller makes sure that it serves the event, and that
// no event of another queue waits for a turn.
func (s *Store) AcceptClaim(ctx context.Context, e core.Event, owner string) (core.Receipt, *core.Claim, error) {
	if err := checkEvent(e); err != nil {
		return core.Receipt{}, nil, err
	}
	if owner == "" {
		return core.Receipt{}, nil, core.Errorf(core.Invalid, "A claim must name its owner.")
	}
	if e.QueueKey() != e.Conversation.Queue() || e.Kind() == core.KindAmend {
		r, err := s.Accept(ctx, e)
		return r, nil, err
	}
	var a *accepted // of the transaction, and whole once that is committed
	claims, err := claiming(ctx, s, owner, func() ([]core.Claim, error) {
		err := s.write(ctx, func(t *Tx) error {
			a = &accepted{}
			return t.acceptClaim(a, e, owner, s.limits)
		})
		if err != nil {
			return nil, err
		}
		return a.claims(s), nil
	}, (*claimed).addClaim)
	if err != nil {
		return core.Receipt{}, nil, err
	}
	if len(claims) == 0 {
		r, err := s.numbered(ctx, e, a.receipt)
		return r, nil, err
	}
	return a.receipt, &claims[0], nil
}

// accepted is what acceptClaim does.
type accepted struct {
	queue   queue
	receipt core.Receipt
	claim   core.Claim // if it may be claimed; its number is the receipt's
	session loading    // of the claim
}

// claims returns the claim of the event, or none.
func (a *accepted) claims(s *Store) []core.Claim {
	if a.claim.Owner == "" || !a.receipt.Fresh {
		return nil
	}
	a.claim.Event.Seq = a.receipt.Seq
	if a.claim.Event.Kind() == core.KindMessage && a.session.fault == nil { // otherwise the turn finds out
		a.claim.Loaded = &core.LoadedSession{Record: a.session.session(s)}
	}
	return []core.Claim{a.claim}
}

// acceptClaim is a transaction of two round trips.
func (t *Tx) acceptClaim(a *accepted, e core.Event, owner string, l core.Limits) error {
	known, err := t.followsUp(e)
	if err != nil || !known {
		return err
	}
	var over reached
	err = t.lockedQueue(&a.queue, e, owner, func() error {
		over = reached{}
		return t.askLimits(&over, e, l)
	})
	if err != nil {
		return err
	}
	q, key, added := a.queue, e.QueueKey(), newEvent{Event: e, invocation: t.invocation(e)}
	if q.free && !over.any() {
		added.attempt, added.session = 1, e.Conversation.Session(q.generation)
	}
	if err := t.storeEvent(&a.receipt, added); err != nil {
		return err
	}
	if err := t.refuse(&a.receipt, e, over, l); err != nil {
		return err
	}
	if added.attempt == 0 {
		return t.updateReady(key)
	}
	if e.Kind() == core.KindSignal { // its invocation may be that of an earlier one
		if err := t.flush(); err != nil || !a.receipt.Fresh {
			return err
		}
	}
	if !q.alive {
		if err := t.keepAlive(owner); err != nil {
			return err
		}
	}
	a.claim = core.Claim{Owner: owner, Key: key, Fence: q.fence, Session: added.session, Event: core.EventRecord{
		Event: e, Invocation: added.invocation, AcceptedAt: t.Now.UTC(), Attempt: 1, Session: added.session,
	}}
	if e.Kind() == core.KindMessage {
		if err := t.askLoad(&a.session, added.session, core.Writer{Invocation: added.invocation}); err != nil {
			return err
		}
	}
	return t.Do(`
		update queues set owner = $1, fence = $2, event = added.seq, head = added.seq, suspect = false,
			rank = added.rank
		from (select seq, rank from events where platform = $3 and id = $4 and invocation = $5) added
			where queue_key = $6`,
		owner, q.fence, e.Platform, e.ID, added.invocation, key)
}

// queue is what AcceptClaim needs to know of one.
type queue struct {
	generation int
	fence      int64 // of the next claim
	free       bool  // its next event may be claimed at once
	alive      bool  // the owner needs no watch: its row is there, and locked
}

// lockedQueue locks the queue of an event and the owner, and reads the queue and the clock; the queue's row is added if
// it is missing. What asking asks is read with the queue, under its lock.
func (t *Tx) lockedQueue(q *queue, e core.Event, owner string, asking func() error) error {
	found := false
	read := func() error {
		err := t.ask(&found, []any{Clock{t}, &q.generation, &q.fence, &q.free}, `
			select `+t.sql.Clock+`, generation, fence + 1, owner = '' and ready_at is null and not exists (select 1
				from kv where name = 'paused')
			from (select * from queues where queue_key = $1`+t.sql.forUpdate()+`) locked`, e.QueueKey())
		if err != nil {
			return err
		}
		return t.flushed(asking())
	}
	// The owner is locked first, as in expire.
	err := t.askExists(&q.alive, `select 1 from owners where owner = $1`+t.sql.forKeyShare(), owner)
	if err != nil {
		return err
	}
	if err := read(); err != nil || found {
		return err
	}
	if err := t.store.engine.LockQueue(t, e.QueueKey(), e.Platform, e.Conversation); err != nil {
		return err
	}
	return read()
}
