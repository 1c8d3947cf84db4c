package sqlstore

import (
	"context"
	"time"

	"gatehouse/core"
)

// mostClosed is of how many closed approvals ClosedAfter tells at once.
const mostClosed = 10_000

// Figures counts what there is in the database.
func (s *Store) Figures(ctx context.Context) (core.Figures, error) {
	return read(ctx, s, func(t *Tx) (f core.Figures, err error) {
		_, err = t.Row([]any{
			&f.Waiting, timestamp{&f.OldestWaiting}, &f.Unsent, timestamp{&f.OldestUnsent}, &f.Doubtful, &f.Unknown,
			&f.DeadPosts, &f.DeadLetters, &f.Approvals, &f.AuditHead, &f.Bytes,
		}, `select (select count(*) from events where ended_at = 0),
			coalesce((select accepted_at from events where ended_at = 0 order by seq limit 1), 0),
			(select count(*) from outbox where state = 'waiting' and state <> 'sent' and kind <> 'twin'),
			coalesce((select created_at from outbox where state = 'waiting' and state <> 'sent' and kind <> 'twin'
				order by seq limit 1), 0),
			(select count(*) from outbox where state = 'waiting' and cause like $1 and kind <> 'twin'),
			(select count(*) from outbox where state = 'unknown' and state <> 'sent'),
			(select count(*) from outbox where state = 'dead' and state <> 'sent'),
			(select count(*) from events where end_kind = 'dead' and seq > 0),
			(select count(*) from approvals where state = 'open'),
			(select seq from audit_head), `+t.sql.Size, string(core.DeliveryInDoubt)+"%")
		f.LogBytes = s.engine.LogBytes()
		return f, err
	})
}

// ClosedAfter returns the approvals that were closed after an entry of the audit log, and the place of the last entry
// that it looked at.
func (s *Store) ClosedAfter(ctx context.Context, after int64) (closed []core.ClosedApproval, last int64, err error) {
	last = after
	closed, err = read(ctx, s, func(t *Tx) ([]core.ClosedApproval, error) {
		return List(t, func(scan func(...any) error) (c core.ClosedApproval, err error) {
			var at, since time.Time
			err = scan(&last, &c.Result, timestamp{&at}, timestamp{&since})
			c.Open = at.Sub(since)
			return c, err
		}, `select l.seq, l.action, l.at, a.created_at from audit l join approvals a on a.id = l.approval
			where l.seq > $1 and l.action in ('approved', 'denied', 'answered', 'expired', 'cancelled') order by l.seq limit $2`,
			after, mostClosed)
	})
	return closed, last, err
}
