package sqlstore

import (
	"slices"
	"strings"

	"gatehouse/core"
)

// destination returns the queue in which a post keeps its order. Typing indicators have their own: they neither wait
// for an answer nor delay it.
func destination(p core.Post) string {
	parts := []string{p.To.Platform, p.To.Channel, p.To.Thread}
	if p.Copy && p.To.Channel == "" { // each person's direct messages
		parts = append(parts, p.Person)
	}
	if p.Kind == core.PostWorking {
		parts = append(parts, string(core.PostWorking))
	}
	return strings.Join(parts, "\x1f")
}

// lockDestinations locks destinations that are about to change. Each is updated when the transaction ends.
func (t *Tx) lockDestinations(names ...string) error {
	err := t.lockUnchanged(names)
	for _, d := range names {
		t.outbox.destinations[d] = true
	}
	return err
}

// lockUnchanged locks destinations, in the order of their names, unless the transaction has locked them before. A post
// that moved after lockCollected has its destination locked late.
func (t *Tx) lockUnchanged(names []string) error {
	names = slices.DeleteFunc(slices.Clone(names), func(d string) bool {
		_, locked := t.outbox.destinations[d]
		return locked
	})
	if len(names) == 0 {
		return nil
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if err := t.store.engine.LockDestinations(t, names); err != nil {
		return err
	}
	for _, d := range names {
		t.outbox.destinations[d] = false
		delete(t.outbox.idle, d) // what was known of it before it was locked
	}
	return nil
}

// askDestination locks a destination if it has a row; lockUnchanged knows after flush, and adds a missing one.
func (t *Tx) askDestination(name string) error {
	return t.askEach(`select destination from destinations where destination = $1`+t.sql.forUpdate(), []any{name},
		func(func(...any) error) error {
			t.outbox.destinations[name] = false
			return nil
		})
}

// lockDestinationOf locks the destination in which a row is now, and others.
func (t *Tx) lockDestinationOf(seq int64, others ...string) error {
	if !t.sql.RowLocks {
		return t.lockDestinations(others...)
	}
	now, err := t.Texts(`select destination from outbox where seq = $1`, seq)
	if err != nil {
		return err
	}
	return t.lockDestinations(append(now, others...)...)
}

// updateDestination sets when a destination can next deliver: when its first waiting row is due, and not while another
// row is in flight. A typing indicator comes after all that is said: of many turns that end together, thousands of them
// would go before the answers. The caller holds its lock.
func (t *Tx) updateDestination(destination string) error {
	if !t.sql.RowLocks { // to look costs less than to change nothing; elsewhere it would be a round trip
		busy, err := t.exists(`
			select 1 where exists (select 1 from outbox where destination = $1 and state = 'waiting' and owner = '')
			or exists (select 1 from destinations where destination = $1 and ready_at is not null)`, destination)
		if err != nil || !busy {
			return err
		}
	}
	if err := t.Do(`
		insert into destinations (destination, platform, conversation, ready_at, delay, head)
		select $1, coalesce(first.platform, ''), coalesce(first.conversation, ''), first.next_at, first.delay,
			first.seq + case when first.kind = 'working' then 1000000000000000 else 0 end
		from (select 1 as one) always
		left join (
			select platform, conversation, next_at, delay, seq, kind from outbox
			where seq = (select min(seq) from outbox where destination = $1 and state = 'waiting' and owner = '')
				and not exists (select 1 from outbox where destination = $1 and owner <> '')
		) first on true
		where true
		on conflict (destination) do update set platform = excluded.platform, conversation = excluded.conversation,
			ready_at = excluded.ready_at, delay = excluded.delay, head = excluded.head
		where (destinations.platform, destinations.conversation, destinations.ready_at, destinations.head) is distinct
			from (excluded.platform, excluded.conversation, excluded.ready_at, excluded.head)`,
		destination); err != nil {
		return err
	}
	return t.askExists(&t.left.Posts, `select 1 from destinations where destination = $1
		and ready_at is not null`, destination)
}
