package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"gatehouse/core"
)

// Resumable returns nil if this graph can resume a paused invocation. The graph's name must be the same. If its version
// or its schema version differs, a chain of migrations must lead from the record's schema version to this graph's: a
// new version means that paused turns do not fit unless a migration makes them fit. The error is
// suspension_record_invalid with a sentence.
func (g *Graph) Resumable(rec *core.PausedRecord) error {
	switch {
	case rec.Type != recordType || len(rec.Frames) == 0:
		return core.Errorf(core.SuspensionRecordInvalid, "This is not the record of a paused turn.")
	case rec.Graph != g.name:
		return core.Wrap(core.SuspensionRecordInvalid,
			fmt.Errorf("it was paused by %q, which is not %q", rec.Graph, g.name), changedSince)
	case !g.hasNodes(rec.Frames):
		return core.Errorf(core.SuspensionRecordInvalid, "This turn was paused at a step that %q no longer has.",
			g.name)
	}
	err := g.checkVersion(rec.GraphVersion, rec.SchemaVersion)
	for sub, i := g.subgraphAt(rec.Frames[0]), 1; err == nil && i < len(rec.Frames); i++ {
		f := rec.Frames[i]
		err = sub.checkVersion(f.GraphVersion, f.SchemaVersion)
		sub = sub.subgraphAt(f)
	}
	if err != nil {
		return core.Wrap(core.SuspensionRecordInvalid,
			fmt.Errorf("it was paused by version %q of %q, which is now %q: %w", rec.GraphVersion, g.name, g.version,
				err), changedSince)
	}
	return nil
}

const changedSince = "The agent was changed while this waited, so it can't go on."

// checkVersion returns nil if this graph can use a state of the given versions.
func (g *Graph) checkVersion(version, schema string) error {
	if version == g.version && schema == g.schemaVersion {
		return nil
	}
	if schema == g.schemaVersion {
		return fmt.Errorf("no migration leads from version %q to %q", version, g.version)
	}
	_, err := g.migrations.path(schema, g.schemaVersion)
	return err
}

// hasNodes reports whether the nodes of all frames exist, all but the last as subgraphs.
func (g *Graph) hasNodes(frames []core.Frame) bool {
	for i, f := range frames {
		if i > 0 && f.Graph != g.name || g.nodes[f.Node] == nil {
			return false
		}
		if i == len(frames)-1 {
			return true
		}
		if g = g.subgraphAt(f); g == nil {
			return false
		}
	}
	return false
}

// subgraphAt returns the subgraph at a frame's node, or nil.
func (g *Graph) subgraphAt(f core.Frame) *Graph {
	if n := g.nodes[f.Node]; n.kind == SpanSubgraph {
		return n.graphs[0]
	}
	return nil
}

// fromPause starts where a paused invocation stopped (suspension §7). In this order: it finds the record; checks that
// this graph can resume it; decodes its state (with the session's current messages) and those of the subgraphs inside;
// overlays the payload on each; validates; and only then consumes the record. So the record stays resumable after a
// payload that does not fit.
func (seg *segment) fromPause(ctx context.Context, in Invocation) (start, error) {
	seg.ids.Invocation = in.Resume
	rec, err := seg.st.Pauses.Paused(ctx, in.Resume)
	if err != nil {
		return start{}, storeError(ctx, core.SessionLoadFailed, err, "Can't load the paused turn.")
	}
	if rec == nil {
		return start{}, notPaused()
	}
	seg.ids = IDs{Invocation: rec.Invocation, Correlation: rec.Correlation, Session: rec.Session}
	if err := seg.g.Resumable(rec); err != nil {
		return start{}, err
	}
	at, err := seg.resumePoints(ctx, rec, in.Payload)
	if err != nil {
		return start{}, err
	}
	consumed, err := seg.st.Pauses.Consume(ctx, rec.Invocation)
	if err != nil {
		return start{}, storeError(ctx, core.SessionSaveFailed, err, "Can't resume the paused turn.")
	}
	if !consumed {
		return start{}, notPaused()
	}
	seg.entry.Resumed = true
	seg.step, seg.firstRow, seg.pausedTrace = rec.Step, rec.Messages, rec.Trace
	return *at, nil
}

// resumePoints returns where each graph resumes, outermost first: inside the node of the next one; the innermost at or
// after its node.
func (seg *segment) resumePoints(
	ctx context.Context, rec *core.PausedRecord, payload map[string]json.RawMessage,
) (*start, error) {
	var outermost, last *start
	g := seg.g
	for i, f := range rec.Frames {
		at := &start{node: f.Node, completed: f.Completed, attempt: f.Attempt}
		var err error
		if i == 0 {
			at.state, err = seg.pausedState(ctx, rec)
		} else {
			at.state, _, err = g.decodeState(f.State, f.SchemaVersion)
		}
		if err == nil {
			at.state, err = seg.overlay(g, at.state, payload)
		}
		if err != nil {
			return nil, err
		}
		if i == 0 {
			outermost = at
		} else {
			last.subgraph = at
		}
		last, g = at, g.subgraphAt(f)
	}
	last.afterNode = rec.MarkCompleted
	return outermost, nil
}

func notPaused() error {
	return core.Errorf(core.SuspensionRecordInvalid, "This turn is not paused.")
}

// pausedState is the paused state of the outermost graph. Its messages are the session's current ones: those that
// arrived during the pause are neither lost nor doubled.
func (seg *segment) pausedState(ctx context.Context, rec *core.PausedRecord) (State, error) {
	values := rec.Frames[0].State
	state, path, err := seg.g.decodeState(values, rec.SchemaVersion)
	if err != nil {
		return State{}, err
	}
	seg.entry.Migrations = path
	if _, inFrame := values[messagesName]; inFrame || !seg.sessioned() || !seg.g.history {
		return state, nil
	}
	session, err := seg.st.Sessions.Load(ctx, rec.Session)
	if err != nil {
		return State{}, storeError(ctx, core.SessionLoadFailed, err, "Can't load the conversation.")
	}
	if session != nil && session.Messages != nil {
		state = state.with(messagesName, asStored(*session.Messages))
		seg.entry.Found, seg.entry.Messages = true, session.Messages.Len()
	}
	return state, nil
}

// decodeState migrates and decodes the fields of a paused state.
func (g *Graph) decodeState(values map[string]json.RawMessage, version string) (State, [][2]string, error) {
	values, path, err := g.migrations.migrate(values, version, g.schemaVersion)
	if err != nil {
		return State{}, nil, err
	}
	state, _, err := g.schema.defaults().decode(g.schema.order, values)
	if err != nil {
		return State{}, nil, core.Wrap(core.SuspensionRecordInvalid, err, "Can't read the paused turn.")
	}
	return state, path, nil
}

// overlay applies the payload to the state. It replaces declared fields, without their reducers, and drops other
// fields. Each paused graph takes the fields that it declares. A payload can't replace the messages of a session.
func (seg *segment) overlay(g *Graph, state State, payload map[string]json.RawMessage) (State, error) {
	for _, name := range g.schema.order {
		raw, ok := payload[name]
		if !ok {
			continue
		}
		f := g.schema.fields[name]
		if f.history && g == seg.g && g.history && seg.sessioned() {
			return State{}, payloadInvalid(name, errors.New("a conversation's messages can't be replaced"))
		}
		v, err := f.typ.decode(raw)
		if err != nil {
			return State{}, payloadInvalid(name, err)
		}
		state = state.with(name, v)
	}
	if err := g.schema.check(state); err != nil {
		return State{},
			core.Wrap(core.SuspensionPayloadInvalid, err, "The signal does not fit the paused turn: %v.", err)
	}
	return state, nil
}

func payloadInvalid(field string, err error) error {
	return core.Wrap(core.SuspensionPayloadInvalid, err, "The signal does not fit the paused turn: field %q: %v.",
		field, err)
}
