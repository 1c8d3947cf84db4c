package postgres

import (
	"context"
	"time"

	"gatehouse/core"
)

// Renew makes the lease last from now.
func (s *Store) Renew(ctx context.Context, c core.Claim, lease time.Duration) error {
	return s.fenced(ctx, c, func(t *tx) error {
		_, err := t.exec(`update queues set lease_until = $1::timestamptz, ready_at = $1::timestamptz where queue = $2`, t.now.Add(lease), c.Key)
		return err
	})
}

// StopRequested reports whether this event's turn was asked to stop. The wish outlives a holder that dies of something else.
func (s *Store) StopRequested(ctx context.Context, c core.Claim) (asked bool, err error) {
	err = s.read(ctx, func(t *tx) error {
		held, err := t.row([]any{&asked}, `select stop = event from queues where queue = $1 and owner = $2 and owner <> '' and fence = $3 and event = $4`,
			c.Key, c.Owner, c.Fence, c.Event.Seq)
		if err == nil && !held {
			err = lostConversation(c)
		}
		return err
	})
	return asked, err
}

// Release gives the event back as if it had not been claimed.
func (s *Store) Release(ctx context.Context, c core.Claim) error {
	return s.fenced(ctx, c, func(t *tx) error {
		if _, err := t.exec(`update events set attempt = attempt - 1 where seq = $1`, c.Event.Seq); err != nil {
			return err
		}
		return t.letGo(c)
	})
}
