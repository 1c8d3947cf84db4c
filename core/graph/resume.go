package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gatehouse/core"
)

// Resumable reports whether this graph can go on from a paused invocation, nil if so. It must be of this graph's name. Where it is
// of another version, or its state of another schema version, a chain of migrations must lead from its schema version to ours: a
// new version is the author's word that paused turns do not fit any more unless a migration makes them fit. The error is
// suspension_record_invalid with a sentence.
func (g *Graph) Resumable(rec *core.PausedRecord) error {
	switch {
	case rec.Type != pausedType || len(rec.Frames) == 0:
		return core.Errorf(core.SuspensionRecordInvalid, "This is not the record of a paused turn.")
	case rec.Graph != g.name:
		return core.Errorf(core.SuspensionRecordInvalid, "This turn was paused by %q and can't be continued by %q.", rec.Graph, g.name)
	case len(rec.Frames) > 1 || g.nodes[rec.Frames[0].Node] == nil:
		return core.Errorf(core.SuspensionRecordInvalid, "This turn was paused at a step that %q does not have any more.", g.name)
	case rec.GraphVersion == g.version && rec.SchemaVersion == g.schemaVersion:
		return nil
	}
	if rec.SchemaVersion != g.schemaVersion {
		_, err := g.registry.path(rec.SchemaVersion, g.schemaVersion)
		if err == nil {
			return nil
		}
		return core.Wrap(core.SuspensionRecordInvalid, err, "%s", tooOld(rec, g))
	}
	return core.Errorf(core.SuspensionRecordInvalid, "%s", tooOld(rec, g))
}

func tooOld(rec *core.PausedRecord, g *Graph) string {
	return fmt.Sprintf("This turn was paused by version %q of %q and can't be continued by version %q.", rec.GraphVersion, g.name, g.version)
}

// resume takes a paused invocation up (suspension §7). The order: find the record; see that this graph can go on from it; its
// state, with the messages of the session as they are now; the payload over it; validate; and only then consume the record, so
// that a payload that does not fit leaves it resumable.
func (l *leg) resume(ctx context.Context, in Invocation) (start, error) {
	l.ids.Invocation = in.Resume
	rec, err := l.st.Pauses.Paused(ctx, in.Resume)
	if err != nil {
		return start{}, storeError(ctx, core.SessionLoadFailed, err, "The paused turn could not be loaded.")
	}
	if rec == nil {
		return start{}, notPaused()
	}
	l.ids = IDs{Invocation: rec.Invocation, Correlation: rec.Correlation, Session: rec.Session}
	if err := l.g.Resumable(rec); err != nil {
		return start{}, err
	}
	state, err := l.thaw(ctx, rec)
	if err != nil {
		return start{}, err
	}
	if state, err = l.overlay(state, in.Payload); err != nil {
		return start{}, err
	}
	ours, err := l.st.Pauses.Consume(ctx, rec.Invocation)
	if err != nil {
		return start{}, storeError(ctx, core.SessionSaveFailed, err, "The paused turn could not be taken up.")
	}
	if !ours {
		return start{}, notPaused()
	}
	l.entry.Resumed = true
	l.step, l.from, l.completed = rec.Step, rec.Messages, rec.Frames[0].Completed
	return start{state: state, node: rec.Frames[0].Node, after: rec.MarkCompleted}, nil
}

func notPaused() error {
	return core.Errorf(core.SuspensionRecordInvalid, "This turn does not wait any more, or never did.")
}

// thaw is the paused state, migrated. The history is not in it but rebased: the session's messages of now, so that what was said
// meanwhile is neither lost nor doubled.
func (l *leg) thaw(ctx context.Context, rec *core.PausedRecord) (State, error) {
	values, path, err := l.g.registry.migrate(rec.Frames[0].State, rec.SchemaVersion, l.g.schemaVersion)
	if err != nil {
		return State{}, err
	}
	l.entry.Migrations = path
	state := l.g.schema.defaults()
	for _, name := range l.g.schema.order {
		raw, ok := values[name]
		if !ok {
			continue
		}
		v, err := l.g.schema.fields[name].typ.decode(raw)
		if err != nil {
			return State{}, core.Wrap(core.SuspensionRecordInvalid, fmt.Errorf("field %q: %w", name, err), "The paused turn can't be read.")
		}
		state = state.with(name, v)
	}
	if _, inFrame := values[messagesName]; inFrame || !l.sessioned() || !l.g.history {
		return state, nil
	}
	session, err := l.st.Sessions.Load(ctx, rec.Session)
	if err != nil {
		return State{}, storeError(ctx, core.SessionLoadFailed, err, "The conversation could not be loaded.")
	}
	if session != nil && session.Messages != nil {
		state = state.with(messagesName, settle(*session.Messages))
		l.entry.Found, l.entry.Messages = true, session.Messages.Len()
	}
	return state, nil
}

// overlay puts the payload over the state: a declared field is replaced, no reducer is asked; what is not declared is dropped.
// A session's messages can't be replaced: they are its history.
func (l *leg) overlay(state State, payload map[string]json.RawMessage) (State, error) {
	for _, name := range l.g.schema.order {
		raw, ok := payload[name]
		if !ok {
			continue
		}
		f := l.g.schema.fields[name]
		if f.history && l.g.history && l.sessioned() {
			return State{}, payloadInvalid(name, errors.New("a conversation's messages can't be replaced"))
		}
		v, err := f.typ.decode(raw)
		if err != nil {
			return State{}, payloadInvalid(name, err)
		}
		state = state.with(name, v)
	}
	if err := l.g.schema.check(state); err != nil {
		return State{}, core.Wrap(core.SuspensionPayloadInvalid, err, "The signal does not fit the paused turn: %v.", err)
	}
	return state, nil
}

func payloadInvalid(field string, err error) error {
	return core.Wrap(core.SuspensionPayloadInvalid, err, "The signal does not fit the paused turn: field %q: %v.", field, err)
}
