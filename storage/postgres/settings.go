package postgres

import (
	"context"

	"gatehouse/core"
)

// Names of settings begin with who wrote them, "kept/" or "put/", so that none meets another's, nor one of ours, such as "paused".

// Keep stores a setting that stands once it is made.
func (s *Store) PutIfAbsent(ctx context.Context, name, value string) (kept string, err error) {
	err = s.write(ctx, func(t *tx) error {
		if _, err := t.exec(`insert into settings (name, value) values ($1, $2) on conflict (name) do nothing`, "kept/"+name, value); err != nil {
			return err
		}
		_, err := t.row([]any{&kept}, `select value from settings where name = $1`, "kept/"+name)
		return err
	})
	return kept, err
}

// Put stores a setting that may change. It is kept as JSON, which holds a zero byte too.
func (s *Store) Put(ctx context.Context, name, value string) error {
	if err := core.CheckValue(name, value); err != nil {
		return err
	}
	return s.write(ctx, func(t *tx) error {
		if value == "" {
			_, err := t.exec(`delete from settings where name = $1`, "put/"+name)
			return err
		}
		_, err := t.exec(`insert into settings (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value`, "put/"+name, asJSON{value})
		return err
	})
}

// Get reads what Put stored.
func (s *Store) Get(ctx context.Context, name string) (value string, err error) {
	err = s.read(ctx, func(t *tx) error {
		_, err := t.row([]any{fromJSON{&value}}, `select value from settings where name = $1`, "put/"+name)
		return err
	})
	return value, err
}
