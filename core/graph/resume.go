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
		return core.Errorf(core.SuspensionRecordInvalid, "This turn was paused by %q and can't be resumed by %q.", rec.Graph, g.name)
	case !g.fits(rec.Frames):
		return core.Errorf(core.SuspensionRecordInvalid, "This turn was paused at a step that %q no longer has.", g.name)
	}
	err := g.takes(rec.GraphVersion, rec.SchemaVersion)
	for sub, i := g.inside(rec.Frames[0]), 1; err == nil && i < len(rec.Frames); i++ {
		f := rec.Frames[i]
		err = sub.takes(f.GraphVersion, f.SchemaVersion)
		sub = sub.inside(f)
	}
	if err != nil {
		return core.Wrap(core.SuspensionRecordInvalid, err, "This turn was paused by version %q of %q and can't be resumed by version %q.",
			rec.GraphVersion, g.name, g.version)
	}
	return nil
}

// takes reports whether this graph takes up a state of one of its versions.
func (g *Graph) takes(version, schema string) error {
	if version == g.version && schema == g.schemaVersion {
		return nil
	}
	if schema == g.schemaVersion {
		return fmt.Errorf("no migration leads from version %q to %q", version, g.version)
	}
	_, err := g.registry.path(schema, g.schemaVersion)
	return err
}

// fits reports whether the frames name nodes that are there, each but the last a subgraph of the graph that paused in it.
func (g *Graph) fits(frames []core.Frame) bool {
	for i, f := range frames {
		if i > 0 && f.Graph != g.name || g.nodes[f.Node].body == nil {
			return false
		}
		if i == len(frames)-1 {
			return true
		}
		if g = g.inside(f); g == nil {
			return false
		}
	}
	return false
}

// inside is the subgraph that a frame's node is, nil where it is none.
func (g *Graph) inside(f core.Frame) *Graph {
	if s, ok := g.nodes[f.Node].body.(*subgraph); ok {
		return s.g
	}
	return nil
}

// resume takes a paused invocation up (suspension §7). The order: find the record; see that this graph can go on from it; its
// state, with the messages of the session as they are now, and those of the subgraphs that it paused in; the payload over each of
// them; validate; and only then consume the record, so that a payload that does not fit leaves it resumable.
func (l *leg) resume(ctx context.Context, in Invocation) (start, error) {
	l.ids.Invocation = in.Resume
	rec, err := l.st.Pauses.Paused(ctx, in.Resume)
	if err != nil {
		return start{}, storeError(ctx, core.SessionLoadFailed, err, "Can't load the paused turn.")
	}
	if rec == nil {
		return start{}, notPaused()
	}
	l.ids = IDs{Invocation: rec.Invocation, Correlation: rec.Correlation, Session: rec.Session}
	if err := l.g.Resumable(rec); err != nil {
		return start{}, err
	}
	at, err := l.restart(ctx, rec, in.Payload)
	if err != nil {
		return start{}, err
	}
	ours, err := l.st.Pauses.Consume(ctx, rec.Invocation)
	if err != nil {
		return start{}, storeError(ctx, core.SessionSaveFailed, err, "Can't resume the paused turn.")
	}
	if !ours {
		return start{}, notPaused()
	}
	l.entry.Resumed = true
	l.step, l.from, l.trace = rec.Step, rec.Messages, rec.Trace
	return *at, nil
}

// restart is where each level goes on: inside the node of the next level, the innermost at its node or behind it.
func (l *leg) restart(ctx context.Context, rec *core.PausedRecord, payload map[string]json.RawMessage) (*start, error) {
	var outer, last *start
	g := l.g
	for i, f := range rec.Frames {
		at := &start{node: f.Node, done: f.Completed, attempt: f.Attempt}
		var err error
		if i == 0 {
			at.state, err = l.thaw(ctx, rec)
		} else {
			at.state, _, err = g.thaw(f.State, f.SchemaVersion)
		}
		if err == nil {
			at.state, err = l.overlay(g, at.state, payload)
		}
		if err != nil {
			return nil, err
		}
		if i == 0 {
			outer = at
		} else {
			last.inner = at
		}
		last, g = at, g.inside(f)
	}
	last.after = rec.MarkCompleted
	return outer, nil
}

func notPaused() error {
	return core.Errorf(core.SuspensionRecordInvalid, "This turn is not paused.")
}

// thaw is the outermost paused state. The history is not in it but rebased: the session's messages of now, so that what was said
// meanwhile is neither lost nor doubled.
func (l *leg) thaw(ctx context.Context, rec *core.PausedRecord) (State, error) {
	values := rec.Frames[0].State
	state, path, err := l.g.thaw(values, rec.SchemaVersion)
	if err != nil {
		return State{}, err
	}
	l.entry.Migrations = path
	if _, inFrame := values[messagesName]; inFrame || !l.sessioned() || !l.g.history {
		return state, nil
	}
	session, err := l.st.Sessions.Load(ctx, rec.Session)
	if err != nil {
		return State{}, storeError(ctx, core.SessionLoadFailed, err, "Can't load the conversation.")
	}
	if session != nil && session.Messages != nil {
		state = state.with(messagesName, settle(*session.Messages))
		l.entry.Found, l.entry.Messages = true, session.Messages.Len()
	}
	return state, nil
}

// thaw reads the fields of a paused state, migrated.
func (g *Graph) thaw(values map[string]json.RawMessage, version string) (State, [][2]string, error) {
	values, path, err := g.registry.migrate(values, version, g.schemaVersion)
	if err != nil {
		return State{}, nil, err
	}
	state := g.schema.defaults()
	for _, name := range g.schema.order {
		raw, ok := values[name]
		if !ok {
			continue
		}
		v, err := g.schema.fields[name].typ.decode(raw)
		if err != nil {
			return State{}, nil, core.Wrap(core.SuspensionRecordInvalid, fmt.Errorf("field %q: %w", name, err), "Can't read the paused turn.")
		}
		state = state.with(name, v)
	}
	return state, path, nil
}

// overlay puts the payload over the state: a declared field is replaced, no reducer is asked; what is not declared is dropped.
// Each graph that the pause is in takes the fields that it declares. A session's messages can't be replaced: they are its history.
func (l *leg) overlay(g *Graph, state State, payload map[string]json.RawMessage) (State, error) {
	for _, name := range g.schema.order {
		raw, ok := payload[name]
		if !ok {
			continue
		}
		f := g.schema.fields[name]
		if f.history && g == l.g && g.history && l.sessioned() {
			return State{}, payloadInvalid(name, errors.New("a conversation's messages can't be replaced"))
		}
		v, err := f.typ.decode(raw)
		if err != nil {
			return State{}, payloadInvalid(name, err)
		}
		state = state.with(name, v)
	}
	if err := g.schema.check(state); err != nil {
		return State{}, core.Wrap(core.SuspensionPayloadInvalid, err, "The signal does not fit the paused turn: %v.", err)
	}
	return state, nil
}

func payloadInvalid(field string, err error) error {
	return core.Wrap(core.SuspensionPayloadInvalid, err, "The signal does not fit the paused turn: field %q: %v.", field, err)
}
