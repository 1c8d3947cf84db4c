package graph

import (
	"fmt"
	"reflect"
	"slices"
)

// Reducer says how a node's update of a field joins what the field held before (graph-engine §2). It is a value: a name, which
// errors show, and a pure function. Neither argument may be changed.
type Reducer[T any] struct {
	name      string
	merge     func(prior, update T) (T, error)
	any       func(prior T, update any) (T, error) // instead of merge, where an update is of another type than the field
	update    reflect.Type                         // that type
	configErr error                                // the factory was misused; Compile says so
}

// NewReducer makes a reducer. An error of merge becomes reducer_error, which names the field, the reducer and the node.
func NewReducer[T any](name string, merge func(prior, update T) (T, error)) Reducer[T] {
	return Reducer[T]{name: name, merge: merge}
}

// Name is the spec's name of the reducer.
func (r Reducer[T]) Name() string { return r.name }

// Replace is last_write_wins, the spec's default: the update replaces.
func Replace[T any]() Reducer[T] {
	return NewReducer(lastWriteWins, func(_, update T) (T, error) { return update, nil })
}

const lastWriteWins = "last_write_wins"

// Append is append: the update's items come after the prior ones, in a new list.
func Append[T any]() Reducer[[]T] {
	return NewReducer("append", func(prior, update []T) ([]T, error) { return slices.Concat(prior, update), nil })
}

// reducer is a Reducer without its type: what a schema keeps.
type reducer struct {
	name      string
	merge     func(prior, update any) (any, error)
	update    reflect.Type // what an update must be; nil = anything
	configErr error
}

func (r Reducer[T]) erase() reducer {
	out := reducer{name: r.name, update: r.update, configErr: r.configErr}
	if out.update == nil {
		out.update = reflect.TypeFor[T]()
	}
	out.merge = func(prior, update any) (any, error) {
		p, _ := as[T](prior)
		if r.any != nil {
			return r.any(p, update)
		}
		u, ok := as[T](update)
		if !ok && r.name == lastWriteWins {
			return update, nil // nothing is merged: that the type is wrong is for the field to say
		}
		if !ok {
			return nil, fmt.Errorf("the update is %T, not %s", update, reflect.TypeFor[T]())
		}
		return r.merge(p, u)
	}
	return out
}

// as is a type assertion that lets nil be any interface.
func as[T any](v any) (T, bool) {
	t, ok := v.(T)
	if v == nil {
		ok = reflect.TypeFor[T]().Kind() == reflect.Interface
	}
	return t, ok
}
