package postgres

import (
	"context"

	"gatehouse/core"
)

// Resend has a post that gave up sent after all.
func (s *Store) Resend(ctx context.Context, seq int64) error {
	return s.undelivered(ctx, seq, func(s *speaker, row core.OutboxRow) error {
		if row.State == core.RowWaiting {
			return nil
		}
		_, err := s.exec(`update outbox set state = 'waiting', next_at = $1, parts = $2, attempts = 0, cause = '' where seq = $3`,
			s.now, asJSON{append([]core.Part{}, row.Delivered()...)}, seq)
		return err
	})
}

// DropPost puts a post that gave up away. Dropping it twice is no error.
func (s *Store) DropPost(ctx context.Context, seq int64) error {
	return s.undelivered(ctx, seq, func(s *speaker, row core.OutboxRow) error {
		if !row.GaveUp() {
			return core.Errorf(core.Invalid, "The post %d still waits to be sent.", seq)
		}
		_, err := s.exec(`update outbox set state = $1 where seq = $2`, core.RowDropped, seq)
		return err
	})
}

// undelivered changes a post that gave up or waits, with the lock of its destination and its own in hand.
func (s *Store) undelivered(ctx context.Context, seq int64, change func(*speaker, core.OutboxRow) error) error {
	return s.write(ctx, func(t *tx) error {
		found, err := t.texts(`select destination from outbox where seq = $1`, seq)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return core.Errorf(core.NotFound, "There is no post %d.", seq)
		}
		return t.to(map[string]bool{found[0]: true}, func(s *speaker) error {
			rows, err := list(t, readOutbox, `select `+outboxColumns+` from outbox where seq = $1 for update`, seq)
			switch {
			case err != nil:
				return err
			case len(rows) == 0:
				return core.Errorf(core.NotFound, "There is no post %d.", seq)
			case rows[0].State == core.RowSent:
				return core.Errorf(core.Invalid, "The post %d was delivered.", seq)
			}
			if err := s.at(destination(rows[0].Post)); err != nil {
				return err
			}
			return change(s, rows[0])
		})
	})
}
