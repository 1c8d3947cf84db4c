package sqlstore

import (
	"context"
	"time"

	"gatehouse/core"
)

// DeleteSession removes a session with its messages, their images, mail, evidence and paused invocations, and erases
// what was said in it elsewhere; see eraseApprovals, eraseEvents and eraseMail. An image that another session has, too,
// is kept. Deleting a missing session succeeds. It is invalid while a turn of the session runs.
func (s *Store) DeleteSession(ctx context.Context, id core.SessionID) error {
	err := s.write(ctx, func(t *Tx) error {
		queue := id.Conversation()
		if _, err := t.lockKnownQueue(queue.Queue()); err != nil {
			return err
		}
		runs, err := t.exists(`
			select 1 from queues where queue_key = $1 and owner <> '' and exists (select 1 from events
				where seq = queues.event and session = $2)`, queue, id)
		if err != nil {
			return err
		}
		if runs {
			return core.Errorf(core.Invalid,
				"A turn of the conversation %s is running. Stop it first, or wait until it ends.", id)
		}
		return t.deleteSession(id)
	})
	if err != nil {
		return err
	}
	return s.shrink(ctx)
}

// shrink gives all free space back to the system.
func (s *Store) shrink(ctx context.Context) error {
	for {
		if more, err := s.engine.Shrink(ctx); err != nil || !more {
			return err
		}
	}
}

// deleteSession is DeleteSession in a transaction that holds the conversation's queue. No turn of the session runs.
func (t *Tx) deleteSession(id core.SessionID) error {
	if err := t.eraseApprovals(id); err != nil {
		return err
	}
	waiting, err := t.Texts(`select invocation from paused where session = $1`, id)
	if err != nil {
		return err
	}
	for _, invocation := range waiting {
		if err := t.abandon(
			core.Abandon{
				Invocation: core.InvocationID(invocation), Cancel: true, Reason: "the conversation was deleted",
			}, core.Claim{Owner: core.LocalAdmin}); err != nil {
			return err
		}
	}
	if _, err := t.Exec(`delete from evidence where session = $1`, id); err != nil {
		return err
	}
	blobs, err := t.sessionBlobs(id)
	if err != nil {
		return err
	}
	if _, err := t.Exec(`delete from sessions where id = $1`, id); err != nil {
		return err
	}
	if _, err := t.Exec(`delete from messages where session = $1 and pos >= 0`, id); err != nil {
		return err
	}
	if err := t.eraseEvents(id); err != nil {
		return err
	}
	if err := t.eraseMail(id); err != nil {
		return err
	}
	return t.removeUnused(blobs, true)
}

// What DeleteSession erases elsewhere is text, and digests that anybody could compute. Ids, times and states stay: an
// event that is delivered again is known, and the audit log can be verified. Events and posts that still wait are left,
// since they are still to be answered and delivered.

// eraseApprovals erases the texts of a session's approvals: arguments and their digests, summaries, questions, answers,
// reasons, changed requests and tool results, the reasons in the audit log, and the payloads of ended clicks on them.
// Such a click may be an event of another conversation, such as an approver's direct messages, and its payload may
// quote the card.
func (t *Tx) eraseApprovals(id core.SessionID) error {
	all, err := List(t, readApproval, `select `+approvalColumns+` from approvals where session = $1
		order by seq`+t.sql.forUpdate(), id)
	if err != nil {
		return err
	}
	for _, a := range all {
		if err := t.checkedBefore(a); err != nil { // it may be cancelled next
			return err
		}
		a = a.Erased()
		if _, err := t.Exec(`update approvals set body = $1, reason = '', changed = '' where id = $2`,
			asJSON{bodyOf(a)}, a.ID); err != nil {
			return err
		}
		for n, v := range a.Votes {
			if _, err := t.Exec(`update votes set body = $1 where approval = $2 and n = $3`, asJSON{v}, a.ID,
				n); err != nil {
				return err
			}
		}
	}
	if _, err := t.Exec(`
		update events set payload = null where kind in ('click', 'again') and subject in (select id from approvals
			where session = $1) and ended_at > 0 and payload is not null`, id); err != nil {
		return err
	}
	if _, err := t.Exec(`update intents set content = '""', digest = '' where approval in (select id from approvals
		where session = $1)`, id); err != nil {
		return err
	}
	return t.eraseReasons(id)
}

// eraseEvents erases the payloads of a session's ended events, and the texts of its posts that do not wait. Events that
// ended without a turn, such as edits, belong to the conversation, and so to each of its sessions.
func (t *Tx) eraseEvents(id core.SessionID) error {
	if _, err := t.Exec(`update events set payload = null, fetched = '' where conversation = $1 and session in ($2, '')
		and ended_at > 0 and payload is not null`, id.Conversation(), id); err != nil {
		return err
	}
	rows, err := List(t, readOutbox, `
		select `+outboxColumns+` from outbox where conversation = $1 and state <> 'waiting'
			and kind not in ('card', 'working') order by seq`, id.Conversation())
	if err != nil {
		return err
	}
	events, err := List(t, func(scan func(...any) error) (seq int64, err error) { return seq, scan(&seq) },
		`select seq from events where conversation = $1 and session not in ($2, '')`, id.Conversation(), id)
	if err != nil {
		return err
	}
	others := map[int64]bool{} // the events of other sessions
	for _, seq := range events {
		others[seq] = true
	}
	for _, row := range rows {
		if !others[row.Event] {
			t.erasePost(row)
		}
	}
	return nil
}

// erasePost erases the text of a post that does not wait. It must not be drawn again.
func (t *Tx) erasePost(row core.OutboxRow) {
	p := row.Post
	p.Text, p.Pressed = "", true
	t.outbox.writes = append(t.outbox.writes, outboxWrite{destination: destination(p), apply: func() error {
		_, err := t.Exec(`update outbox set post = $1, state = case when state = 'sent' then state
			else 'dropped' end where seq = $2 and state <> 'waiting'`, asJSON{p}, row.Seq)
		return err
	}})
}

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

// auditedPrunes are the prunes of approvals and calls, of which the audit log tells. The head of the log notes how far
// it was pruned.
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
	var steps []func(*Tx) (int64, error)
	for _, query := range prunes(s.sql) {
		steps = append(steps, func(t *Tx) (int64, error) { return t.Exec(query, t.Now.Add(-age), pruneStep) })
	}
	for _, query := range auditedPrunes(s.sql) {
		steps = append(steps, func(t *Tx) (int64, error) {
			before := t.Now.Add(-age)
			n, err := t.Exec(query, before, pruneStep)
			if n > 0 {
				t.audited.pruned = before
			}
			return n, err
		})
	}
	steps = append(steps,
		func(t *Tx) (int64, error) { return t.pruneMail(t.Now.Add(-age), pruneStep) },
		func(t *Tx) (int64, error) { return t.Exec(expired(s.sql), t.Now, pruneStep) },
		func(t *Tx) (int64, error) { return t.pruneBlobs(pruneStep) },
	)
	for _, step := range steps {
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
	return removed, s.shrink(ctx)
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
