package dispatch

import (
	"context"

	"gatehouse/core"
)

// staging is the store of one turn's engine. It reads the database. It keeps the save and the pause at the turn's end
// for the Finish, and commits an explicit save at once, fenced.
//
// Each save writes only the messages that this attempt has not saved yet. Its first one replaces those of an earlier
// attempt, which may have been overtaken by those of another turn: they come at the end, where this attempt was shown
// them.
type staging struct {
	turn   *turn
	claim  core.Claim
	writer core.Writer // whose messages of an earlier attempt are left out
	saved  int         // how many messages of this attempt are stored

	session  *core.SessionRecord
	paused   *core.PausedRecord
	waiting  *core.PausedRecord // the record to resume, once it was read: only this turn may change it
	consumed core.InvocationID
}

// earlier returns the messages that earlier attempts of this turn have saved. It reads the session for the engine,
// which also reports it if that can't be read.
func (s *staging) earlier(ctx context.Context, id core.SessionID) ([]core.Message, error) {
	rec, err := s.load(ctx, id)
	if err != nil {
		return nil, nil //nolint:nilerr // see above
	}
	if id == s.claim.Session {
		s.claim.Loaded = &core.LoadedSession{Record: rec}
	}
	if rec == nil || rec.Earlier == 0 {
		return nil, nil
	}
	all, err := s.turn.Store.InvocationMessages(ctx, id, s.writer.Invocation)
	return all[min(s.writer.From, len(all)):], err
}

// Load reads the session without the messages of an earlier attempt of this turn.
func (s *staging) Load(ctx context.Context, id core.SessionID) (*core.SessionRecord, error) {
	rec, err := s.load(ctx, id)
	if rec != nil && rec.Messages != nil {
		counted := s.turn.memory.counted(*rec.Messages)
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
	return s.turn.Store.LoadSession(ctx, id, s.writer)
}

// Save keeps the record for the Finish, or commits it now if the save is explicit and has something new. While the
// store fails, the commit is repeated: what was done is in memory alone.
func (s *staging) Save(ctx context.Context, rec *core.SessionRecord, o core.SaveOptions) error {
	rec = s.rest(rec)
	if !o.Explicit {
		s.session = rec
		return nil
	}
	added := 0
	if rec.Messages != nil {
		added = len(rec.Messages.Added())
	}
	if s.saved > 0 && added == 0 && len(rec.State) == 0 {
		return nil
	}
	err := s.turn.persist(ctx, func(ctx context.Context) error { return s.turn.Store.SaveSession(ctx, s.claim, rec) })
	if err == nil {
		s.saved += added
	}
	return err
}

// rest is the record without the messages that this attempt has saved already.
func (s *staging) rest(rec *core.SessionRecord) *core.SessionRecord {
	if rec == nil || rec.Messages == nil {
		return rec
	}
	rest, h := *rec, rec.Messages.Save(s.saved)
	rest.Writer.From, rest.Messages = rec.Writer.From+s.saved, &h
	return &rest
}

// Delete and List complete the contract; a turn does not use them.
func (s *staging) Delete(ctx context.Context, id core.SessionID) error {
	return s.turn.Store.DeleteSession(ctx, id)
}

func (s *staging) List(ctx context.Context, f core.SessionFilter) ([]core.SessionSummary, error) {
	return s.turn.Store.ListSessions(ctx, f)
}

// Pause keeps the record and the session together for the Finish, which stores both or neither.
func (s *staging) Pause(_ context.Context, rec *core.PausedRecord, session *core.SessionRecord) error {
	s.paused, s.session = rec, s.rest(session)
	return nil
}

func (s *staging) Paused(ctx context.Context, id core.InvocationID) (*core.PausedRecord, error) {
	if s.waiting != nil && s.waiting.Invocation == id {
		return s.found(s.waiting, nil)
	}
	return s.found(s.turn.Store.LoadPaused(ctx, id, ""))
}

func (s *staging) BySignal(ctx context.Context, id core.SignalID) (*core.PausedRecord, error) {
	return s.found(s.turn.Store.LoadPaused(ctx, "", id))
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
