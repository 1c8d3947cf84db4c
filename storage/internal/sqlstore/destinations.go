package sqlstore

import (
	"slices"
	"strings"

	"gatehouse/core"
)

// destination returns the queue in which a post keeps its order. Typing indicators have their own, and so have looks
// for twins: they neither wait for an answer nor delay it.
func destination(p core.Post) string {
	parts := []string{p.To.Platform, p.To.Channel, p.To.Thread}
	if p.Copy && p.To.Channel == "" { // each person's direct messages
		parts = append(parts, p.Person)
	}
	if p.Kind == core.PostWorking || p.Kind == core.PostTwin {
		parts = append(parts, string(p.Kind))
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
			first.seq + case when first.kind in ('working', 'twin') then 1000000000000000 else 0 end
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

// handover is a core.Handover in its transaction.
type handover struct {
	core.Handover
	owner string
	taken []*core.OutboxRow // their numbers are there once the transaction is committed
}

// rows returns the posts that were handed over.
func (h *handover) rows() []core.OutboxRow {
	var rows []core.OutboxRow
	for _, row := range h.taken {
		rows = append(rows, *row)
	}
	return rows
}

// handOver adds a post that is claimed at once, if the transaction asks for that, its key is new, and nothing waits or
// is in flight in its destination; done is false if not, and nothing has changed. The destination needs no update then:
// nothing can be claimed in it, as before.
func (t *Tx) handOver(p core.Post) (done bool, err error) {
	h := t.outbox.handover
	if h == nil || len(h.taken) >= h.Limit || p.To.Platform != h.Platform || !sentAsItIs(p) {
		return false, nil
	}
	to := destination(p)
	idle, err := t.isIdle(to)
	if err != nil || !idle {
		return false, err
	}
	row := &core.OutboxRow{
		Post: p, Wanted: 1, State: core.RowWaiting, Owner: h.owner, Fence: 1, CreatedAt: t.Now, Doubted: true,
	}
	insert, added := insertPost+` returning seq`, true // or it fails, since the key is new
	if !t.sql.RowLocks {
		insert, added = insertPost+` where true on conflict (key) do nothing returning seq`, false
	}
	err = t.ask(&added, []any{&row.Seq}, insert,
		p.Key, to, p.To.Platform, p.Conversation, p.Kind, p.Approval, asJSON{p}, partsJSON(inDoubt(h.SentAt)),
		row.Owner, row.Fence, t.Now)
	if err != nil || !added {
		return false, err
	}
	t.outbox.idle[to] = false
	if t.outbox.keysLooked != nil {
		t.outbox.keysLooked[p.Key] = true
	}
	h.taken = append(h.taken, row)
	return true, nil
}

// isIdle reports whether nothing waits or is in flight in a destination that the transaction has locked.
func (t *Tx) isIdle(destination string) (bool, error) {
	idle, known := t.outbox.idle[destination]
	if known && (!idle || !t.outbox.destinations[destination]) { // what the transaction has changed since is not known
		return idle, nil
	}
	err := t.flushed(t.askIdle(destination))
	return t.outbox.idle[destination], err
}

// askIdle finds out whether a destination is idle; isIdle knows it after flush.
func (t *Tx) askIdle(destination string) error {
	t.outbox.idle[destination] = false
	return t.askEach(`
		select 1 where not exists (select 1 from outbox where destination = $1 and state = 'waiting' and owner = '')
			and not exists (select 1 from outbox where destination = $1 and owner <> '')`,
		[]any{destination}, func(func(...any) error) error {
			t.outbox.idle[destination] = true
			return nil
		})
}

// insertPost adds a post whose key is new.
const insertPost = `
	insert into outbox (key, destination, platform, conversation, kind, approval, post, state, wanted, shown, parts,
		attempts, next_at, cause, owner, fence, created_at)
	select $1, $2, $3, $4, $5, $6, $7, 'waiting', 1, 0, $8, 0, 0, '', $9, $10, $11`

// lookAhead locks the destination to which all posts of a turn go, and finds out what is there and which of them are
// known, together with what else was asked. The places of known posts are locked later: such a post is at the place of
// its successor, or it is a typing indicator, which comes after it.
func (t *Tx) lookAhead(event int64, posts []core.Post) error {
	if !t.sql.RowLocks {
		return nil
	}
	keys := []string{workingKey(event)}
	for _, p := range posts {
		keys = append(keys, p.Key)
	}
	if _, err := t.askKeys(keys); err != nil || len(posts) == 0 {
		return err
	}
	place := destination(posts[0])
	if err := t.askDestination(place); err != nil {
		return err
	}
	return t.askIdle(place)
}
