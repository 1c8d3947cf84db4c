package postgres

import (
	"context"
	"time"
)

// pruneStep is how many rows of a kind one transaction removes, so that nobody waits long behind it.
const pruneStep = 500

// prunes are the statements of Prune, each removing at most $2 rows that ended before $1. What somebody has locked is left for
// the next time: so Prune waits for nobody.
//
// Spared are: dead letters; whatever belongs to a paused invocation; clicks on an open approval, which would else be counted
// anew when they come again; a second try while the first event, which names it, is there; posts that are in doubt, dead or
// still to be changed.
var prunes = []string{
	`delete from events where seq in (
		select e.seq from events e where e.ended_at < $1 and e.end_kind <> 'dead'
		and not exists (select 1 from paused p where p.invocation = e.invocation)
		and not exists (select 1 from approvals a where a.id = e.subject and a.state = 'open')
		and not exists (select 1 from events o where o.seq = e.retry_of)
		limit $2 for update of e skip locked)`,
	`delete from outbox where seq in (
		select o.seq from outbox o where o.state = 'sent' and o.sent_at < $1
		and not exists (select 1 from approvals a join paused p on p.invocation = a.invocation where a.id = o.approval)
		limit $2 for update of o skip locked)`,
	`delete from outbox where seq in (select seq from outbox where state = 'dropped' and created_at < $1 limit $2 for update skip locked)`,
	`delete from intents where approval in (
		select i.approval from intents i join approvals a on a.id = i.approval where a.state <> 'open' and a.decided_at < $1
		and not exists (select 1 from paused p where p.invocation = a.invocation)
		limit $2 for update of i skip locked)`,
	`delete from approvals where seq in (
		select a.seq from approvals a where a.state <> 'open' and a.decided_at < $1
		and not exists (select 1 from paused p where p.invocation = a.invocation)
		and not exists (select 1 from intents i where i.approval = a.id)
		limit $2 for update of a skip locked)`,
	`delete from evidence where invocation in (
		select v.invocation from evidence v where v.at < $1
		and not exists (select 1 from paused p where p.invocation = v.invocation)
		limit $2 for update of v skip locked)`,
	`delete from holds where name in (select name from holds where lease_until < $1 limit $2 for update skip locked)`,
	`delete from uses where seq in (select seq from uses where ends < $1 limit $2 for update skip locked)`,
}

// idle are the statements that clear up rows that only stand for locks. Queues of clicks and controls come and go, and so do
// destinations and names that are spent; a conversation's row stays, since it knows the generation.
var idle = []string{
	`delete from queues where queue in (select queue from queues where beside and ready_at is null and owner = '' limit $1 for update skip locked)`,
	`delete from spending where name in (select name from spending where ends < (select clock_timestamp()) limit $1 for update skip locked)`,
	`delete from destinations where destination in (select destination from destinations where ready_at is null limit $1 for update skip locked)`,
}

// Prune removes what is old. It works in several transactions: a crash between two leaves the rest for the next time.
func (s *Store) Prune(ctx context.Context, age time.Duration) (removed int, err error) {
	for _, query := range prunes {
		n, err := s.prune(ctx, func(t *tx) (int64, error) {
			if err := t.clock(); err != nil {
				return 0, err
			}
			return t.exec(query, t.now.Add(-age), pruneStep)
		})
		removed += n
		if err != nil {
			return removed, err
		}
	}
	for _, query := range idle {
		if _, err := s.prune(ctx, func(t *tx) (int64, error) { return t.exec(query, pruneStep) }); err != nil {
			return removed, err
		}
	}
	return removed, nil
}

// prune repeats a step until it finds less than it may take.
func (s *Store) prune(ctx context.Context, step func(*tx) (int64, error)) (removed int, err error) {
	for n := int64(pruneStep); n == pruneStep; {
		err = s.write(ctx, func(t *tx) (err error) {
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
