package graph

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"gatehouse/core"
)

// State is the fields' values at one moment of an invocation. It never changes: a merge gives another one, keys hand
// out copies. The zero State has no fields.
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

// Encode writes every field as JSON. Messages are read whole, so it is for tests, exports and outcomes that show a
// state.
func (s State) Encode() (map[string]json.RawMessage, error) {
	return s.encode(s.Fields(), false)
}

// encode writes the named fields; the history may be left out.
func (s State) encode(names []string, withoutHistory bool) (map[string]json.RawMessage, error) {
	if withoutHistory {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return s.schema.fields[name].history })
	}
	return encodeFields(names, s.values)
}

func encodeFields(names []string, values map[string]any) (map[string]json.RawMessage, error) {
	out := make(map[string]json.RawMessage, len(names))
	for _, name := range names {
		raw, err := json.Marshal(values[name])
		if err != nil {
			return nil, fmt.Errorf("encoding field %q: %w", name, err)
		}
		out[name] = raw
	}
	return out, nil
}

// decode gives the state with those of the named fields that are stored. held are their names.
func (s State) decode(names []string, stored map[string]json.RawMessage) (decoded State, held []string, err error) {
	decoded = s
	for _, name := range names {
		raw, ok := stored[name]
		if !ok {
			continue
		}
		v, err := s.schema.fields[name].typ.decode(raw)
		if err != nil {
			return s, nil, fmt.Errorf("field %q: %w", name, err)
		}
		decoded, held = decoded.with(name, v), append(held, name)
	}
	return decoded, held, nil
}

// with gives the state with one field changed, unchecked.
func (s State) with(name string, v any) State {
	values := maps.Clone(s.values)
	values[name] = v
	return State{schema: s.schema, values: values}
}

// merge applies an update through the reducers and checks each field that changed. The error is an *Error without node
// and state.
func (s State) merge(u Update) (State, *Error) {
	if len(u) == 0 {
		return s, nil
	}
	values := maps.Clone(s.values)
	for _, c := range u {
		f, ok := s.schema.fields[c.field]
		if !ok {
			return s,
				&Error{
					Category: core.StateValidationError, Field: c.field,
					Err: fmt.Errorf("field %q is not declared", c.field),
				}
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
		return nil,
			&Error{Category: core.StateValidationError, Field: f.name, Err: fmt.Errorf("field %q: %w", f.name, err)}
	}
	return v, nil
}

// Declared is a field of a schema: a Key of any type, or Messages.
type Declared interface{ declared() field }

// field is a declared field without its Go type.
type field struct {
	name    string
	typ     Type
	initial any
	reducer Reducer[any]
	history bool // the field Messages
}

// Key is a declared field: the typed way to read and write it. Reducers, projections, signal payloads and stored
// records refer to it by its name.
type Key[T any] struct{ f field }

// Field declares a field of Go type T; its default is T's zero value. Stored, it is T's JSON.
func Field[T any](name string, r Reducer[T]) Key[T] {
	var zero T
	return Key[T]{field{name: name, typ: goType[T](), initial: zero, reducer: r.erase()}}
}

// Typed declares a field whose type is known only at run time; its values are nil, bool, int64, float64, string, []any
// and map[string]any. Its default is the type's zero.
func Typed(name string, t Type, r Reducer[any]) Key[any] {
	return Key[any]{field{name: name, typ: t, initial: t.zero(), reducer: r.erase()}}
}

// Default gives the key with another default. Each invocation has a copy of its own (graph-engine §2).
func (k Key[T]) Default(v T) Key[T] {
	k.f.initial = clone(v)
	return k
}

// Name is the field's name.
func (k Key[T]) Name() string { return k.f.name }

// Get reads the field. The result is the caller's own: changing it changes no state. Where the state does not declare
// the field, it is the key's default.
func (k Key[T]) Get(s State) T {
	v, ok := s.values[k.f.name]
	if !ok {
		v = k.f.initial
	}
	t, _ := as[T](clone(v))
	return t
}

// Set is a partial update of the field, merged by its reducer.
func (k Key[T]) Set(v T) Change { return Change{field: k.f.name, value: clone(v)} }

func (k Key[T]) declared() field { return k.f }

// Change is a partial update of one field.
type Change struct {
	field string
	value any
}

// Set is a change by name, for fields declared with Typed. A field that the schema does not declare, or a value that is
// not of its type, is state_validation_error when it is merged.
func Set(name string, v any) Change { return Change{field: name, value: clone(v)} }

// Field is the name of the field that changes.
func (c Change) Field() string { return c.field }

// Messages is how many messages a change of the field Messages adds; 0 for others.
func (c Change) Messages() int {
	m, _ := c.value.([]core.Message)
	return len(m)
}

// Update is what a node returns: its changes, merged in order.
type Update []Change

// schema is a graph's fields in the order they were declared.
type schema struct {
	fields map[string]field
	order  []string
}

func (s *schema) defaults() State {
	values := make(map[string]any, len(s.order))
	for name, f := range s.fields {
		values[name] = clone(f.initial)
	}
	return State{schema: s, values: values}
}

// check validates the whole state (graph-engine §2: at entry and at exit).
func (s *schema) check(st State) error {
	for _, name := range s.order {
		if err := s.fields[name].typ.check(st.values[name]); err != nil {
			return fmt.Errorf("field %q: %w", name, err)
		}
	}
	return nil
}
