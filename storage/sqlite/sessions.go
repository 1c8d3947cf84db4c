package sqlite

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"time"

	"gatehouse/core"
)

// LoadSession reads the session's row alone, and counts by index what the writer's own earlier attempt left.
func (s *Store) LoadSession(ctx context.Context, id core.SessionID, w core.Writer) (*core.SessionRecord, error) {
	var rec *core.SessionRecord
	err := s.read(ctx, func(t *tx) error {
		r := core.SessionRecord{ID: id, Writer: w}
		var keeps bool
		var messages int
		var end int64
		found, err := t.row([]any{&r.SchemaVersion, fromJSON{&r.State}, &keeps, &messages, &end, &r.Version, stamp{&r.CreatedAt}, stamp{&r.UpdatedAt}},
			`select schema_version, state, keeps, messages, next_pos, version, created_at, updated_at from sessions where id = ?`, id)
		if err != nil || !found {
			return err
		}
		if keeps {
			var left int
			if _, err := t.row([]any{&left}, `select count(*) from messages where session = ? and invocation = ? and n >= ?`, id, w.Invocation, w.From); err != nil {
				return err
			}
			h := core.NewHistory(messages-left, history{store: s, session: id, without: w, end: end})
			r.Messages = &h
		}
		rec = &r
		return nil
	})
	return rec, err
}

// history reads a session's messages as they stood when it was loaded: those before end, without an attempt's own.
type history struct {
	store   *Store
	session core.SessionID
	without core.Writer
	end     int64
}

// Before reads backwards along the order; what is skipped is passed over in the index.
func (h history) Before(ctx context.Context, skip, n int) ([]core.Message, error) {
	var page []core.Message
	err := h.store.read(ctx, func(t *tx) (err error) {
		page, err = list(t, readMessage, `
			select body from messages where session = ? and pos < ? and not (invocation = ? and n >= ?) order by pos desc limit ? offset ?`,
			h.session, h.end, h.without.Invocation, h.without.From, n, skip)
		return err
	})
	slices.Reverse(page)
	return page, err
}

func readMessage(scan func(...any) error) (m core.Message, err error) {
	return m, scan(fromJSON{&m})
}

// SaveSession saves in the middle of a turn.
func (s *Store) SaveSession(ctx context.Context, c core.Claim, rec *core.SessionRecord) error {
	var saved saved
	err := s.fenced(ctx, c, func(t *tx) (err error) {
		saved, err = t.saveSession(rec)
		return err
	})
	if err == nil {
		saved.mark(rec)
	}
	return err
}

// saved is what the store decides about a saved session; it is written into the record only after the commit.
type saved struct {
	version int64
	created time.Time
	updated time.Time
}

func (s saved) mark(rec *core.SessionRecord) {
	rec.Version, rec.CreatedAt, rec.UpdatedAt = s.version, s.created, s.updated
}

// saveSession overwrites the record and replaces the writer's rows. The history must stand on what is stored: one that does not
// was read before something else was written, and is refused rather than mixed with it.
func (t *tx) saveSession(rec *core.SessionRecord) (saved, error) {
	s := saved{version: 1, created: t.now.UTC(), updated: t.now.UTC()}
	var messages, pos int64
	known, err := t.row([]any{&s.version, stamp{&s.created}, &messages, &pos}, `select version + 1, created_at, messages, next_pos from sessions where id = ?`, rec.ID)
	if err != nil {
		return s, err
	}
	if !known {
		if _, err := t.exec(`insert into sessions (id, schema_version, state, keeps, messages, next_pos, version, created_at, updated_at) values (?, '', '{}', 0, 0, 0, 0, ?, 0)`, rec.ID, ns(t.now)); err != nil {
			return s, err
		}
	}
	if rec.Messages != nil {
		gone, err := t.exec(`delete from messages where session = ? and invocation = ? and n >= ?`, rec.ID, rec.Writer.Invocation, rec.Writer.From)
		if err != nil {
			return s, err
		}
		messages -= gone
		if stored := int64(rec.Messages.Stored()); stored != messages {
			return s, core.Errorf(core.SessionWriteConflict, "The conversation %s has %d messages, but this turn was made on %d.", rec.ID, messages, stored)
		}
		if err := t.insertMessages(rec.ID, rec.Writer, pos, rec.Messages.Added()); err != nil {
			return s, err
		}
		messages += int64(len(rec.Messages.Added()))
		pos += int64(len(rec.Messages.Added()))
	}
	state := rec.State
	if state == nil {
		state = map[string]json.RawMessage{}
	}
	_, err = t.exec(`update sessions set schema_version = ?, state = ?, keeps = max(keeps, ?), messages = ?, next_pos = ?, version = ?, updated_at = ? where id = ?`,
		rec.SchemaVersion, asJSON{state}, rec.Messages != nil, messages, pos, s.version, ns(t.now), rec.ID)
	return s, err
}

func (t *tx) insertMessages(id core.SessionID, w core.Writer, pos int64, msgs []core.Message) error {
	if len(msgs) > 0 && w.Invocation == "" {
		return core.Errorf(core.Internal, "Messages of the conversation %s were to be stored without the turn they belong to.", id)
	}
	for i, m := range msgs {
		if _, err := t.exec(`insert into messages (session, invocation, n, pos, body) values (?, ?, ?, ?, ?)`, id, w.Invocation, w.From+i, pos+int64(i), asJSON{m}); err != nil {
			return err
		}
	}
	return nil
}

// appendMessages adds rows outside a turn of their invocation: after all that it has, from number from on at least.
func (t *tx) appendMessages(id core.SessionID, invocation core.InvocationID, from int, msgs []core.Message) error {
	var pos int64
	known, err := t.row([]any{&pos}, `select next_pos from sessions where id = ?`, id)
	if err != nil || !known || len(msgs) == 0 {
		return err
	}
	var next int
	if _, err := t.row([]any{&next}, `select coalesce(max(n) + 1, 0) from messages where session = ? and invocation = ?`, id, invocation); err != nil {
		return err
	}
	if err := t.insertMessages(id, core.Writer{Invocation: invocation, From: max(from, next)}, pos, msgs); err != nil {
		return err
	}
	_, err = t.exec(`update sessions set keeps = 1, messages = messages + ?, next_pos = next_pos + ?, version = version + 1, updated_at = ? where id = ?`,
		len(msgs), len(msgs), ns(t.now), id)
	return err
}

// InvocationMessages reads one invocation's rows by their key.
func (s *Store) InvocationMessages(ctx context.Context, id core.SessionID, invocation core.InvocationID) (msgs []core.Message, err error) {
	err = s.read(ctx, func(t *tx) error {
		msgs, err = list(t, readMessage, `select body from messages where session = ? and invocation = ? order by n`, id, invocation)
		return err
	})
	return msgs, err
}

// ListSessions reads summaries along the index of changes.
func (s *Store) ListSessions(ctx context.Context, f core.SessionFilter) (all []core.SessionSummary, err error) {
	read := func(scan func(...any) error) (x core.SessionSummary, err error) {
		return x, scan(&x.ID, &x.SchemaVersion, &x.Messages, stamp{&x.CreatedAt}, stamp{&x.UpdatedAt})
	}
	err = s.read(ctx, func(t *tx) error {
		all, err = list(t, read, `
			select id, schema_version, messages, created_at, updated_at from sessions
			where updated_at > ? and created_at > ? and (? or schema_version = ?) order by updated_at desc limit ?`,
			ns(f.UpdatedAfter), ns(f.CreatedAfter), f.SchemaVersion == nil, f.SchemaVersion, limit(f.Limit))
		return err
	})
	return all, err
}

// DeleteSession removes a session. A holder whose lease is over loses its conversation first, so that it can't write the session anew.
func (s *Store) DeleteSession(ctx context.Context, id core.SessionID) error {
	return s.write(ctx, func(t *tx) error {
		queue := id.Conversation()
		var until int64
		runs, err := t.row([]any{&until}, `
			select lease_until from queues where queue = ? and owner <> '' and exists (select 1 from events where seq = queues.event and session = ?)`, queue, id)
		if err != nil {
			return err
		}
		if runs && until > ns(t.now) {
			return core.Errorf(core.Invalid, "A turn of the conversation %s runs. Stop it first, or wait for its end.", id)
		}
		if runs {
			if _, err := t.exec(`update queues set owner = '', lease_until = 0, fence = fence + 1 where queue = ?`, queue); err != nil {
				return err
			}
			if err := t.ready(queue.Queue()); err != nil {
				return err
			}
		}
		waiting, err := t.texts(`select invocation from paused where session = ?`, id)
		if err != nil {
			return err
		}
		for _, invocation := range waiting {
			if err := t.closure(core.Abandon{Invocation: core.InvocationID(invocation), Cancel: true, Reason: "the conversation was deleted"}, 0); err != nil {
				return err
			}
		}
		if _, err := t.exec(`delete from evidence where session = ?`, id); err != nil {
			return err
		}
		_, err = t.exec(`delete from sessions where id = ?`, id) // and its messages with it
		return err
	})
}

// limit makes "no limit" a number.
func limit(n int) int {
	if n <= 0 {
		return math.MaxInt32
	}
	return n
}
