package graph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"gatehouse/core"
)

// State is the fields' values at one moment of an invocation. It never changes: a merge gives another one, keys hand out copies.
// The zero State has no fields.
type State struct {
	schema *schema
	values map[string]any
}

// IsZero reports whether there is no state: as the Post of an event that failed.
func (s State) IsZero() bool { return s.schema == nil }

// Fields are the names of the declared fields in their order.
func (s State) Fields() []string {
	if s.schema == nil {
		return nil
	}
	return slices.Clone(s.schema.order)
}

// Value reads a field by name. It is a copy.
func (s State) Value(name string) (v any, ok bool) {
	v, ok = s.values[name]
	return clone(v), ok
}

// Encode writes every field as JSON. Messages are read whole, so it is for tests, exports and outcomes that show a state.
func (s State) Encode() (map[string]json.RawMessage, error) {
	return s.encode(s.Fields(), false)
}

// encode writes the named fields; the history may be left out.
func (s State) encode(names []string, withoutHistory bool) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage, len(names))
	for _, name := range names {
		if s.schema.fields[name].history && withoutHistory {
			continue
		}
		raw, err := json.Marshal(s.values[name])
		if err != nil {
			return nil, fmt.Errorf("encoding field %q: %w", name, err)
		}
		out[name] = raw
	}
	return out, nil
}

// with gives the state with one field changed, unchecked.
func (s State) with(name string, v any) State {
	values := maps.Clone(s.values)
	values[name] = v
	return State{schema: s.schema, values: values}
}

// merge applies an update through the reducers and checks each field that changed. The error is an *Error without node and state.
func (s State) merge(u Update) (State, *Error) {
	if len(u) == 0 {
		return s, nil
	}
	values := maps.Clone(s.values)
	for _, c := range u {
		f, ok := s.schema.fields[c.field]
		if !ok {
			return s, &Error{Category: core.StateValidationError, Field: c.field, Err: fmt.Errorf("field %q is not declared", c.field)}
		}
		v, err := f.reduce(values[c.field], c.value)
		if err != nil {
			return s, err
		}
		values[c.field] = v
	}
	return State{schema: s.schema, values: values}, nil
}

// reduce joins a value with an update of it. A reducer that panics has failed, no more.
func (f field) reduce(prior, update any) (v any, fail *Error) {
	defer func() {
		if p := recover(); p != nil {
			fail = &Error{Category: core.ReducerError, Field: f.name, Reducer: f.reducer.name, Err: newPanic(p)}
		}
	}()
	v, err := f.reducer.merge(prior, clone(update))
	if err != nil {
		return nil, &Error{Category: core.ReducerError, Field: f.name, Reducer: f.reducer.name, Err: err}
	}
	if err := f.typ.check(v); err != nil {
		return nil, &Error{Category: core.StateValidationError, Field: f.name, Err: fmt.Errorf("field %q: %w", f.name, err)}
	}
	return v, nil
}
