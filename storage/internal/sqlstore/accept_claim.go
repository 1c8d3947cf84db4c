package sqlstore

import (
	"context"

	"gatehouse/core"
)

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
		return asking()
	}
	// first, as in expire
	err := t.askExists(&q.alive, `select 1 from owners where owner = $1`+t.sql.forKeyShare(), owner)
	if err == nil {
		err = read()
	}
	if err == nil {
		err = t.flush()
	}
	if err != nil || found {
		return err
	}
	if err = t.store.engine.LockQueue(t, e.QueueKey(), e.Platform, e.Conversation); err == nil {
		err = read()
	}
	if err == nil {
		err = t.flush()
	}
	return err
}
