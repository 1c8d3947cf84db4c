package dispatch

import (
	"context"

	"gatehouse/core"
)

// staging is the store that one turn's engine sees. It reads the database; the save and the pause at the turn's end are kept for
// the Finish; an explicit save commits at once, fenced.
type staging struct {
	store  Store
	claim  core.Claim
	writer core.Writer // whose rows of an earlier attempt are left out

	session  *core.SessionRecord
	paused   *core.PausedRecord
	waiting  *core.PausedRecord // the record that a resume takes up, once it was read: only this turn may change it
	consumed core.InvocationID
}

// Load reads the session as it stands, without what an earlier attempt of this turn left.
func (s *staging) Load(ctx context.Context, id core.SessionID) (*core.SessionRecord, error) {
	return s.store.LoadSession(ctx, id, s.writer)
}

// Save keeps the record for the Finish, or commits it now where it was asked for explicitly.
func (s *staging) Save(ctx context.Context, rec *core.SessionRecord, o core.SaveOptions) error {
	if o.Explicit {
		return s.store.SaveSession(ctx, s.claim, rec)
	}
	s.session = rec
	return nil
}

// Delete and List are not a turn's business, but the contract has them.
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

// Consume marks the record for the Finish, which removes it. Until then a crash finds it waiting.
func (s *staging) Consume(ctx context.Context, id core.InvocationID) (bool, error) {
	rec, err := s.Paused(ctx, id)
	if err != nil || rec == nil {
		return false, err
	}
	s.consumed = id
	return true, nil
}
