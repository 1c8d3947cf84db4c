package sqlstore

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"gatehouse/core"
)

// How much one transaction of PruneSessions does, so that no other waits long for it.
const (
	retireRows  = 200     // rows that it removes or erases
	retireBytes = 1 << 20 // of the messages that it removes, or the mail; one may be larger
	retireLooks = 20      // sessions that are looked at in one read
	retireIdle  = 200     // queues that are looked at in one read
)

// retired is the name in kv of a session whose rows are being removed.
func retired(id core.SessionID) string { return "retired/" + string(id) }

// retiring is a session that PruneSessions has taken away, whose rows are still to be removed. It is stored in the
// transaction that takes the session away, and removed with the last of the rows: so a crash leaves nothing behind that
// the next call does not find. No later turn uses the session's id, since its conversation is in the next generation.
type retiring struct {
	Session core.SessionID `json:"session"`
	// no other session of the conversation is stored: what names no session is this one's
	Whole bool `json:"whole,omitempty"`
	// the last rows that are its: what came later belongs to the next session
	Events int64 `json:"events"`
	Posts  int64 `json:"posts"`
	Mail   int64 `json:"mail"`
	// how far its rows were removed
	Step  int   `json:"step"`
	After int64 `json:"after"`
}

// PruneSessions goes on with a round of removing sessions whose last word is older than age, with their messages,
// files, mail, title, evidence, and the texts of their events and posts; see core.Pruning. Each call is one short
// transaction, and some reads. Ids stay until Prune removes them, so an event that is delivered again is known; so do
// approvals and dead letters. A crash between two calls leaves the rest to the next one.
//
// If a session can't be removed, the call fails, and the next one, with the place that it returned, goes past it.
//
// A session is kept while an approval of it is open, a turn of it is suspended, an event of its conversation has not
// ended, or a post of that is not sent or in doubt.
func (s *Store) PruneSessions(ctx context.Context, age time.Duration, at core.Pruning) (core.Pruning, error) {
	if at.Stage == core.PruneDone {
		at = core.Pruning{Stage: core.PruneSessions}
		s.unretired.Clear()
	}
	if busy, err := s.finishRetiring(ctx); err != nil || busy {
		return at, err
	}
	before, err := read(ctx, s, func(t *Tx) (time.Time, error) {
		err := t.readClock()
		return t.Now.Add(-age), err
	})
	if err != nil {
		return at, err
	}
	switch at.Stage {
	case core.PruneSessions:
		return s.pruneOldSessions(ctx, age, before, at)
	case core.PruneConversations:
		return s.pruneOldConversations(ctx, age, before, at)
	case core.PruneQueues:
		return s.pruneQueues(ctx, at)
	default:
		if more, err := s.engine.Shrink(ctx); err != nil || more {
			return at, err
		}
		return core.Pruning{}, nil
	}
}

// pruneOldSessions takes the next session away that can be, in the order of their last words.
func (s *Store) pruneOldSessions(
	ctx context.Context, age time.Duration, before time.Time, at core.Pruning,
) (core.Pruning, error) {
	type old struct {
		id core.SessionID
		at time.Time
	}
	page, err := readAll(ctx, s, func(scan func(...any) error) (o old, err error) {
		return o, scan(&o.id, timestamp{&o.at})
	}, `select id, updated_at from sessions where updated_at < $1 and (updated_at, id) > ($2, $3)
		order by updated_at, id limit $4`, before, at.At, at.Key, retireLooks)
	if err != nil {
		return at, err
	}
	for _, o := range page {
		at.At, at.Key = o.at, string(o.id)
		if done, err := s.retireIfOld(ctx, o.id, age, before); err != nil || done {
			return at, err
		}
	}
	if len(page) < retireLooks {
		return core.Pruning{Stage: core.PruneConversations}, nil
	}
	return at, nil
}

// pruneOldConversations is pruneOldSessions for what is in somebody's list and has no session, such as one whose turns
// have all failed.
func (s *Store) pruneOldConversations(
	ctx context.Context, age time.Duration, before time.Time, at core.Pruning,
) (core.Pruning, error) {
	type old struct {
		person     string
		at         time.Time
		id         core.ConversationID
		generation int
	}
	page, err := readAll(ctx, s, func(scan func(...any) error) (o old, err error) {
		return o, scan(&o.person, timestamp{&o.at}, &o.id, &o.generation)
	}, `select person, changed_at, mailbox, coalesce((select generation from queues where queue_key = mailbox), 1)
		from mailboxes where person <> '' and title <> '' and changed_at < $1
			and (person, changed_at, mailbox) > ($2, $3, $4)
		order by person, changed_at, mailbox limit $5`, before, at.Person, at.At, at.Key, retireLooks)
	if err != nil {
		return at, err
	}
	for _, o := range page {
		at.Person, at.At, at.Key = o.person, o.at, string(o.id)
		if done, err := s.retireIfOld(ctx, o.id.Session(o.generation), age, before); err != nil || done {
			return at, err
		}
	}
	if len(page) < retireLooks {
		return core.Pruning{Stage: core.PruneQueues}, nil
	}
	return at, nil
}

// retireIfOld takes a session away if it can be, and reports whether it did. It looks first without a transaction.
func (s *Store) retireIfOld(
	ctx context.Context, id core.SessionID, age time.Duration, before time.Time,
) (done bool, err error) {
	old, err := read(ctx, s, func(t *Tx) (bool, error) { return t.isOld(id, before) })
	if err != nil || !old {
		return false, err
	}
	return write(ctx, s, func(t *Tx) (bool, error) {
		if _, err := t.lockKnownQueue(id.Conversation().Queue()); err != nil {
			return false, err
		}
		if old, err := t.isOld(id, t.Now.Add(-age)); err != nil || !old {
			return false, err
		}
		r, err := t.retire(id)
		if err != nil {
			return false, err
		}
		return true, t.removeRetired(r)
	})
}

// isOld reports whether nothing was said in a session since then, nothing is open in it, and nothing waits in its
// conversation.
func (t *Tx) isOld(id core.SessionID, before time.Time) (bool, error) {
	const held = `select 1 from outbox where state = 'unknown' and state <> 'sent' and conversation || '' = $1
		union all select 1 from outbox where state = 'dead' and state <> 'sent' and conversation || '' = $1 limit 1`
	if posts, err := t.exists(held, id.Conversation()); err != nil || posts { // few, so all are looked at
		return false, err
	}
	return t.exists(`
		select 1 where not exists (select 1 from sessions where id = $1 and updated_at >= $2)
		and not exists (select 1 from approvals where session = $1 and state = 'open')
		and not exists (select 1 from paused where session = $1)
		and not exists (select 1 from queues where queue_key = $3 and owner <> '')
		and not exists (select 1 from events where conversation = $3 and ended_at = 0)
		and not exists (select 1 from outbox where conversation = $3 and state = 'waiting' and kind <> 'twin')
		and not exists (select 1 from (select session, accepted_at from events where conversation = $3
			order by seq desc limit 1) first where accepted_at >= $2 and session in ($1, ''))
		and not exists (select 1 from mailboxes where mailbox = $3 and changed_at >= $2 and title <> ''
			and not exists (select 1 from queues where queue_key = $3
				and queue_key || '@' || cast(generation as text) <> $1))`,
		id, before, id.Conversation())
}

// retire takes a session away: it is in no list any more, and a message into its conversation begins another. The
// transaction holds the conversation's queue.
func (t *Tx) retire(id core.SessionID) (r retiring, err error) {
	conversation := id.Conversation()
	r.Session = id
	current := 1
	if _, err := t.Row([]any{&current}, `select generation from queues where queue_key = $1`,
		conversation); err != nil {
		return r, err
	}
	if _, err := t.Exec(`delete from sessions where id = $1`, id); err != nil {
		return r, err
	}
	var c conditions
	in(&c, "id", generations(conversation, current))
	others, err := t.exists(`select 1 from sessions where `+c.all()+` limit 1`, c.args...)
	if err != nil {
		return r, err
	}
	r.Whole = !others && id == conversation.Session(current)
	if r.Whole {
		if _, err := t.Exec(`update mailboxes set title = '', changed_at = $1 where mailbox = $2 and title <> ''`,
			t.Now, conversation); err != nil {
			return r, err
		}
	}
	if id == conversation.Session(current) {
		if _, err := t.Exec(`update queues set generation = generation + 1 where queue_key = $1`,
			conversation); err != nil {
			return r, err
		}
	}
	_, err = t.Row([]any{&r.Events, &r.Posts, &r.Mail}, `
		select coalesce((select max(seq) from events where conversation = $1), 0),
			coalesce((select max(seq) from outbox where conversation = $1), 0),
			coalesce((select max(seq) from mail where mailbox = $1), 0)`, conversation)
	return r, err
}

// finishRetiring goes on with a session that is being pruned, and reports whether there was one. One that fails is left
// until the next round begins, so that it stops no other.
func (s *Store) finishRetiring(ctx context.Context) (bool, error) {
	type one struct{ name, value string }
	left, err := readAll(ctx, s, func(scan func(...any) error) (o one, err error) { return o, scan(&o.name, &o.value) },
		`select name, value from kv where name >= 'retired/' and name < 'retired0' order by name limit $1`, retireLooks)
	if err != nil {
		return false, err
	}
	for _, o := range left {
		if _, failed := s.unretired.Load(o.name); failed {
			continue
		}
		if err := s.goOnRetiring(ctx, o.value); err != nil {
			if ctx.Err() == nil {
				s.unretired.Store(o.name, true)
			}
			return false, err
		}
		return true, nil
	}
	return false, nil
}

// goOnRetiring removes more rows of a session that was taken away.
func (s *Store) goOnRetiring(ctx context.Context, stored string) error {
	var r retiring
	if err := json.Unmarshal([]byte(stored), &r); err != nil {
		return core.Wrap(core.StoreUnreadable, err,
			"What is left of a session that was pruned can't be read: %.80s", stored)
	}
	return s.write(ctx, func(t *Tx) error {
		if _, err := t.lockKnownQueue(r.Session.Conversation().Queue()); err != nil {
			return err
		}
		var now retiring // another process may have gone on
		found, err := t.Row([]any{fromJSON{&now}}, `select value from kv where name = $1`, retired(r.Session))
		if err != nil || !found {
			return err
		}
		return t.removeRetired(now)
	})
}

// removeRetired removes rows of a session that was taken away, as many as a transaction may, and stores how far it
// came.
// The transaction holds the conversation's queue.
func (t *Tx) removeRetired(r retiring) error {
	steps := []func(*retiring, int) (int, error){
		t.retireEvidence, t.retireMail, t.retireMessages, t.retireEvents, t.retirePosts,
	}
	left := retireRows
	for r.Step < len(steps) && left > 0 {
		n, err := steps[r.Step](&r, left)
		if err != nil {
			return err
		}
		if n == 0 {
			r.Step, r.After = r.Step+1, 0
		}
		left -= n
	}
	if r.Step == len(steps) {
		_, err := t.Exec(`delete from kv where name = $1`, retired(r.Session))
		return err
	}
	_, err := t.Exec(`insert into kv (name, value) values ($1, $2)
		on conflict (name) do update set value = excluded.value`, retired(r.Session), asJSON{r})
	return err
}

// Each step works on at most n rows after r.After, says where it stopped, and returns how many rows it looked at: 0 =
// there are no more.

func (t *Tx) retireEvidence(r *retiring, n int) (int, error) {
	removed, err := t.Exec(`delete from evidence where invocation in (select invocation from evidence
		where session = $1 limit $2)`, r.Session, n)
	return int(removed), err
}

// retireMail removes mail of the conversation. A copy of a card in another's mailbox goes with its approval.
func (t *Tx) retireMail(r *retiring, n int) (int, error) {
	if t.sql.RowLocks {
		if _, err := t.lockRows(`mailboxes where mailbox = $1`, r.Session.Conversation()); err != nil {
			return 0, err
		}
	}
	type one struct{ seq, event int64 }
	page, err := List(t, func(scan func(...any) error) (m one, err error) { return m, scan(&m.seq, &m.event) }, `
		select seq, event from mail where mailbox = $1 and seq in (select seq from (`+
		sized(`mail where mailbox = $1 and seq > $2 and seq <= $3 order by seq limit $4`, `seq`)+`) sized
			where earlier < $5) order by seq`, r.Session.Conversation(), r.After, r.Mail, n, retireBytes)
	if err != nil || len(page) == 0 {
		return 0, err
	}
	var events, seqs []int64
	for _, m := range page {
		events = append(events, m.event)
	}
	own, err := t.ownEvents(r, events)
	if err != nil {
		return 0, err
	}
	for _, m := range page {
		if own(m.event) {
			seqs = append(seqs, m.seq)
		}
	}
	r.After = page[len(page)-1].seq
	var c conditions
	c.and("mailbox = " + c.arg(r.Session.Conversation()))
	in(&c, "seq", append(seqs, 0))
	_, err = t.Exec(`delete from mail where `+c.all(), c.args...)
	return len(page), err
}

// ownEvents reports of some events whether they are the session's.
func (t *Tx) ownEvents(r *retiring, events []int64) (func(event int64) bool, error) {
	if r.Whole {
		return func(int64) bool { return true }, nil
	}
	var c conditions
	in(&c, "seq", append(slices.Clone(events), 0))
	c.and("session = " + c.arg(r.Session))
	own, err := List(t, readSeq, `select seq from events where `+c.all(), c.args...)
	return func(event int64) bool { return slices.Contains(own, event) }, err
}

func readSeq(scan func(...any) error) (seq int64, err error) { return seq, scan(&seq) }

// retireMessages removes messages, and the files that no other message refers to: up to the first message with files.
func (t *Tx) retireMessages(r *retiring, n int) (int, error) {
	page, err := List(t, readSeq, `
		select pos from (select pos, sum(size) over (order by pos) - size as earlier
			from (select pos, octet_length(body) as size from messages where session = $1 and pos >= 0
				order by pos limit $2) sizes) sized
		where earlier < $3 order by pos`, r.Session, n, retireBytes)
	if err != nil || len(page) == 0 {
		return 0, err
	}
	last := page[len(page)-1]
	const files = ` from messages m join message_blobs b on b.session = m.session and b.invocation = m.invocation
		and b.n = m.n where m.session = $1 and m.pos >= 0 and m.pos <= $2`
	first := int64(-1)
	if _, err := t.Row([]any{&first}, `select coalesce(min(m.pos), -1)`+files, r.Session, last); err != nil {
		return 0, err
	}
	if first >= 0 {
		last = first
	}
	digests, err := t.Texts(`select distinct b.digest`+files+` order by digest`, r.Session, last)
	if err != nil {
		return 0, err
	}
	removed, err := t.Exec(`delete from messages where session = $1 and pos >= 0 and pos <= $2`, r.Session, last)
	if err != nil {
		return 0, err
	}
	return int(removed), t.removeUnused(digests, false)
}

// retireEvents erases what the conversation's events say, but not clicks, which are kept as long as their approvals,
// and not dead letters, which can be retried.
func (t *Tx) retireEvents(r *retiring, n int) (int, error) {
	page, err := List(t, readSeq, `select seq from events where conversation = $1 and seq > $2 and seq <= $3
		order by seq limit $4`, r.Session.Conversation(), r.After, r.Events, n)
	if err != nil || len(page) == 0 {
		return 0, err
	}
	r.After = page[len(page)-1]
	var c conditions
	in(&c, "seq", page)
	if !r.Whole {
		c.and("session = " + c.arg(r.Session))
	}
	_, err = t.Exec(`update events set payload = null, fetched = '' where `+c.all()+` and ended_at > 0
		and end_kind <> 'dead' and kind not in ('click', 'again') and payload is not null`, c.args...)
	return len(page), err
}

// retirePosts erases the texts of what was said in the session. Cards have none.
func (t *Tx) retirePosts(r *retiring, n int) (int, error) {
	rows, err := List(t, readOutbox, `select `+outboxColumns+` from outbox where conversation = $1 and seq > $2
		and seq <= $3 order by seq limit $4`, r.Session.Conversation(), r.After, r.Posts, n)
	if err != nil || len(rows) == 0 {
		return 0, err
	}
	var events []int64
	for _, row := range rows {
		events = append(events, row.Event)
	}
	own, err := t.ownEvents(r, events)
	if err != nil {
		return 0, err
	}
	for _, row := range rows {
		settled := row.State == core.RowSent || row.State == core.RowDropped
		if own(row.Event) && settled && row.Kind != core.PostCard && row.Kind != core.PostWorking {
			t.erasePost(row)
		}
	}
	r.After = rows[len(rows)-1].Seq
	return len(rows), nil
}

// pruneQueues removes the rows of conversations of which nothing is left: a message begins them as new ones. One with a
// mailbox stays, since its clients name the last number that they have seen.
func (s *Store) pruneQueues(ctx context.Context, at core.Pruning) (core.Pruning, error) {
	page, err := read(ctx, s, func(t *Tx) ([]string, error) {
		return t.Texts(`select queue_key from queues where queue_key > $1 and controls = false and ready_at is null
			and owner = '' order by queue_key limit $2`, at.Key, retireIdle)
	})
	if err != nil {
		return at, err
	}
	if len(page) < retireIdle {
		at = core.Pruning{Stage: core.PruneSpace}
	} else {
		at.Key = page[len(page)-1]
	}
	empty, err := read(ctx, s, func(t *Tx) ([]string, error) { return t.empty(page) })
	if err != nil || len(empty) == 0 {
		return at, err
	}
	return at, s.write(ctx, func(t *Tx) error {
		for _, key := range empty { // in order
			if _, err := t.lockKnownQueue(core.QueueKey(key)); err != nil {
				return err
			}
		}
		empty, err := t.empty(empty) // a message may have come
		if err != nil || len(empty) == 0 {
			return err
		}
		var c conditions
		in(&c, "queue_key", empty)
		_, err = t.Exec(`delete from queues where `+c.all(), c.args...)
		return err
	})
}

// empty returns the queues of conversations of which nothing else is stored.
func (t *Tx) empty(keys []string) (found []string, err error) {
	var c conditions
	in(&c, "queue_key", append(slices.Clone(keys), ""))
	type one struct {
		key        string
		generation int
	}
	all, err := List(t, func(scan func(...any) error) (o one, err error) { return o, scan(&o.key, &o.generation) },
		`select queue_key, generation from queues where `+c.all()+` and ready_at is null and owner = ''
			and not exists (select 1 from events where conversation = queues.queue_key)
			and not exists (select 1 from outbox where conversation = queues.queue_key)
			and not exists (select 1 from approvals where conversation = queues.queue_key)
			and not exists (select 1 from mailboxes where mailbox = queues.queue_key)
		order by queue_key`, c.args...)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		ids := generations(core.ConversationID(o.key), o.generation)
		var marks []string
		for _, id := range ids {
			marks = append(marks, retired(id))
		}
		var c conditions
		in(&c, "id", ids)
		sessions := c.all()
		c.parts = nil
		in(&c, "name", marks)
		left, err := t.exists(`select 1 where exists (select 1 from sessions where `+sessions+`)
			or exists (select 1 from kv where `+c.all()+`)`, c.args...)
		if err != nil {
			return nil, err
		}
		if !left {
			found = append(found, o.key)
		}
	}
	return found, nil
}
