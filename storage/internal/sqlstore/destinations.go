package sqlstore

import (
	"context"
	"slices"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
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

// FailPost ends a delivery as ReleasePost does, and stores how people are told instead, in one transaction. Repeating
// it tells nothing twice. It fails with lease_lost if the row is no longer held by this delivery.
func (s *Store) FailPost(ctx context.Context, row core.OutboxRow, wait time.Duration, f core.Fallback) error {
	posts := slices.Clone(f.Posts)
	if f.Notice != nil {
		posts = append(posts, *f.Notice)
	}
	return s.releasing(ctx, row, func(t *Tx) error {
		// The lock of the quiet card's destination also orders two copies that fail at once: the later one knows of the
		// other.
		names, err := destinationsOf(t, "key", []string{f.Asks}, "")
		if err != nil {
			return err
		}
		for _, p := range posts {
			names = append(names, destination(p))
		}
		if err := t.lockDestinationOf(row.Seq, names...); err != nil {
			return err
		}
		if err := t.release(row, wait); err != nil {
			return err
		}
		if err := t.unquiet(f.Asks, f.LeftOut, f.Untold); err != nil {
			return err
		}
		if err := t.putUnknown(f.Posts); err != nil {
			return err
		}
		if f.Notice == nil {
			return t.recordUndelivered(row)
		}
		told, err := t.toldInstead(row, f.Asks)
		if err != nil || told {
			return err
		}
		return t.putUnknown([]core.Post{*f.Notice})
	})
}

// unquiet makes a quiet card name the approvers, and say how many were left out, with the one who did not get the copy
// untold. A missing card, or one that does so, is no error.
func (t *Tx) unquiet(key string, leftOut int, untold string) error {
	row, found, err := t.outboxRow(key)
	known := untold == "" || slices.Contains(strings.Split(row.Untold, "\n"), untold)
	if err != nil || !found || !row.Quiet && row.LeftOut >= leftOut && known {
		return err
	}
	p := row.Post
	p.Quiet, p.LeftOut = false, max(p.LeftOut, leftOut)
	if !known {
		p.Untold += untold + "\n"
	}
	return t.changeRow(row, p)
}

// toldInstead reports whether a copy instead of a quiet card, other than the failed one, has arrived or has yet to be
// tried.
func (t *Tx) toldInstead(failed core.OutboxRow, quiet string) (bool, error) {
	cards, err := t.cards(failed.Approval)
	return slices.ContainsFunc(cards, func(r core.OutboxRow) bool {
		hope := r.State == core.RowWaiting && r.Attempts == 0
		return r.Seq != failed.Seq && r.Instead == quiet && (hope || len(r.Delivered()) > 0)
	}), err
}

// recordUndelivered records in the audit log, once, that none of the cards of an agent's open request has arrived,
// and none is on its way for the first time; failed is the last one.
func (t *Tx) recordUndelivered(failed core.OutboxRow) error {
	if !isCard(failed) {
		return nil
	}
	a, err := t.approval(failed.Approval)
	if err != nil || a.External == nil || a.State != core.Open {
		if core.CategoryOf(err) == core.NotFound {
			err = nil
		}
		return err
	}
	known, err := t.exists(`select 1 from outbox where approval = $1 and approval <> '' and kind = 'card'
		and `+hopeful+`
		union all select 1 from audit where approval = $1 and action = $2 limit 1`, a.ID, audit.Undelivered)
	if err == nil && !known {
		cause, _, _ := strings.Cut(failed.Cause, ":") // the rest may quote what a platform said
		t.audit(a.ID, audit.Undelivered, failed.Owner, cause)
	}
	return err
}

// hopeful is a card that has arrived, or may yet arrive at the first attempt: one that only waits for a rate limit.
const hopeful = `(arrived or state = 'waiting' and (cause = '' or attempts = 0 and parts = '[]'))`

// Undelivered returns the open requests of agents of which nobody was told, the oldest first: none of their cards has
// arrived. One without cards waits on the pages.
func (s *Store) Undelivered(ctx context.Context) (ids []core.ApprovalID, err error) {
	return read(ctx, s, func(t *Tx) ([]core.ApprovalID, error) {
		found, err := t.Texts(`
			select id from approvals a where state = 'open' and conversation like 'external:%'
			and exists (select 1 from outbox where approval = a.id and approval <> '' and kind = 'card')
			and not exists (
				select 1 from outbox where approval = a.id and approval <> '' and kind = 'card' and ` + hopeful + `
			) order by seq limit 100`)
		for _, id := range found {
			ids = append(ids, core.ApprovalID(id))
		}
		return ids, err
	})
}

// Cards returns the cards of an approval and their copies.
func (s *Store) Cards(ctx context.Context, id core.ApprovalID) ([]core.OutboxRow, error) {
	return read(ctx, s, func(t *Tx) ([]core.OutboxRow, error) { return t.cards(id) })
}

func (t *Tx) cards(id core.ApprovalID) ([]core.OutboxRow, error) {
	return List(t, readOutbox, `select `+outboxColumns+` from outbox where approval = $1 and approval <> ''
		and kind = 'card' order by seq`, id)
}
