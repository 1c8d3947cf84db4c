package sqlstore

import (
	"context"

	"gatehouse/core"
)

// AcceptClaim is Accept for an event whose turn its process could begin now: if nobody holds the event's queue, nothing waits in it and turns are
// not paused, the event is claimed for owner in the same transaction, which saves a commit. Otherwise the claim is nil, and the event waits for
// Claim. The caller makes sure that it serves the event, and that no event of another queue waits for a turn.
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
	var r core.Receipt
	claims, err := claiming(ctx, s, owner, func() ([]core.Claim, error) {
		return write(ctx, s, func(t *Tx) (claims []core.Claim, err error) {
			r, claims, err = t.acceptClaim(e, owner, s.limits)
			return claims, err
		})
	}, (*claimed).addClaim)
	if err != nil {
		return core.Receipt{}, nil, err
	}
	if len(claims) == 0 {
		return r, nil, nil
	}
	return r, &claims[0], nil
}

// acceptClaim returns the claim of the event, or none.
func (t *Tx) acceptClaim(e core.Event, owner string, l core.Limits) (core.Receipt, []core.Claim, error) {
	known, err := t.followsUp(e)
	if err != nil || !known {
		return core.Receipt{}, nil, err
	}
	q, err := t.lockedQueue(e, owner)
	if err != nil {
		return core.Receipt{}, nil, err
	}
	key, added := e.QueueKey(), newEvent{Event: e, invocation: t.invocation(e)}
	if q.free {
		added.attempt, added.session = 1, e.Conversation.Session(q.generation)
	}
	r, rank, err := t.storeEvent(added)
	if err != nil || !r.Fresh {
		return r, nil, err
	}
	refused, err := t.limit(e, r.Seq, l)
	if err != nil || refused {
		return r, nil, err
	}
	if !q.free {
		return r, nil, t.updateReady(key)
	}
	if !q.watched {
		if err := t.watch(owner); err != nil {
			return r, nil, err
		}
	}
	c := core.Claim{Owner: owner, Key: key, Fence: q.fence, Session: added.session, Event: core.EventRecord{
		Event: e, Seq: r.Seq, Invocation: added.invocation, AcceptedAt: t.Now.UTC(), Attempt: 1, Session: added.session,
	}}
	err = t.Do(`update queues set owner = $1, fence = $2, event = $3, head = $3, suspect = false, rank = $4 where queue_key = $5`, owner, q.fence, r.Seq, rank, key)
	return r, []core.Claim{c}, err
}

// queue is what AcceptClaim needs to know of one.
type queue struct {
	generation int
	fence      int64 // of the next claim
	free       bool  // its next event may be claimed at once
	watched    bool  // the owner needs no watch
}

// lockedQueue locks the queue of an event, and reads it and the clock. Its row is added if it is missing.
func (t *Tx) lockedQueue(e core.Event, owner string) (q queue, err error) {
	read := func() (bool, error) {
		return t.Row([]any{Clock{t}, &q.generation, &q.fence, &q.free, &q.watched}, `
			select `+t.hooks.Clock+`, generation, fence + 1, owner = '' and ready_at is null and not exists (select 1 from kv where name = 'paused'),
				exists (select 1 from owners where owner = $1)
			from (select * from queues where queue_key = $2`+t.forUpdate()+`) locked`, owner, e.QueueKey())
	}
	found, err := read()
	if err == nil && !found {
		if err = t.hooks.LockQueue(t, e.QueueKey(), e.Platform, e.Conversation); err == nil {
			_, err = read()
		}
	}
	q.watched = q.watched && !t.hooks.RowLocks // elsewhere its row is to be locked
	return q, err
}
