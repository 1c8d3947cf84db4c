package sqlite

import (
	"context"

	"gatehouse/core"
)

// Resend has a post that gave up sent after all.
func (s *Store) Resend(ctx context.Context, seq int64) error {
	return s.write(ctx, func(t *tx) error {
		row, err := t.undelivered(seq)
		if err != nil || row.State == core.RowWaiting {
			return err
		}
		if _, err := t.exec(`update outbox set state = 'waiting', next_at = ?, parts = ?, attempts = 0, cause = '' where seq = ?`,
			ns(t.now), asJSON{append([]core.Part{}, row.Delivered()...)}, seq); err != nil {
			return err
		}
		return t.due(destination(row.Post))
	})
}

// DropPost puts a post that gave up away. Dropping it twice is no error.
func (s *Store) DropPost(ctx context.Context, seq int64) error {
	return s.write(ctx, func(t *tx) error {
		row, err := t.undelivered(seq)
		if err == nil && !row.GaveUp() {
			err = core.Errorf(core.Invalid, "The post %d still waits to be sent.", seq)
		}
		if err == nil {
			_, err = t.exec(`update outbox set state = ? where seq = ?`, core.RowDropped, seq)
		}
		return err
	})
}

// undelivered reads a post that gave up or waits.
func (t *tx) undelivered(seq int64) (core.OutboxRow, error) {
	found, err := list(t, readOutbox, `select `+outboxColumns+` from outbox where seq = ?`, seq)
	switch {
	case err != nil:
		return core.OutboxRow{}, err
	case len(found) == 0:
		return core.OutboxRow{}, core.Errorf(core.NotFound, "There is no post %d.", seq)
	case found[0].State == core.RowSent:
		return core.OutboxRow{}, core.Errorf(core.Invalid, "The post %d was delivered.", seq)
	}
	return found[0], nil
}
