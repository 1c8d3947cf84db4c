package graph

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"gatehouse/core"
)

// Memory keeps sessions and paused invocations in memory, for tests, embedding and invocations that are given no store.
// It shares nothing with its callers and stores a conversation the way a database does: as rows under (session,
// invocation, n).
type Memory struct {
	mu       sync.Mutex
	now      func() time.Time
	sessions map[core.SessionID]*storedSession
	paused   []*core.PausedRecord // in the order in which they were paused
}

// storedSession is a session record with its messages as rows.
type storedSession struct {
	rec      core.SessionRecord // without Messages
	rows     []row
	messages bool
	epoch    core.Epoch
}

type row struct {
	invocation core.InvocationID
	n          int
	message    core.Message
}

var (
	_ core.SessionStore = (*Memory)(nil)
	_ core.PauseStore   = (*Memory)(nil)
)

// NewMemory makes an empty store.
func NewMemory() *Memory {
	return &Memory{now: time.Now, sessions: map[core.SessionID]*storedSession{}}
}

// Load gives the session's record, nil if there is none (sessions §5).
func (m *Memory) Load(_ context.Context, id core.SessionID) (*core.SessionRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s, ok := m.sessions[id]
	if !ok {
		return nil, nil
	}
	rec := s.rec
	rec.State = clone(rec.State)
	if s.messages {
		all := make([]core.Message, len(s.rows))
		for i, r := range s.rows {
			all[i] = r.message
		}
		h := core.NewHistory(len(all), func(_ context.Context, skip, n int) ([]core.Message, error) {
			end := max(0, len(all)-skip)
			return slices.Clone(all[max(0, end-n):end]), nil
		}).WithEpoch(s.epoch)
		rec.Messages = &h
	}
	return &rec, nil
}

// Save overwrites the record; of the messages it writes those added, in the place of rows that the same writer wrote
// before.
func (m *Memory) Save(_ context.Context, rec *core.SessionRecord, opts core.SaveOptions) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.save(rec, opts)
}

func (m *Memory) save(rec *core.SessionRecord, opts core.SaveOptions) error {
	s := m.sessions[rec.ID]
	if s == nil {
		s = &storedSession{rec: core.SessionRecord{CreatedAt: m.now()}}
	}
	if want := opts.ExpectedVersion; want != nil && *want != s.rec.Version {
		return core.Errorf(core.SessionWriteConflict, "the session is at version %d, not %d", s.rec.Version, *want)
	}
	rec.Version, rec.CreatedAt, rec.UpdatedAt = s.rec.Version+1, s.rec.CreatedAt, m.now()
	if rec.Messages != nil {
		w := rec.Writer
		s.messages, s.epoch = true, rec.Messages.Epoch()
		s.rows = slices.DeleteFunc(s.rows, func(r row) bool { return r.invocation == w.Invocation && r.n >= w.From })
		for i, msg := range rec.Messages.Added() {
			s.rows = append(s.rows, row{w.Invocation, w.From + i, msg})
		}
	}
	s.rec = *rec
	s.rec.Messages, s.rec.State = nil, clone(rec.State)
	m.sessions[rec.ID] = s
	return nil
}

// Delete removes a session with its messages and paused invocations.
func (m *Memory) Delete(_ context.Context, id core.SessionID) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.sessions, id)
	m.removePaused(func(rec *core.PausedRecord) bool { return rec.Session == id })
	return nil
}

// List gives summaries, latest change first.
func (m *Memory) List(_ context.Context, f core.SessionFilter) ([]core.SessionSummary, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []core.SessionSummary
	for _, id := range slices.Sorted(maps.Keys(m.sessions)) {
		s := m.sessions[id]
		if f.SchemaVersion != nil && s.rec.SchemaVersion != *f.SchemaVersion ||
			!f.UpdatedAfter.IsZero() && !s.rec.UpdatedAt.After(f.UpdatedAfter) ||
			!f.CreatedAfter.IsZero() && !s.rec.CreatedAt.After(f.CreatedAfter) {
			continue
		}
		out = append(out, core.SessionSummary{
			ID: id, SchemaVersion: s.rec.SchemaVersion, Messages: len(s.rows), CreatedAt: s.rec.CreatedAt,
			UpdatedAt: s.rec.UpdatedAt,
		})
	}
	slices.SortStableFunc(out, func(a, b core.SessionSummary) int { return b.UpdatedAt.Compare(a.UpdatedAt) })
	if f.Limit > 0 && len(out) > f.Limit {
		out = out[:f.Limit]
	}
	return out, nil
}

// Pause stores the record and, if it is given, the session: both or neither.
func (m *Memory) Pause(_ context.Context, rec *core.PausedRecord, session *core.SessionRecord) error {
	stored, err := copyPaused(rec)
	if err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if session != nil {
		if err := m.save(session, core.SaveOptions{}); err != nil {
			return err
		}
	}
	m.removePaused(of(rec.Invocation))
	m.paused = append(m.paused, stored)
	return nil
}

// Paused gives the waiting record of an invocation, nil if there is none.
func (m *Memory) Paused(_ context.Context, id core.InvocationID) (*core.PausedRecord, error) {
	return m.firstPaused(of(id))
}

// BySignal gives the waiting record of a signal, the longest waiting one if several have the same; nil if there is
// none.
func (m *Memory) BySignal(_ context.Context, id core.SignalID) (*core.PausedRecord, error) {
	return m.firstPaused(func(rec *core.PausedRecord) bool { return rec.Descriptor.SignalID == id })
}

// Consume takes a record away and reports whether it was there.
func (m *Memory) Consume(_ context.Context, id core.InvocationID) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.removePaused(of(id)), nil
}

func of(id core.InvocationID) func(*core.PausedRecord) bool {
	return func(rec *core.PausedRecord) bool { return rec.Invocation == id }
}

func (m *Memory) firstPaused(wanted func(*core.PausedRecord) bool) (*core.PausedRecord, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.IndexFunc(m.paused, wanted); i >= 0 {
		return copyPaused(m.paused[i])
	}
	return nil, nil
}

// removePaused removes records and reports whether there were any.
func (m *Memory) removePaused(unwanted func(*core.PausedRecord) bool) bool {
	before := len(m.paused)
	m.paused = slices.DeleteFunc(m.paused, unwanted)
	return len(m.paused) < before
}

// copyPaused goes through JSON: what is kept is what a database would keep.
func copyPaused(rec *core.PausedRecord) (*core.PausedRecord, error) {
	if rec == nil {
		return nil, nil
	}
	data, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	var out core.PausedRecord
	if err := json.Unmarshal(data, &out); err != nil {
		return nil, err
	}
	out.Descriptor.Metadata = clone(rec.Descriptor.Metadata) // untouched: a number keeps its Go type
	return &out, nil
}
