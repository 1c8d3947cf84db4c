package sqlstore

import (
	"context"
	"slices"

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
