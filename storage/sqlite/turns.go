package sqlite

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"gatehouse/core"
)

// candidate is a conversation that could be claimed.
type candidate struct {
	queue core.QueueKey
	ready int64
}

// Claim takes ready conversations, those that wait longest first.
func (s *Store) Claim(ctx context.Context, r core.ClaimRequest) ([]core.Claim, error) {
	if r.Owner == "" {
		return nil, core.Errorf(core.Invalid, "A claim needs an owner.")
	}
	if r.Limit <= 0 || len(r.Scopes) == 0 {
		return nil, nil
	}
	// Looking first costs no commit, and most looks find nothing.
	if worth, err := s.worth(ctx, r); err != nil || !worth {
		return nil, err
	}
	var claims []core.Claim
	err := s.write(ctx, func(t *tx) error {
		found, err := t.candidates(r)
		if err != nil {
			return err
		}
		for _, c := range found {
			claim, ok, err := t.claim(r, c.queue)
			if err != nil {
				return fmt.Errorf("claiming %s: %w", c.queue, err)
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

func (s *Store) worth(ctx context.Context, r core.ClaimRequest) (worth bool, err error) {
	err = s.read(ctx, func(t *tx) error {
		found, err := t.candidates(r)
		worth = len(found) > 0
		return err
	})
	return worth, err
}

func (t *tx) candidates(r core.ClaimRequest) ([]candidate, error) {
	beside := 1
	if !r.Controls {
		beside = 0
		paused, err := t.paused()
		if err != nil || paused {
			return nil, err
		}
	}
	var all []candidate
	read := func(scan func(...any) error) (c candidate, err error) { return c, scan(&c.queue, &c.ready) }
	for _, scope := range r.Scopes {
		query, args := `select queue, ready_at from queues where platform = ? and beside = ? and ready_at <= ? order by ready_at limit ?`,
			[]any{scope.Platform, beside, ns(t.now), r.Limit}
		if scope.Conversations != nil {
			query = `
				select queue, ready_at from queues indexed by queues_scoped
				where conversation in (select value from json_each(?)) and +platform = ? and beside = ? and ready_at <= ? order by ready_at limit ?`
			args = append([]any{asJSON{scope.Conversations}}, args...)
		}
		found, err := list(t, read, query, args...)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	slices.SortStableFunc(all, func(a, b candidate) int { return cmp.Compare(a.ready, b.ready) })
	seen := map[core.QueueKey]bool{}
	all = slices.DeleteFunc(all, func(c candidate) bool {
		again := seen[c.queue]
		seen[c.queue] = true
		return again
	})
	return all[:min(len(all), r.Limit)], nil
}

// claim takes one conversation: the first signal that is due, else the first message if that is due.
func (t *tx) claim(r core.ClaimRequest, queue core.QueueKey) (core.Claim, bool, error) {
	found, err := list(t, readEvent, `
		select `+eventColumns+` from events where queue = ? and ended_at = 0 and signal = 1 and not_before <= ? order by seq limit 1`, queue, ns(t.now))
	if err == nil && len(found) == 0 {
		found, err = list(t, readEvent, `select `+eventColumns+` from events where queue = ? and ended_at = 0 and signal = 0 order by seq limit 1`, queue)
	}
	if err != nil {
		return core.Claim{}, false, err
	}
	if len(found) == 0 || found[0].NotBefore.After(t.now) {
		return core.Claim{}, false, t.forget(queue)
	}
	e := found[0]
	e.Attempt++
	session, err := t.session(e.Conversation)
	if err != nil {
		return core.Claim{}, false, err
	}
	e.Session = session
	if _, err := t.exec(`update events set attempt = ?, session = ? where seq = ?`, e.Attempt, e.Session, e.Seq); err != nil {
		return core.Claim{}, false, err
	}
	var fence, left int64
	if _, err := t.row([]any{&fence, &left}, `select fence + 1, event from queues where queue = ?`, queue); err != nil {
		return core.Claim{}, false, err
	}
	if left != 0 { // the last holder died
		if err := t.clearWorking(left); err != nil {
			return core.Claim{}, false, err
		}
	}
	until := ns(t.now.Add(r.Lease))
	if _, err := t.exec(`update queues set owner = ?, lease_until = ?, fence = ?, event = ?, ready_at = ? where queue = ?`, r.Owner, until, fence, e.Seq, until, queue); err != nil {
		return core.Claim{}, false, err
	}
	return core.Claim{Owner: r.Owner, Key: queue, Fence: fence, Event: e, Session: session}, true, nil
}

// Renew makes the lease last from now.
func (s *Store) Renew(ctx context.Context, c core.Claim, lease time.Duration) error {
	return s.fenced(ctx, c, func(t *tx) error {
		until := ns(t.now.Add(lease))
		_, err := t.exec(`update queues set lease_until = ?, ready_at = ? where queue = ?`, until, until, c.Key)
		return err
	})
}

// StopRequested reports whether this event's turn was asked to stop. The wish outlives a holder that dies of something else.
func (s *Store) StopRequested(ctx context.Context, c core.Claim) (asked bool, err error) {
	err = s.read(ctx, func(t *tx) error {
		if err := t.fence(c); err != nil {
			return err
		}
		asked, err = t.exists(`select 1 from queues where queue = ? and stop = ?`, c.Key, c.Event.Seq)
		return err
	})
	return asked, err
}

// Release gives the event back as if it had not been claimed.
func (s *Store) Release(ctx context.Context, c core.Claim) error {
	return s.fenced(ctx, c, func(t *tx) error {
		if _, err := t.exec(`update events set attempt = attempt - 1 where seq = ?`, c.Event.Seq); err != nil {
			return err
		}
		return t.letGo(c)
	})
}

// forget ends the hold of a dead holder on a queue whose event somebody has withdrawn since, or which nothing is due in.
func (t *tx) forget(queue core.QueueKey) error {
	var left int64
	held, err := t.row([]any{&left}, `select event from queues where queue = ? and lease_until <= ?`, queue, ns(t.now))
	if err != nil {
		return err
	}
	if held && left != 0 {
		if err := t.clearWorking(left); err != nil {
			return err
		}
	}
	if held {
		if _, err := t.exec(`update queues set owner = '', event = 0, stop = 0 where queue = ?`, queue); err != nil {
			return err
		}
	}
	return t.ready(queue)
}
