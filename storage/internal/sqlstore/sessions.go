package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"gatehouse/core"
)

// LoadSession reads a session; it returns nil, nil if there is none. It leaves out the messages of the writer's own
// earlier attempt and reads no message rows; History reads them when asked.
func (s *Store) LoadSession(ctx context.Context, id core.SessionID, w core.Writer) (*core.SessionRecord, error) {
	l, err := read(ctx, s, func(t *Tx) (*loading, error) {
		l := &loading{}
		if err := t.askLoad(l, id, w); err != nil { // a read waits for nothing
			return nil, err
		}
		return l, l.fault
	})
	if err != nil {
		return nil, err
	}
	return l.session(s), nil
}

// loading is a session that is being read.
type loading struct {
	found    bool
	record   core.SessionRecord
	has      bool // messages
	messages int
	epoch    core.Epoch
	left     int // of them, those of the writer
	end      int64
	fault    error // why the state can't be decoded
}

// askLoad reads a session; the result is there after flush. A state that can't be decoded is no error of the
// transaction, but a fault.
func (t *Tx) askLoad(l *loading, id core.SessionID, w core.Writer) error {
	r := &l.record
	r.ID, r.Writer = id, w
	return t.ask(&l.found,
		[]any{
			&r.SchemaVersion, maybeJSON{sessionJSON{&r.State}, &l.fault}, &l.has,
			maybeJSON{sessionJSON{&l.epoch}, &l.fault}, &l.messages, &l.end, &r.Version, timestamp{&r.CreatedAt},
			timestamp{&r.UpdatedAt}, &l.left,
		}, `
		select schema_version, state, has_messages, case epoch when '' then '{}'
			else epoch end, messages, next_pos, version, created_at, updated_at,
			(select count(*) from messages m where m.session = $1 and m.invocation = $2 and m.n >= $3)
		from sessions where id = $1`, id, w.Invocation, w.From)
}

// session returns what was read; nil if there is none.
func (l *loading) session(s *Store) *core.SessionRecord {
	if !l.found {
		return nil
	}
	r := l.record
	r.Earlier = l.left
	if l.has {
		h := core.NewHistory(l.messages-l.left, func(ctx context.Context, skip, n int) ([]core.Message, error) {
			// Messages are read as of the load of the session, backwards: the index skips the first skip rows.
			page, err := readAll(ctx, s, readMessage, `
				select `+messageColumns+` from messages where session = $1 and pos < $2 and not (invocation = $3
					and n >= $4) order by pos desc limit $5 offset $6`,
				r.ID, l.end, r.Writer.Invocation, r.Writer.From, n, skip)
			slices.Reverse(page)
			return page, err
		}).WithEpoch(l.epoch)
		r.Messages = &h
	}
	return &r
}

// messageColumns are the columns that readMessage reads.
const messageColumns = `body, case kept when '' then 'null' else kept end`

// readMessage reads a message. A tool message without content is one of an earlier gatehouse, whose tool said nothing.
// Error: session_load_failed.
func readMessage(scan func(...any) error) (m core.Message, err error) {
	var kept *core.Kept
	if err := scan(sessionJSON{&m}, sessionJSON{&kept}); err != nil {
		return m, err
	}
	if fault := m.Fault(); fault != nil {
		return m, unreadable(fault)
	}
	if m.Role == core.ToolRole && m.Content.IsZero() {
		m = core.Result(m.ToolCallID, "")
	}
	m.Kept = kept
	return m, nil
}

// keptOf is the column beside a message.
func keptOf(m core.Message) any {
	if m.Kept == nil {
		return ""
	}
	return asJSON{m.Kept}
}

// SaveSession saves a session during a turn. It may be repeated: it replaces the writer's own messages. It fails with
// lease_lost if the claim no longer holds its queue, and with session_write_conflict if the session has changed since
// it was loaded.
func (s *Store) SaveSession(ctx context.Context, c core.Claim, rec *core.SessionRecord) error {
	saved, err := write(ctx, s, func(t *Tx) (core.SessionRecord, error) {
		var stored storedSession
		if _, err := t.fenceAsking(c, nil, "", func() error { return t.askSession(&stored, *rec) }); err != nil {
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
	switch {
	case !f.UpdatedBefore.IsZero() && f.BeforeID != "":
		where.and("(updated_at, id) < (" + where.arg(f.UpdatedBefore) + ", " + where.arg(f.BeforeID) + ")")
	case !f.UpdatedBefore.IsZero():
		where.and("updated_at < " + where.arg(f.UpdatedBefore))
	}
	if f.People != nil {
		var by conditions
		by.args = where.args
		by.and("actor_id <> '' and session <> ''") // so that the partial index has them
		in(&by, "actor_id", f.People)
		where.args = by.args
		where.and("id in (select session from events where " + by.all() + ")")
	}
	if of, ok := standings[f.Standing]; ok {
		where.and("id in (" + of + ")")
	}
	if f.Platform != "" {
		beginning := f.Platform + ":"
		where.and(fmt.Sprintf("substr(id, 1, %d) = %s", utf8.RuneCountInString(beginning), where.arg(beginning)))
	}
	if !f.CreatedAfter.IsZero() {
		where.and("created_at > " + where.arg(f.CreatedAfter))
	}
	if f.SchemaVersion != nil {
		where.and("schema_version = " + where.arg(*f.SchemaVersion))
	}
	where.and("updated_at > 0")
	return readAll(ctx, s, summary, `select id, schema_version, messages, created_at, updated_at
		from sessions where `+where.all()+` order by updated_at desc, id desc limit `+where.arg(limit(f.Limit)),
		where.args...)
}

// standings select the sessions of a standing.
var standings = map[core.SessionStanding]string{
	core.SessionAsks:   "select session from approvals where state = 'open'",
	core.SessionRuns:   "select session from events where ended_at = 0 and seq > 0 and session <> ''",
	core.SessionFailed: "select session from events where end_kind = 'dead' and seq > 0 and session <> ''",
}

// LoadPaused returns the paused record of an invocation. If id is empty, it returns the latest record with that signal.
// It returns nil, nil if there is none. Error: session_load_failed for one that can't be read, with its ids alone.
func (s *Store) LoadPaused(
	ctx context.Context, id core.InvocationID, signal core.SignalID,
) (*core.PausedRecord, error) {
	return read(ctx, s, func(t *Tx) (*core.PausedRecord, error) { return t.pausedRecord(id, signal) })
}

func (t *Tx) pausedRecord(id core.InvocationID, signal core.SignalID) (*core.PausedRecord, error) {
	query, key := `select invocation, session, signal, record from paused where invocation = $1`, string(id)
	if id == "" {
		query, key = `select invocation, session, signal, record from paused where signal = $1 order by created_at desc
			limit 1`, string(signal)
	}
	var ids, rec core.PausedRecord
	var fault error
	found, err := t.Row(
		[]any{&ids.Invocation, &ids.Session, &ids.Descriptor.SignalID, maybeJSON{sessionJSON{&rec}, &fault}}, query,
		key)
	switch {
	case err != nil || !found:
		return nil, err
	case fault != nil:
		return &ids, fault
	}
	return &rec, nil
}

// storePaused stores a paused record. It replaces an earlier record of the same invocation, which belongs to the
// segment before.
func (t *Tx) storePaused(rec *core.PausedRecord) error {
	_, err := t.Exec(`
		insert into paused (invocation, session, signal, record, created_at) values ($1, $2, $3, $4, $5)
		on conflict (invocation) do update
			set session = excluded.session, signal = excluded.signal, record = excluded.record,
				created_at = excluded.created_at`,
		rec.Invocation, rec.Session, rec.Descriptor.SignalID, asJSON{rec}, t.Now)
	return err
}

func (t *Tx) deletePaused(id core.InvocationID) error {
	_, err := t.Exec(`delete from paused where invocation = $1`, id)
	return err
}

// queuesOf returns the queues that abandoning these invocations writes to: their conversations' queues, and those where
// signals wait for them.
func (t *Tx) queuesOf(invocations []string) ([]core.QueueKey, error) {
	var c conditions
	in(&c, "invocation", invocations)
	which := c.parts[0]
	sessions, err := t.Texts(`select session from paused where `+which, c.args...)
	if err != nil {
		return nil, err
	}
	queues, err := t.Texts(`select distinct queue_key from events where `+which+` and signal = true and ended_at = 0`,
		c.args...)
	if err != nil {
		return nil, err
	}
	var all []core.QueueKey
	for _, s := range sessions {
		all = append(all, core.SessionID(s).Conversation().Queue())
	}
	for _, q := range queues {
		all = append(all, core.QueueKey(q))
	}
	return all, nil
}

// abandon ends a paused invocation. by is the claim of the turn that abandons it; that turn ends its event itself.
func (t *Tx) abandon(c core.Abandon, by core.Claim) error {
	rec, err := t.pausedRecord(c.Invocation, "")
	if rec == nil && err != nil {
		return err
	}
	if rec != nil {
		if err := t.deletePaused(c.Invocation); err != nil {
			return err
		}
		if err := t.appendMessages(rec.Session, c.Invocation, rec.Messages, c.Rows); err != nil {
			return err
		}
	}
	if err := t.withdrawSignals(c, by.Event.Seq); err != nil {
		return err
	}
	if err := t.cancelUnbegun(c); err != nil {
		return err
	}
	return t.endCalls(c.Invocation, by.Owner, c.NotRun, false)
}

// cancelUnbegun cancels the approvals of an abandoned invocation, if that is asked for.
func (t *Tx) cancelUnbegun(c core.Abandon) error {
	if !c.Cancel {
		return nil
	}
	open, err := List(t, readApproval, `
		select `+approvalColumns+` from approvals where invocation = $1 and state in ('open', 'approved', 'answered')
			and begun = false order by seq`+t.sql.forUpdate(), c.Invocation)
	if err != nil {
		return err
	}
	for _, a := range open {
		if err := t.cancelApproval(a, c); err != nil {
			return err
		}
	}
	return nil
}

func (t *Tx) withdrawSignals(c core.Abandon, except int64) error {
	keys, err := t.Texts(`select distinct queue_key from events where invocation = $1 and signal = true and ended_at = 0
		and seq <> $2`, c.Invocation, except)
	if err != nil {
		return err
	}
	for _, key := range keys {
		if _, err := t.lockKnownQueue(core.QueueKey(key)); err != nil {
			return err
		}
		if _, err := t.Exec(`
			update events set ended_at = $1, end_kind = $2, end_cause = $3 where queue_key = $4 and invocation = $5
				and signal = true and ended_at = 0 and seq <> $6`,
			t.Now, core.EndWithdrawn, free(c.Reason), key, c.Invocation, except); err != nil {
			return err
		}
		if err := t.updateReady(core.QueueKey(key)); err != nil {
			return err
		}
	}
	return nil
}
