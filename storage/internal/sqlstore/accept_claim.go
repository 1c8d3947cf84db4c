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
	key := e.QueueKey()
	if err := t.hooks.LockQueue(t, key, e.Platform, e.Conversation); err != nil {
		return core.Receipt{}, nil, err
	}
	var generation int
	var fence int64
	var free bool
	if _, err := t.Row([]any{&generation, &fence, &free}, `
		select generation, fence + 1, owner = '' and ready_at is null and not exists (select 1 from kv where name = 'paused') from queues where queue_key = $1`, key); err != nil {
		return core.Receipt{}, nil, err
	}
	invocation := t.invocation(e)
	r, err := t.storeEvent(e, invocation, 0)
	if err != nil || !r.Fresh {
		return r, nil, err
	}
	refused, err := t.limit(e, r.Seq, l)
	if err != nil || refused {
		return r, nil, err
	}
	if !free {
		return r, nil, t.updateReady(key)
	}
	if err := t.watch(owner); err != nil {
		return r, nil, err
	}
	c := core.Claim{Owner: owner, Key: key, Fence: fence, Session: e.Conversation.Session(generation), Event: core.EventRecord{
		Event: e, Seq: r.Seq, Invocation: invocation, AcceptedAt: t.Now.UTC(), Attempt: 1, Session: e.Conversation.Session(generation),
	}}
	if err := t.Do(`update events set attempt = 1, session = $1 where seq = $2`, c.Session, r.Seq); err != nil {
		return r, nil, err
	}
	err = t.Do(`
		update queues set owner = $1, fence = $2, event = $3, head = $3, suspect = false, rank = (select rank from events where seq = $3) where queue_key = $4`,
		owner, fence, r.Seq, key)
	return r, []core.Claim{c}, err
}
