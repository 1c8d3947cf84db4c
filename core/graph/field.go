package graph

import (
	"fmt"

	"gatehouse/core"
)

// Declared is what a schema is made of: a Key of any type, or Messages.
type Declared interface{ declared() field }

// field is a declared field without its Go type.
type field struct {
	name    string
	typ     Type
	initial any
	reducer Reducer[any]
	history bool // the field Messages
}

// Key is a declared field: the typed way to read and write it. Its name is what reducers, projections, signal payloads and stored
// records call it.
type Key[T any] struct{ f field }

// Field declares a field of Go type T; its default is T's zero value. Stored, it is T's JSON.
func Field[T any](name string, r Reducer[T]) Key[T] {
	var zero T
	return Key[T]{field{name: name, typ: goType[T](), initial: zero, reducer: r.erase()}}
}

// Typed declares a field whose type is known only at run time; its values are nil, bool, int64, float64, string, []any and
// map[string]any. Its default is the type's zero.
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

// Get reads the field. The result is the caller's own: changing it changes no state. Where the state does not declare the field,
// it is the key's default.
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

// Set is a change by name, for fields declared with Typed. A field that the schema does not declare, or a value that is not of
// its type, is state_validation_error when it is merged.
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
