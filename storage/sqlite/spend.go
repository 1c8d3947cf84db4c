package sqlite

import (
	"context"
	"time"

	"gatehouse/core"
)

// Spend counts a use.
func (s *Store) TakeToken(ctx context.Context, name string, limit int, window time.Duration) (wait time.Duration, err error) {
	if limit < 1 {
		return 0, core.Errorf(core.Invalid, "A limit of %d for %s allows nothing.", limit, name)
	}
	err = s.write(ctx, func(t *tx) error {
		wait = 0
		begin := t.now.Add(-window)
		if err := t.forgetUses(name, begin); err != nil {
			return err
		}
		// The one that is limit uses back is the one that must leave the window first.
		var at time.Time
		full, err := t.row([]any{stamp{&at}}, `select at from uses where name = ? and at > ? order by at desc limit 1 offset ?`, name, ns(begin), limit-1)
		if err != nil {
			return err
		}
		if full {
			wait = at.Add(window).Sub(t.now)
			return nil
		}
		_, err = t.exec(`insert into uses (name, at, ends) values (?, ?, ?)`, name, ns(t.now), ns(t.now.Add(window)))
		return err
	})
	return wait, err
}

// forgetUses removes uses that are older than the window; where there are many, the rest goes the next time.
func (t *tx) forgetUses(name string, begin time.Time) error {
	_, err := t.exec(`delete from uses where seq in (select seq from uses where name = ? and at <= ? limit ?)`, name, ns(begin), pruneStep)
	return err
}
