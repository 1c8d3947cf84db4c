package graph

import (
	"fmt"
	"reflect"

	"gatehouse/core"
)

// Reducer merges a node's update of a field into the field's value (graph-engine §2). It is a value: a name, which
// errors show, and a pure function. Neither argument may be changed.
type Reducer[T any] struct {
	name      string
	merge     func(prior T, update any) (T, error)
	update    reflect.Type // what an update must be; nil = anything
	configErr error        // the factory was misused; Compile reports it
}

// NewReducer makes a reducer. An error of merge becomes reducer_error, which names the field, the reducer and the node.
func NewReducer[T any](name string, merge func(prior, update T) (T, error)) Reducer[T] {
	return Reducer[T]{name: name, update: reflect.TypeFor[T](), merge: func(prior T, update any) (T, error) {
		u, ok := as[T](update)
		if !ok {
			return prior, fmt.Errorf("the update is %T, not %s", update, reflect.TypeFor[T]())
		}
		return merge(prior, u)
	}}
}

// newListReducer makes a reducer whose update is a list of items, not of the field's type. A []any of such items is one
// too.
func newListReducer[T, Item any](name string, merge func(prior T, items []Item) T) Reducer[T] {
	return Reducer[T]{name: name, update: reflect.TypeFor[[]Item](), merge: func(prior T, update any) (T, error) {
		if items, ok := update.([]Item); ok {
			return merge(prior, items), nil
		}
		list, ok := update.([]any)
		if !ok {
			return prior, fmt.Errorf("the update is %T, not %s", update, reflect.TypeFor[[]Item]())
		}
		items := make([]Item, len(list))
		for i, v := range list {
			if items[i], ok = v.(Item); !ok {
				return prior, fmt.Errorf("item %d of the update is %T, not %s", i, v, reflect.TypeFor[Item]())
			}
		}
		return merge(prior, items), nil
	}}
}

// configured is the reducer, or a configuration error if its factory was misused.
func (r Reducer[T]) configured(ok bool, needs string) Reducer[T] {
	if !ok {
		r.configErr = core.Errorf(core.ReducerConfigurationInvalid, "%s needs %s", r.name, needs)
	}
	return r
}

// Name is the spec's name of the reducer.
func (r Reducer[T]) Name() string { return r.name }

// Replace is last_write_wins, the spec's default: the update replaces.
func Replace[T any]() Reducer[T] {
	return Reducer[T]{name: "last_write_wins", update: reflect.TypeFor[T]()} // without merge: see erase
}

// Untyped makes a reducer for a field whose type is known only at run time (Typed). It never guesses: a value that is
// not of the type that the reducer works on is reducer_error.
func Untyped[T any](r Reducer[T]) Reducer[any] {
	untyped := r.erase()
	untyped.update = nil
	return untyped
}

// erase makes a reducer without its type: what a schema keeps.
func (r Reducer[T]) erase() Reducer[any] {
	return Reducer[any]{
		name: r.name, update: r.update, configErr: r.configErr, merge: func(prior, update any) (any, error) {
			if r.merge == nil { // nothing is merged: the field reports a wrong type
				return update, nil
			}
			p, ok := as[T](prior)
			if !ok {
				return nil, fmt.Errorf("the field holds %T, not %s", prior, reflect.TypeFor[T]())
			}
			return r.merge(p, update)
		},
	}
}

// as is a type assertion that lets nil be any interface.
func as[T any](v any) (T, bool) {
	t, ok := v.(T)
	if v == nil {
		ok = reflect.TypeFor[T]().Kind() == reflect.Interface
	}
	return t, ok
}
