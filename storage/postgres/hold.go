package postgres

import (
	"context"
	"time"

	"gatehouse/core"
)

// Hold takes, renews or lets go of a name. Where there is a row already it is locked before the clock is read.
func (s *Store) AcquireLease(ctx context.Context, name, owner string, lease time.Duration) (held bool, err error) {
	if owner == "" {
		return false, core.Errorf(core.Invalid, "Whoever holds %s needs a name.", name)
	}
	err = s.write(ctx, func(t *tx) error {
		if lease <= 0 {
			_, err := t.exec(`delete from holds where name = $1 and owner = $2`, name, owner)
			return err
		}
		n, err := t.exec(`
			insert into holds (name, owner, lease_until) values ($1, $2, clock_timestamp() + $3::interval)
			on conflict (name) do update set owner = excluded.owner, lease_until = clock_timestamp() + $3::interval
			where holds.owner = excluded.owner or holds.lease_until <= clock_timestamp()`, name, owner, lease)
		held = n == 1
		return err
	})
	return held && err == nil, err
}
