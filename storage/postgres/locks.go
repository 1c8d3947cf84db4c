package postgres

import (
	"fmt"
	"time"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// Traits returns those of a server whose transactions run concurrently, by its own clock.
func (db *database) Traits() sqlstore.Traits {
	return sqlstore.Traits{
		RowLocks: true, Clock: clock, Size: "pg_database_size(current_database())", PruneLocks: []string{unusedLimits},
		Leaps: []string{leap("events"), leap("outbox")},
	}
}

// leap is the statement that moves the numbers of a table on.
func leap(table string) string {
	return fmt.Sprintf(`select setval(numbers, nextval(numbers) + %d) from (
		select pg_get_serial_sequence('%s', 'seq')::regclass as numbers) one`, sqlstore.Leap, table)
}

// clock is the SQL of the database's clock in nanoseconds, which all processes use.
const clock = `(extract(epoch from clock_timestamp()) * 1000000)::bigint * 1000`

// LockQueue locks a queue's row, adding it if it is missing, and then reads the clock, so times rise in the order of
// the queue's commits. Data of the queue must be read by later statements.
func (db *database) LockQueue(
	t *sqlstore.Tx, key core.QueueKey, platform string, conversation core.ConversationID,
) error {
	_, err := t.Row([]any{sqlstore.Clock{Tx: t}}, `
		insert into queues (queue_key, platform, conversation, controls) values ($1, $2, $3, $4)
		on conflict (queue_key) do update set fence = queues.fence
		returning `+clock, key, platform, conversation, key != conversation.Queue())
	return err
}

// LockDestinations locks destinations in order, adding missing ones, and then reads the clock, unless an earlier lock
// of the transaction has.
func (db *database) LockDestinations(t *sqlstore.Tx, destinations []string) error {
	const lock = `
		insert into destinations (destination) select d from unnest($1::text[]) with ordinality as wanted (d, n)
			order by n
		on conflict (destination) do update set conversation = destinations.conversation`
	if t.HasClock() {
		return t.Do(lock, destinations)
	}
	_, err := t.Row([]any{sqlstore.Clock{Tx: t}}, lock+` returning `+clock, destinations)
	return err
}

// LockRateLimit locks a name, adding its row if it is missing, and then reads the clock. It stores how long the row is
// needed; see unusedLimits.
func (db *database) LockRateLimit(t *sqlstore.Tx, name string, window time.Duration) error {
	_, err := t.Row([]any{sqlstore.Clock{Tx: t}}, `
		insert into rate_limits (name, ends) values ($1, `+clock+` + $2)
		on conflict (name) do update set ends = greatest(rate_limits.ends, `+clock+` + $2)
		returning `+clock, name, window.Nanoseconds())
	return err
}

// unusedLimits removes the lock rows of rate-limited names that are no longer used.
const unusedLimits = `delete from rate_limits where name in (select name from rate_limits
	where ends < (select ` + clock + `) limit $1 for update skip locked)`
