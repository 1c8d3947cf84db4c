package sqlite

import (
	"context"
	"time"

	"gatehouse/core"
)

// Hold takes, renews or lets go of a name.
func (s *Store) AcquireLease(ctx context.Context, name, owner string, lease time.Duration) (held bool, err error) {
	if owner == "" {
		return false, core.Errorf(core.Invalid, "Whoever holds %s needs a name.", name)
	}
	err = s.write(ctx, func(t *tx) error {
		if lease <= 0 {
			_, err := t.exec(`delete from holds where name = ? and owner = ?`, name, owner)
			return err
		}
		n, err := t.exec(`
			insert into holds (name, owner, lease_until) values (?1, ?2, ?3)
			on conflict (name) do update set owner = excluded.owner, lease_until = excluded.lease_until
			where holds.owner = excluded.owner or holds.lease_until <= ?4`, name, owner, ns(t.now.Add(lease)), ns(t.now))
		held = n == 1
		return err
	})
	return held && err == nil, err
}
