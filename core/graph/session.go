package graph

import (
	"context"
	"fmt"

	"gatehouse/core"
)

// fromEntry makes the state of a first segment: defaults, overwritten by what the session holds, then what the caller
// supplied (sessions §4.1). A supplied value joins a loaded one through the field's reducer; if nothing was loaded, it
// replaces the default.
func (seg *segment) fromEntry(ctx context.Context, in Invocation) (start, error) {
	state := seg.g.schema.defaults()
	held := map[string]bool{}
	if seg.sessioned() {
		loaded, err := seg.load(ctx, state)
		if err != nil {
			return start{}, err
		}
		state = loaded
		for _, name := range seg.entry.Fields {
			held[name] = true
		}
	}
	for _, c := range in.Initial {
		f, declared := seg.g.schema.fields[c.field]
		if declared && !f.history && !held[c.field] {
			if err := f.typ.check(c.value); err != nil {
				return start{},
					&Error{
						Category: core.StateValidationError, Field: c.field, State: state,
						Err: fmt.Errorf("field %q: %w", c.field, err),
					}
			}
			state = state.with(c.field, clone(c.value))
			held[c.field] = true
			continue
		}
		merged, fail := state.merge(Update{c})
		if fail != nil {
			fail.State = state
			return start{}, fail
		}
		state = merged
	}
	if err := seg.g.schema.check(state); err != nil {
		return start{}, &Error{Category: core.StateValidationError, State: state, Err: err}
	}
	return start{state: state, node: seg.g.entry}, nil
}

// load reads the session over a state. A failure of the store that has a category of its own keeps it, and so do those
// of migrations; any other is session_load_failed.
func (seg *segment) load(ctx context.Context, state State) (State, error) {
	rec, err := seg.st.Sessions.Load(ctx, seg.ids.Session)
	if err != nil {
		return state, storeError(ctx, core.SessionLoadFailed, err, "Can't load the conversation.")
	}
	if rec == nil {
		return state, nil
	}
	values, path, err := seg.g.migrations.migrate(rec.State, rec.SchemaVersion, seg.g.schemaVersion)
	if err != nil {
		return state, err
	}
	state, held, err := state.decode(seg.g.stored, values)
	if err != nil {
		return state, core.Wrap(core.SessionLoadFailed, err, "Can't load the conversation.")
	}
	seg.entry.Fields = held
	if seg.g.history && rec.Messages != nil {
		state = state.with(messagesName, asStored(*rec.Messages))
		seg.entry.Messages = rec.Messages.Len()
		seg.entry.Fields = append(seg.entry.Fields, messagesName)
	}
	seg.entry.Found, seg.entry.Loaded, seg.entry.Migrations = true, state, path
	return state, nil
}

// asStored marks all messages of a loaded history as stored, so that a save does not write them again.
func asStored(h core.History) core.History {
	if len(h.Added()) == 0 {
		return h
	}
	return core.NewHistory(h.Len(), h.Page).WithEpoch(h.Epoch())
}

// sessionRecord is the session to save: the stored fields under the graph's own schema version. It is nil if the
// invocation is not bound to a session.
func (seg *segment) sessionRecord(state State) (*core.SessionRecord, error) {
	if !seg.sessioned() {
		return nil, nil
	}
	values, err := state.encode(seg.g.stored, true)
	if err != nil {
		return nil, err
	}
	rec := &core.SessionRecord{
		ID: seg.ids.Session, SchemaVersion: seg.g.schemaVersion, State: values,
		Writer: core.Writer{Invocation: seg.ids.Invocation, From: seg.firstRow},
	}
	if seg.g.history {
		h := Messages.Get(state)
		rec.Messages = &h
	}
	return rec, nil
}

func (seg *segment) save(ctx context.Context, state State, opts core.SaveOptions) error {
	rec, err := seg.sessionRecord(state)
	if err == nil {
		err = seg.st.Sessions.Save(ctx, rec, opts)
	}
	if err != nil {
		return storeError(ctx, core.SessionSaveFailed, err, "Can't save the conversation.")
	}
	return nil
}

// storeError gives a store's failure a category, unless it has a more specific one or failed because the invocation was
// stopped: then the category is that of the stop's cause.
func storeError(ctx context.Context, c core.Category, err error, message string) error {
	if ctx.Err() != nil {
		return fmt.Errorf("%w: %w", context.Cause(ctx), err)
	}
	if own := core.CategoryOf(err); own != core.Internal {
		return err
	}
	return core.Wrap(c, err, "%s", message)
}
