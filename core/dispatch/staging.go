package dispatch

import (
	"context"

	"gatehouse/core"
)

// staging is the store of one turn's engine. It reads the database. It keeps the save and the pause at the turn's end for the Finish,
// and commits an explicit save at once, fenced.
type staging struct {
	store  Store
	claim  core.Claim
	writer core.Writer // whose messages of an earlier attempt are left out
	memory *memory     // of the turn

	session  *core.SessionRecord
	paused   *core.PausedRecord
	waiting  *core.PausedRecord // the record to resume, once it was read: only this turn may change it
	consumed core.InvocationID
}

// Load reads the session without the messages of an earlier attempt of this turn.
func (s *staging) Load(ctx context.Context, id core.SessionID) (*core.SessionRecord, error) {
	rec, err := s.load(ctx, id)
	if rec != nil && rec.Messages != nil {
		counted := s.memory.counted(*rec.Messages)
		rec.Messages = &counted
	}
	return rec, err
}

// load returns the session that was read with the claim once; the turn may have saved it since.
func (s *staging) load(ctx context.Context, id core.SessionID) (*core.SessionRecord, error) {
	if l := s.claim.Loaded; l != nil && id == s.claim.Session {
		s.claim.Loaded = nil
		return l.Record, nil
	}
	return s.store.LoadSession(ctx, id, s.writer)
}

// Save keeps the record for the Finish, or commits it now if the save is explicit.
func (s *staging) Save(ctx context.Context, rec *core.SessionRecord, o core.SaveOptions) error {
	if o.Explicit {
		return s.store.SaveSession(ctx, s.claim, rec)
	}
	s.session = rec
	return nil
}

// Delete and List complete the contract; a turn does not use them.
func (s *staging) Delete(ctx context.Context, id core.SessionID) error {
	return s.store.DeleteSession(ctx, id)
}

func (s *staging) List(ctx context.Context, f core.SessionFilter) ([]core.SessionSummary, error) {
	return s.store.ListSessions(ctx, f)
}

// Pause keeps the record and the session together for the Finish, which stores both or neither.
func (s *staging) Pause(_ context.Context, rec *core.PausedRecord, session *core.SessionRecord) error {
	s.paused, s.session = rec, session
	return nil
}

func (s *staging) Paused(ctx context.Context, id core.InvocationID) (*core.PausedRecord, error) {
	if s.waiting != nil && s.waiting.Invocation == id {
		return s.found(s.waiting, nil)
	}
	return s.found(s.store.LoadPaused(ctx, id, ""))
}

func (s *staging) BySignal(ctx context.Context, id core.SignalID) (*core.PausedRecord, error) {
	return s.found(s.store.LoadPaused(ctx, "", id))
}

func (s *staging) found(rec *core.PausedRecord, err error) (*core.PausedRecord, error) {
	if err != nil || rec == nil || rec.Invocation == s.consumed {
		return nil, err
	}
	s.waiting, s.writer = rec, core.Writer{Invocation: rec.Invocation, From: rec.Messages}
	return rec, nil
}

// Consume marks the record for the Finish, which removes it. After a crash before the Finish the record is still there.
func (s *staging) Consume(ctx context.Context, id core.InvocationID) (bool, error) {
	rec, err := s.Paused(ctx, id)
	if err != nil || rec == nil {
		return false, err
	}
	s.consumed = id
	return true, nil
}
