package postgres

import (
	"context"
	"time"

	"gatehouse/core"
)

// Spend counts a use. The row in spending is the lock of its name: who holds it sees every use that was counted before.
func (s *Store) TakeToken(ctx context.Context, name string, limit int, window time.Duration) (wait time.Duration, err error) {
	if limit < 1 {
		return 0, core.Errorf(core.Invalid, "A limit of %d for %s allows nothing.", limit, name)
	}
	err = s.write(ctx, func(t *tx) error {
		wait = 0
		if err := t.spending(name, window); err != nil {
			return err
		}
		begin := t.now.Add(-window)
		if err := t.forgetUses(name, begin); err != nil {
			return err
		}
		// The one that is limit uses back is the one that must leave the window first.
		var at time.Time
		full, err := t.row([]any{stamp{&at}}, `select at from uses where name = $1 and at > $2 order by at desc limit 1 offset $3`, name, begin, limit-1)
		if err != nil {
			return err
		}
		if full {
			wait = at.Add(window).Sub(t.now)
			return nil
		}
		_, err = t.exec(`insert into uses (name, at, ends) values ($1, $2, $3)`, name, t.now, t.now.Add(window))
		return err
	})
	return wait, err
}

// spending takes the lock of a name, which is made where there is none, and then reads the clock. It says until when the row is
// of use; see idle.
func (t *tx) spending(name string, window time.Duration) error {
	_, err := t.row([]any{stamp{&t.now}}, `
		insert into spending (name, ends) values ($1, clock_timestamp() + $2::interval)
		on conflict (name) do update set ends = greatest(spending.ends, clock_timestamp() + $2::interval)
		returning clock_timestamp()`, name, window)
	return err
}

// forgetUses removes uses that are older than the window; where there are many, the rest goes the next time.
func (t *tx) forgetUses(name string, begin time.Time) error {
	_, err := t.exec(`delete from uses where seq in (select seq from uses where name = $1 and at <= $2 limit $3)`, name, begin, pruneStep)
	return err
}
