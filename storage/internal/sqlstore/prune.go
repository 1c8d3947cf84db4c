package sqlstore

import (
	"context"
	"time"
)

// pruneStep is the maximum number of rows that one transaction removes, so that other transactions do not wait long.
const pruneStep = 500

// prunes returns the statements of Prune. Each removes at most $2 rows that ended before $1. Locked rows are left for
// the next call, so Prune waits for no other transaction.
//
// It keeps dead letters; everything of a paused invocation; clicks on an open approval, since a repeated delivery would
// count them again; a retry while the event it retries is kept; and posts that are unknown, dead or still to be
// changed.
func prunes(t Traits) []string {
	return []string{
		`delete from events where seq in (
			select e.seq from events e where e.ended_at > 0 and e.ended_at < $1 and e.end_kind <> 'dead'
			and not exists (select 1 from paused p where p.invocation = e.invocation)
			and not exists (select 1 from approvals a where a.id = e.subject and a.state = 'open')
			and not exists (select 1 from events o where o.seq = e.retry_of)
			limit $2` + t.skipLocked("e") + `)`,
		`delete from outbox where seq in (
			select o.seq from outbox o where o.state = 'sent' and o.sent_at < $1
			and not exists (select 1 from approvals a join paused p on p.invocation = a.invocation
			where a.id = o.approval)
			limit $2` + t.skipLocked("o") + `)`,
		// "<> 'sent'" says nothing new; it lets the partial index outbox_state answer the query.
		`delete from outbox where seq in (select o.seq from outbox o where o.state = 'dropped' and o.state <> 'sent'
			and o.created_at < $1 limit $2` + t.skipLocked("o") + `)`,
		`delete from evidence where invocation in (
			select v.invocation from evidence v where v.at < $1
			and not exists (select 1 from paused p where p.invocation = v.invocation)
			limit $2` + t.skipLocked("v") + `)`,
		`delete from leases where name in (select l.name from leases l where l.lease_until < $1 limit $2` +
			t.skipLocked("l") + `)`,
		`delete from rate_tokens where seq in (select r.seq from rate_tokens r where r.ends < $1
			limit $2` + t.skipLocked("r") + `)`,
	}
}

// auditedPrunes are prunes of what the audit log tells of; the head of the log notes up to when it was pruned.
func auditedPrunes(t Traits) []string {
	return []string{
		`delete from intents where approval in (
			select i.approval from approvals a join intents i on i.approval = a.id where a.state <> 'open'
				and a.decided_at < $1
			and not exists (select 1 from paused p where p.invocation = a.invocation)
			limit $2` + t.skipLocked("i") + `)`,
		`delete from approvals where seq in (
			select a.seq from approvals a where a.state <> 'open' and a.decided_at < $1
			and not exists (select 1 from paused p where p.invocation = a.invocation)
			and not exists (select 1 from intents i where i.approval = a.id)
			limit $2` + t.skipLocked("a") + `)`,
	}
}

// expired removes at most $2 values whose lifetime is over at $1.
func expired(t Traits) string {
	return `delete from kv where name in (select k.name from kv k where k.expires_at > 0 and k.expires_at <= $1
		limit $2` + t.skipLocked("k") + `)`
}

// unused returns the statements that remove rows which only serve as locks: queues of clicks and controls, and
// destinations. The row of a conversation stays, since it holds the generation.
func unused(t Traits) []string {
	return append([]string{
		`delete from queues where queue_key in (select q.queue_key from queues q where q.queue_key >= ''
			and q.controls = true and q.ready_at is null and q.owner = '' limit $1` + t.skipLocked("q") + `)`,
		`delete from destinations where destination in (select d.destination from destinations d
			where d.destination >= '' and d.ready_at is null limit $1` + t.skipLocked("d") + `)`,
	}, t.PruneLocks...)
}

// Prune removes what ended more than age ago and returns the number of rows. It uses several transactions; after a
// crash the next call removes the rest.
func (s *Store) Prune(ctx context.Context, age time.Duration) (removed int, err error) {
	for _, query := range prunes(s.sql) {
		n, err := s.prune(ctx, func(t *Tx) (int64, error) { return t.Exec(query, t.Now.Add(-age), pruneStep) })
		removed += n
		if err != nil {
			return removed, err
		}
	}
	for _, query := range auditedPrunes(s.sql) {
		n, err := s.prune(ctx, func(t *Tx) (int64, error) {
			before := t.Now.Add(-age)
			n, err := t.Exec(query, before, pruneStep)
			if n > 0 {
				t.audited.pruned = before
			}
			return n, err
		})
		removed += n
		if err != nil {
			return removed, err
		}
	}
	for _, step := range []func(*Tx) (int64, error){
		func(t *Tx) (int64, error) { return t.pruneMail(t.Now.Add(-age), pruneStep) },
		func(t *Tx) (int64, error) { return t.Exec(expired(s.sql), t.Now, pruneStep) },
		func(t *Tx) (int64, error) { return t.pruneBlobs(pruneStep) },
	} {
		n, err := s.prune(ctx, step)
		removed += n
		if err != nil {
			return removed, err
		}
	}
	for _, query := range unused(s.sql) {
		if _, err := s.prune(ctx, func(t *Tx) (int64, error) { return t.Exec(query, pruneStep) }); err != nil {
			return removed, err
		}
	}
	return removed, s.engine.Shrink(ctx)
}

// prune repeats a step until it removes fewer rows than it may.
func (s *Store) prune(ctx context.Context, step func(*Tx) (int64, error)) (removed int, err error) {
	for n := int64(pruneStep); n == pruneStep; {
		err = s.write(ctx, func(t *Tx) (err error) {
			if err := t.readClock(); err != nil {
				return err
			}
			n, err = step(t)
			return err
		})
		if err != nil {
			return removed, err
		}
		removed += int(n)
	}
	return removed, nil
}
