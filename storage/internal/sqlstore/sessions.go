package sqlstore

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"gatehouse/core"
)

// SaveSession saves a session during a turn. It may be repeated: it replaces the writer's own messages. It fails with
// lease_lost if the claim no longer holds its queue, and with session_write_conflict if the session has changed since
// it was loaded.
func (s *Store) SaveSession(ctx context.Context, c core.Claim, rec *core.SessionRecord) error {
	saved, err := write(ctx, s, func(t *Tx) (core.SessionRecord, error) {
		var stored storedSession
		if err := t.fenceAsking(c, nil, func() error { return t.askSession(&stored, *rec) }); err != nil {
			return core.SessionRecord{}, err
		}
		return t.saveSession(*rec, stored)
	})
	if err == nil {
		*rec = saved
	}
	return err
}

// storedSession is what saveSession needs to know of the stored session.
type storedSession struct {
	known         bool
	version       int64
	created       time.Time
	messages, pos int64
	own           int64 // messages of the writer
}

// askSession locks and reads a session that is about to be saved; the result is there after flush.
func (t *Tx) askSession(s *storedSession, rec core.SessionRecord) error {
	return t.ask(&s.known, []any{&s.version, timestamp{&s.created}, &s.messages, &s.pos, &s.own}, `
		select version, created_at, messages, next_pos, (select count(*) from messages where session = $1
			and invocation = $2 and n >= $3)
		from sessions where id = $1`+t.sql.forUpdate(), rec.ID, rec.Writer.Invocation, rec.Writer.From)
}

// saveSession overwrites the record and replaces the writer's messages. It returns the record with its new version and
// times. It fails with session_write_conflict if the stored messages are not the ones that the record was loaded with.
func (t *Tx) saveSession(rec core.SessionRecord, stored storedSession) (core.SessionRecord, error) {
	rec.Version, rec.CreatedAt, rec.UpdatedAt = stored.version+1, stored.created, t.Now
	messages, pos, own := stored.messages, stored.pos, stored.own
	if !stored.known {
		rec.CreatedAt = t.Now
		if err := t.Do(`
			insert into sessions (id, schema_version, state, has_messages, messages, next_pos, version, created_at,
				updated_at)
			values ($1, '', '{}', false, 0, 0, 0, $2, $2)`, rec.ID, t.Now); err != nil {
			return rec, err
		}
	}
	if rec.Messages != nil {
		if own > 0 {
			if err := t.Do(`delete from messages where session = $1 and invocation = $2 and n >= $3`, rec.ID,
				rec.Writer.Invocation, rec.Writer.From); err != nil {
				return rec, err
			}
		}
		messages -= own
		if stored := int64(rec.Messages.Stored()); stored != messages {
			return rec, core.Errorf(core.SessionWriteConflict, "The conversation %s has %d messages, but this turn "+
				"started from %d.", rec.ID, messages, stored)
		}
		if err := t.insertMessages(rec.ID, rec.Writer, pos, rec.Messages.Added()); err != nil {
			return rec, err
		}
		messages += int64(len(rec.Messages.Added()))
		pos += int64(len(rec.Messages.Added()))
	}
	epoch := any("") // as it is stored
	if rec.Messages != nil && rec.Messages.Epoch().Number > 0 {
		epoch = asJSON{rec.Messages.Epoch()}
	}
	state := rec.State
	if state == nil {
		state = map[string]json.RawMessage{}
	}
	err := t.Do(`
		update sessions set schema_version = $1, state = $2, has_messages = has_messages
			or $3, messages = $4, next_pos = $5, version = $6, updated_at = $7,
			epoch = case $8 when '' then epoch else $8 end
		where id = $9`,
		rec.SchemaVersion, asJSON{state}, rec.Messages != nil, messages, pos, rec.Version, t.Now, epoch, rec.ID)
	return rec, err
}

// insertMessages adds rows, several per statement.
func (t *Tx) insertMessages(id core.SessionID, w core.Writer, pos int64, msgs []core.Message) error {
	if len(msgs) > 0 && w.Invocation == "" {
		return core.Errorf(core.Internal,
			"Messages of the conversation %s can't be stored without the turn that they belong to.", id)
	}
	const most = 16 // rows, so that not many different statements are prepared
	for len(msgs) > 0 {
		n := min(len(msgs), most)
		c := conditions{}
		session, invocation := c.arg(id), c.arg(w.Invocation)
		rows := make([]string, n)
		for i, m := range msgs[:n] {
			rows[i] = "(" + session + ", " + invocation + ", " + c.arg(w.From+i) + ", " + c.arg(pos+int64(i)) +
				", " + c.arg(asJSON{m}) + ", " + c.arg(keptOf(m)) + ")"
		}
		if err := t.Do(`insert into messages (session, invocation, n, pos, body, kept) values `+
			strings.Join(rows, ", "), c.args...); err != nil {
			return err
		}
		if err := t.addMessageBlobs(id, w, msgs[:n]); err != nil {
			return err
		}
		msgs, pos, w.From = msgs[n:], pos+int64(n), w.From+n
	}
	return nil
}

// appendMessages adds messages to an invocation outside its turn: after all of its messages, and numbered from from at
// least.
func (t *Tx) appendMessages(id core.SessionID, invocation core.InvocationID, from int, msgs []core.Message) error {
	if len(msgs) == 0 {
		return nil
	}
	var pos int64
	known, err := t.Row([]any{&pos}, `select next_pos from sessions where id = $1`+t.sql.forUpdate(), id)
	if err != nil || !known {
		return err
	}
	var next int
	if _, err := t.Row([]any{&next}, `select coalesce(max(n) + 1, 0) from messages where session = $1
		and invocation = $2`, id, invocation); err != nil {
		return err
	}
	if err := t.insertMessages(id, core.Writer{Invocation: invocation, From: max(from, next)}, pos, msgs); err != nil {
		return err
	}
	_, err = t.Exec(`update sessions set has_messages = true, messages = messages + $1, next_pos = next_pos + $1,
		version = version + 1, updated_at = $2 where id = $3`,
		len(msgs), t.Now, id)
	return err
}

// InvocationMessages returns one invocation's messages in order.
func (s *Store) InvocationMessages(
	ctx context.Context, id core.SessionID, invocation core.InvocationID,
) ([]core.Message, error) {
	return readAll(ctx, s, readMessage, `select `+messageColumns+` from messages where session = $1 and invocation = $2
		order by n`, id, invocation)
}

// ListSessions returns summaries, the latest change first.
func (s *Store) ListSessions(ctx context.Context, f core.SessionFilter) ([]core.SessionSummary, error) {
	summary := func(scan func(...any) error) (x core.SessionSummary, err error) {
		return x, scan(&x.ID, &x.SchemaVersion, &x.Messages, timestamp{&x.CreatedAt}, timestamp{&x.UpdatedAt})
	}
	var where conditions
	if !f.UpdatedAfter.IsZero() {
		where.and("updated_at > " + where.arg(f.UpdatedAfter))
	}
	if !f.CreatedAfter.IsZero() {
		where.and("created_at > " + where.arg(f.CreatedAfter))
	}
	if f.SchemaVersion != nil {
		where.and("schema_version = " + where.arg(*f.SchemaVersion))
	}
	return list(ctx, s, summary, `select id, schema_version, messages, created_at, updated_at
		from sessions`, where, "updated_at", f.Limit)
}

// DeleteSession removes a session with its messages, their images, mail, evidence and paused invocations, and erases
// what was said in it elsewhere; see eraseApprovals, eraseEvents and eraseMail. An image that another session has, too,
// is kept. Deleting a missing session succeeds. It is invalid while a turn of the session runs.
func (s *Store) DeleteSession(ctx context.Context, id core.SessionID) error {
	err := s.write(ctx, func(t *Tx) error {
		queue := id.Conversation()
		if _, err := t.lockKnownQueue(queue.Queue()); err != nil {
			return err
		}
		runs, err := t.exists(`
			select 1 from queues where queue_key = $1 and owner <> '' and exists (select 1 from events
				where seq = queues.event and session = $2)`, queue, id)
		if err != nil {
			return err
		}
		if runs {
			return core.Errorf(core.Invalid,
				"A turn of the conversation %s is running. Stop it first, or wait until it ends.", id)
		}
		if err := t.eraseApprovals(id); err != nil {
			return err
		}
		waiting, err := t.Texts(`select invocation from paused where session = $1`, id)
		if err != nil {
			return err
		}
		for _, invocation := range waiting {
			if err := t.abandon(
				core.Abandon{
					Invocation: core.InvocationID(invocation), Cancel: true, Reason: "the conversation was deleted",
				}, core.Claim{Owner: core.LocalAdmin}); err != nil {
				return err
			}
		}
		if _, err := t.Exec(`delete from evidence where session = $1`, id); err != nil {
			return err
		}
		blobs, err := t.sessionBlobs(id)
		if err != nil {
			return err
		}
		if _, err := t.Exec(`delete from sessions where id = $1`, id); err != nil {
			return err
		}
		if _, err := t.Exec(`delete from messages where session = $1 and pos >= 0`, id); err != nil {
			return err
		}
		if err := t.eraseEvents(id); err != nil {
			return err
		}
		if err := t.eraseMail(id); err != nil {
			return err
		}
		return t.removeUnused(blobs, true)
	})
	if err != nil {
		return err
	}
	return s.engine.Shrink(ctx)
}

// What DeleteSession erases elsewhere is text, and digests that anybody could compute. Ids, times and states stay: an
// event that is delivered again is known, and the audit log can be verified. Events and posts that still wait are left,
// since they are still to be answered and delivered.

// eraseApprovals erases the texts of a session's approvals: arguments and their digests, summaries, questions, answers,
// reasons, changed requests and tool results, the reasons in the audit log, and the payloads of ended clicks on them.
// Such a click may be an event of another conversation, such as an approver's direct messages, and its payload may
// quote the card.
func (t *Tx) eraseApprovals(id core.SessionID) error {
	all, err := List(t, readApproval, `select `+approvalColumns+` from approvals where session = $1
		order by seq`+t.sql.forUpdate(), id)
	if err != nil {
		return err
	}
	for _, a := range all {
		if err := t.checkedBefore(a); err != nil { // it may be cancelled next
			return err
		}
		a = a.Erased()
		if _, err := t.Exec(`update approvals set body = $1, reason = '', changed = '' where id = $2`,
			asJSON{bodyOf(a)}, a.ID); err != nil {
			return err
		}
		for n, v := range a.Votes {
			if _, err := t.Exec(`update votes set body = $1 where approval = $2 and n = $3`, asJSON{v}, a.ID,
				n); err != nil {
				return err
			}
		}
	}
	if _, err := t.Exec(`
		update events set payload = null where kind in ('click', 'again') and subject in (select id from approvals
			where session = $1) and ended_at > 0 and payload is not null`, id); err != nil {
		return err
	}
	if _, err := t.Exec(`update intents set content = '""', digest = '' where approval in (select id from approvals
		where session = $1)`, id); err != nil {
		return err
	}
	return t.eraseReasons(id)
}

// eraseEvents erases the payloads of a session's ended events, and the texts of its posts that do not wait. Events that
// ended without a turn, such as edits, belong to the conversation, and so to each of its sessions.
func (t *Tx) eraseEvents(id core.SessionID) error {
	if _, err := t.Exec(`update events set payload = null, fetched = '' where conversation = $1 and session in ($2, '')
		and ended_at > 0 and payload is not null`, id.Conversation(), id); err != nil {
		return err
	}
	rows, err := List(t, readOutbox, `
		select `+outboxColumns+` from outbox where conversation = $1 and state <> 'waiting'
			and kind not in ('card', 'working') order by seq`, id.Conversation())
	if err != nil {
		return err
	}
	events, err := List(t, func(scan func(...any) error) (seq int64, err error) { return seq, scan(&seq) },
		`select seq from events where conversation = $1 and session not in ($2, '')`, id.Conversation(), id)
	if err != nil {
		return err
	}
	others := map[int64]bool{} // the events of other sessions
	for _, seq := range events {
		others[seq] = true
	}
	for _, row := range rows {
		if others[row.Event] {
			continue
		}
		p := row.Post
		p.Text, p.Pressed = "", true // it must not be drawn again
		t.outbox.writes = append(t.outbox.writes, outboxWrite{destination: destination(p), apply: func() error {
			_, err := t.Exec(`update outbox set post = $1, state = case when state = 'sent' then state
				else 'dropped' end where seq = $2 and state <> 'waiting'`, asJSON{p}, row.Seq)
			return err
		}})
	}
	return nil
}
