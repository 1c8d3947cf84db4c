package postgres

import (
	"context"
	"fmt"

	"gatehouse/core"
)

// claimable are the conversations that can be claimed. The clock is read once, so that the index ends the search. $1 is beside.
const claimable = `
	from queues where beside = $1::boolean and ready_at <= (select clock_timestamp())
	and (platform = any($2::text[]) or (platform, conversation) in (select p, c from unnest($3::text[], $4::text[]) as pairs (p, c)))
	and ($1::boolean or not exists (select 1 from settings where name = 'paused'))`

// Claim takes ready conversations, those that wait longest first. A conversation whose lock somebody holds is passed over: it is being claimed,
// or something comes into it; the next look finds it.
func (s *Store) Claim(ctx context.Context, r core.ClaimRequest) ([]core.Claim, error) {
	if r.Owner == "" {
		return nil, core.Errorf(core.Invalid, "A claim needs an owner.")
	}
	if r.Limit <= 0 || len(r.Scopes) == 0 {
		return nil, nil
	}
	in := scopes(r.Scopes)
	// Looking first costs one statement and no commit, and most looks find nothing.
	var worth bool
	err := s.read(ctx, func(t *tx) (err error) {
		worth, err = t.exists(`select 1 `+claimable+` limit 1`, r.Controls, in.platforms, in.pairsOf, in.pairedConversations)
		return err
	})
	if err != nil || !worth {
		return nil, err
	}
	var claims []core.Claim
	err = s.write(ctx, func(t *tx) error {
		claims = nil
		queues, err := t.texts(`select queue `+claimable+` order by ready_at limit $5 for update of conversations skip locked`, r.Controls, in.platforms, in.pairsOf, in.pairedConversations, r.Limit)
		if err != nil || len(queues) == 0 {
			return err
		}
		if err := t.clock(); err != nil {
			return err
		}
		for _, q := range queues {
			claim, ok, err := t.claim(r, core.QueueKey(q))
			if err != nil {
				return fmt.Errorf("claiming %s: %w", q, err)
			}
			if ok {
				claims = append(claims, claim)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return claims, nil
}

// claim takes one conversation, whose lock is held: the first signal that is due, else the first message if that is due.
func (t *tx) claim(r core.ClaimRequest, queue core.QueueKey) (core.Claim, bool, error) {
	found, err := list(t, readEvent, `
		select `+eventColumns+` from events where seq = coalesce(
			(select seq from events where queue = $1 and ended_at is null and signal and due_at <= $2 order by seq limit 1),
			(select seq from events where queue = $1 and ended_at is null and not signal order by seq limit 1))`, queue, t.now)
	if err != nil {
		return core.Claim{}, false, err
	}
	if len(found) == 0 || found[0].NotBefore.After(t.now) {
		return core.Claim{}, false, t.forget(queue)
	}
	e := found[0]
	e.Attempt++
	if e.Session, err = t.session(e.Conversation); err != nil {
		return core.Claim{}, false, err
	}
	if _, err := t.exec(`update events set attempt = $1, session = $2 where seq = $3`, e.Attempt, e.Session, e.Seq); err != nil {
		return core.Claim{}, false, err
	}
	var fence, left int64
	if _, err := t.row([]any{&fence, &left}, `select fence + 1, event from queues where queue = $1`, queue); err != nil {
		return core.Claim{}, false, err
	}
	if left != 0 { // the last holder died
		t.putOut(left)
	}
	if _, err := t.exec(`update queues set owner = $1, lease_until = $2::timestamptz, fence = $3, event = $4, ready_at = $2::timestamptz where queue = $5`,
		r.Owner, t.now.Add(r.Lease), fence, e.Seq, queue); err != nil {
		return core.Claim{}, false, err
	}
	return core.Claim{Owner: r.Owner, Key: queue, Fence: fence, Event: e, Session: e.Session}, true, nil
}

// forget ends the hold of a dead holder on a queue whose event somebody has withdrawn since, or which nothing is due in.
func (t *tx) forget(queue core.QueueKey) error {
	var left int64
	held, err := t.row([]any{&left}, `select event from queues where queue = $1 and coalesce(lease_until <= $2, true)`, queue, t.now)
	if err != nil {
		return err
	}
	if held && left != 0 {
		t.putOut(left)
	}
	if held {
		if _, err := t.exec(`update queues set owner = '', lease_until = null, event = 0, stop = 0 where queue = $1`, queue); err != nil {
			return err
		}
	}
	return t.ready(queue)
}
