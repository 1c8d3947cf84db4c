package sqlstore

import (
	"context"
	"strconv"
	"time"
)

// keepTokens is how long a day's count is kept.
const keepTokens = 8 * 24 * time.Hour

// AddTokens counts n more tokens of models for a person on this day of the store's clock, in UTC, and returns the day's
// count; with 0 it counts nothing. What a turn took is lost if its process dies before it is counted.
func (s *Store) AddTokens(ctx context.Context, person string, n int64) (today int64, err error) {
	add := func(t *Tx) (int64, error) {
		if err := t.readClock(); err != nil {
			return 0, err
		}
		name := "tokens/" + t.Now.UTC().Format(time.DateOnly) + "/" + person
		if n != 0 {
			if _, err := t.Exec(`
				insert into kv (name, value, expires_at) values ($1, $2, $3)
				on conflict (name) do update set value = cast(cast(kv.value as bigint) + $4 as text)`,
				name, strconv.FormatInt(n, 10), t.Now.Add(keepTokens), n); err != nil {
				return 0, err
			}
		}
		var count string
		found, err := t.Row([]any{&count}, `select value from kv where name = $1`, name)
		if err != nil || !found {
			return 0, err
		}
		return strconv.ParseInt(count, 10, 64)
	}
	if n == 0 {
		return read(ctx, s, add)
	}
	return write(ctx, s, add)
}
