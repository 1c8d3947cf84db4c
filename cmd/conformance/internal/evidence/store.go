package evidence

import (
	"context"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/graph"
)

// Store records the calls of a session store and of a pause store. It can make them fail.
type Store struct {
	Sessions core.SessionStore
	Pauses   core.PauseStore
	Recorder *Recorder
	Faults   Faults
}

var (
	_ core.SessionStore = (*Store)(nil)
	_ core.PauseStore   = (*Store)(nil)
)

// Faults are the failures that a case injects: of Load and of Save of a session.
type Faults map[string]core.Category

// Of returns the injected failure of a call; nil if there is none.
func (f Faults) Of(what string) error {
	if c, ok := f[what]; ok {
		return core.Errorf(c, "the fixture makes every %s fail", what)
	}
	return nil
}

// Load records the loaded session.
func (s *Store) Load(ctx context.Context, id core.SessionID) (rec *core.SessionRecord, err error) {
	if err = s.Faults.Of(Load); err == nil {
		rec, err = s.Sessions.Load(ctx, id)
	}
	s.Recorder.Add(Entry{What: Load, Session: id, Record: StoredOf(ctx, rec)})
	return rec, err
}

// Save records the record to be saved.
func (s *Store) Save(ctx context.Context, rec *core.SessionRecord, opts core.SaveOptions) error {
	what := Save
	if opts.Explicit {
		what = ExplicitSave
	}
	s.Recorder.Add(Entry{What: what, Session: rec.ID, Record: StoredOf(ctx, rec)})
	if err := s.Faults.Of(Save); err != nil {
		return err
	}
	return s.Sessions.Save(ctx, rec, opts)
}

// Delete records the call.
func (s *Store) Delete(ctx context.Context, id core.SessionID) error {
	s.Recorder.Add(Entry{What: Delete, Session: id})
	return s.Sessions.Delete(ctx, id)
}

// List records the call.
func (s *Store) List(ctx context.Context, f core.SessionFilter) ([]core.SessionSummary, error) {
	s.Recorder.Add(Entry{What: List})
	return s.Sessions.List(ctx, f)
}

// Pause records the pause and, if it has a session, the save.
func (s *Store) Pause(ctx context.Context, rec *core.PausedRecord, session *core.SessionRecord) error {
	s.Recorder.Add(Entry{What: Pause, Session: rec.Session, Invocation: rec.Invocation})
	if session != nil {
		s.Recorder.Add(Entry{What: Save, Session: session.ID, Record: StoredOf(ctx, session)})
		if err := s.Faults.Of(Save); err != nil {
			return err
		}
	}
	return s.Pauses.Pause(ctx, rec, session)
}

// Paused records the call.
func (s *Store) Paused(ctx context.Context, id core.InvocationID) (*core.PausedRecord, error) {
	s.Recorder.Add(Entry{What: Paused, Invocation: id})
	return s.Pauses.Paused(ctx, id)
}

// BySignal records the call.
func (s *Store) BySignal(ctx context.Context, id core.SignalID) (*core.PausedRecord, error) {
	s.Recorder.Add(Entry{What: BySignal})
	return s.Pauses.BySignal(ctx, id)
}

// Consume records that a paused record was consumed.
func (s *Store) Consume(ctx context.Context, id core.InvocationID) (bool, error) {
	ok, err := s.Pauses.Consume(ctx, id)
	if ok {
		s.Recorder.Add(Entry{What: Consume, Invocation: id})
	}
	return ok, err
}

// Stored is a session's record as plain values.
type Stored struct {
	State    map[string]any
	Version  string
	Messages []core.Message
}

// History returns the messages; none if s is nil.
func (s *Stored) History() []core.Message {
	if s == nil {
		return nil
	}
	return s.Messages
}

// Fields returns the record's fields; none if s is nil.
func (s *Stored) Fields() map[string]any {
	if s == nil {
		return nil
	}
	return s.State
}

// StoredOf returns a record as plain values; nil for none.
func StoredOf(ctx context.Context, rec *core.SessionRecord) *Stored {
	if rec == nil {
		return nil
	}
	out := &Stored{State: fixture.PlainFields(rec.State), Version: rec.SchemaVersion}
	if rec.Messages != nil {
		var err error
		if out.Messages, err = rec.Messages.From(ctx, 0); err != nil {
			panic("reading a history: " + err.Error())
		}
		out.State[graph.Messages.Name()] = fixture.Plain(append([]core.Message{}, out.Messages...))
	}
	return out
}
