package graph

import (
	"fmt"
	"reflect"
	"slices"
)

// Reducer says how a node's update of a field joins what the field held before (graph-engine §2). It is a value: a name, which
// errors show, and a pure function. Neither argument may be changed.
type Reducer[T any] struct {
	name  string
	merge func(prior, update T) (T, error)
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

// Append is append: the update's items stand after the prior ones, in a list of their own.
func Append[T any]() Reducer[[]T] {
	return NewReducer("append", func(prior, update []T) ([]T, error) { return slices.Concat(prior, update), nil })
}

// AppendAny is append for fields whose type is told at run time (Typed); an update that is no list is refused.
func AppendAny() Reducer[any] {
	return NewReducer("append", func(prior, update any) (any, error) {
		items, ok := update.([]any)
		if !ok {
			return nil, fmt.Errorf("the update must be a list, not %s", kindOf(update))
		}
		before, ok := prior.([]any)
		if !ok {
			return nil, fmt.Errorf("the field must hold a list, not %s", kindOf(prior))
		}
		return append(append(make([]any, 0, len(before)+len(items)), before...), items...), nil
	})
}

// reducer is a Reducer without its type: what a schema keeps.
type reducer struct {
	name  string
	merge func(prior, update any) (any, error)
}

func (r Reducer[T]) erase() reducer {
	return reducer{r.name, func(prior, update any) (any, error) {
		u, ok := as[T](update)
		if !ok && r.name == lastWriteWins {
			return update, nil // nothing is merged: that the type is wrong is for the field to say
		}
		if !ok {
			return nil, fmt.Errorf("the update is %T, not %s", update, reflect.TypeFor[T]())
		}
		p, _ := as[T](prior)
		return r.merge(p, u)
	}}
}

// as is a type assertion that lets nil be any interface.
func as[T any](v any) (T, bool) {
	t, ok := v.(T)
	if v == nil {
		ok = reflect.TypeFor[T]().Kind() == reflect.Interface
	}
	return t, ok
}
