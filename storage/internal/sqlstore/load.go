package sqlstore

import (
	"context"
	"slices"

	"gatehouse/core"
)

// LoadSession reads a session; it returns nil, nil if there is none. It leaves out the messages of the writer's own earlier attempt
// and reads no message rows; History reads them when asked.
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
	left     int // of them, those of the writer
	end      int64
	fault    error // why the state can't be decoded
}

// askLoad reads a session; the result is there after flush. A state that can't be decoded is no error of the transaction, but a fault.
func (t *Tx) askLoad(l *loading, id core.SessionID, w core.Writer) error {
	r := &l.record
	r.ID, r.Writer = id, w
	return t.ask(&l.found, []any{&r.SchemaVersion, maybeJSON{fromJSON{&r.State}, &l.fault}, &l.has, &l.messages, &l.end, &r.Version, timestamp{&r.CreatedAt}, timestamp{&r.UpdatedAt}, &l.left}, `
		select schema_version, state, has_messages, messages, next_pos, version, created_at, updated_at,
			(select count(*) from messages m where m.session = $1 and m.invocation = $2 and m.n >= $3)
		from sessions where id = $1`, id, w.Invocation, w.From)
}

// session returns what was read; nil if there is none.
func (l *loading) session(s *Store) *core.SessionRecord {
	if !l.found {
		return nil
	}
	r := l.record
	if l.has {
		h := core.NewHistory(l.messages-l.left, func(ctx context.Context, skip, n int) ([]core.Message, error) {
			// Messages are read as of the load of the session, backwards: the index skips the first skip rows.
			page, err := readAll(ctx, s, readMessage, `
				select body from messages where session = $1 and pos < $2 and not (invocation = $3 and n >= $4) order by pos desc limit $5 offset $6`,
				r.ID, l.end, r.Writer.Invocation, r.Writer.From, n, skip)
			slices.Reverse(page)
			return page, err
		})
		r.Messages = &h
	}
	return &r
}

func readMessage(scan func(...any) error) (m core.Message, err error) {
	return m, scan(fromJSON{&m})
}
