package graph

import (
	"fmt"
	"reflect"
	"slices"

	"gatehouse/core"
)

// ConcatFlatten is concat_flatten: an update is a list of lists, whose items all come after the prior ones. An update is made with
// Set(name, [][]T{…}), as it is not of the field's type.
func ConcatFlatten[T any]() Reducer[[]T] {
	return Reducer[[]T]{name: "concat_flatten", update: reflect.TypeFor[[][]T](), any: func(prior []T, update any) ([]T, error) {
		lists, ok := update.([][]T)
		if !ok {
			return nil, fmt.Errorf("the update is %T, not %s", update, reflect.TypeFor[[][]T]())
		}
		return concatFlatten(prior, lists), nil
	}}
}

func concatFlatten[T any](prior []T, lists [][]T) []T {
	if len(lists) == 0 {
		return prior
	}
	out := append(make([]T, 0, len(prior)), prior...)
	for _, l := range lists {
		out = append(out, l...)
	}
	return out
}

// BoundedAppend is bounded_append: append, then the oldest items go until at most maxLen are left. An empty update leaves the prior
// list as it is, however long. A maxLen below 1 is reducer_configuration_invalid.
func BoundedAppend[T any](maxLen int) Reducer[[]T] {
	r := NewReducer("bounded_append", func(prior, update []T) ([]T, error) { return boundedAppend(prior, update, maxLen), nil })
	r.configErr = checkBound(maxLen)
	return r
}

func checkBound(maxLen int) error {
	if maxLen < 1 {
		return core.Errorf(core.ReducerConfigurationInvalid, "bounded_append needs a max_len of at least 1, not %d", maxLen)
	}
	return nil
}

func boundedAppend[T any](prior, update []T, maxLen int) []T {
	if len(update) == 0 {
		return prior
	}
	all := slices.Concat(prior, update)
	return slices.Clone(all[max(0, len(all)-maxLen):])
}

// DedupeAppend is dedupe_append: append, without those items that are equal to one in the prior list or before them in the update.
// What the prior list holds twice stays.
func DedupeAppend[T any]() Reducer[[]T] {
	return NewReducer("dedupe_append", func(prior, update []T) ([]T, error) {
		return dedupeAppend(prior, update, func(v T) (any, error) { return v, nil })
	})
}

// DedupeAppendBy is DedupeAppend where equal means: with the same key. No key is reducer_configuration_invalid; a key that fails is
// reducer_error.
func DedupeAppendBy[T any](key func(T) (any, error)) Reducer[[]T] {
	r := NewReducer("dedupe_append", func(prior, update []T) ([]T, error) { return dedupeAppend(prior, update, key) })
	r.configErr = checkKey("dedupe_append", key == nil)
	return r
}

func dedupeAppend[T any](prior, update []T, key func(T) (any, error)) ([]T, error) {
	if len(update) == 0 {
		return prior, nil
	}
	var seen index
	for i, v := range prior {
		k, err := key(v)
		if err != nil {
			return nil, fmt.Errorf("item %d of the field: %w", i, err)
		}
		seen.put(k, i)
	}
	out := slices.Clone(prior)
	for i, v := range update {
		k, err := key(v)
		if err != nil {
			return nil, fmt.Errorf("item %d of the update: %w", i, err)
		}
		if _, known := seen.get(k); !known {
			seen.put(k, len(out))
			out = append(out, v)
		}
	}
	return out, nil
}

// MergeByKey is merge_by_key: a record of the update takes the place of the one with its key, the last where the prior list holds
// several; one with a new key is appended. No key is reducer_configuration_invalid; a key that fails is reducer_error.
func MergeByKey[T any](key func(T) (any, error)) Reducer[[]T] {
	r := NewReducer("merge_by_key", func(prior, update []T) ([]T, error) { return mergeByKey(prior, update, key) })
	r.configErr = checkKey("merge_by_key", key == nil)
	return r
}

func checkKey(reducer string, missing bool) error {
	if missing {
		return core.Errorf(core.ReducerConfigurationInvalid, "%s needs a key", reducer)
	}
	return nil
}

func mergeByKey[T any](prior, update []T, key func(T) (any, error)) ([]T, error) {
	if len(update) == 0 {
		return prior, nil
	}
	var at index
	for i, v := range prior {
		k, err := key(v)
		if err != nil {
			return nil, fmt.Errorf("item %d of the field: %w", i, err)
		}
		at.put(k, i)
	}
	out := slices.Clone(prior)
	for i, v := range update {
		k, err := key(v)
		if err != nil {
			return nil, fmt.Errorf("item %d of the update: %w", i, err)
		}
		if n, known := at.get(k); known {
			out[n] = v
			continue
		}
		at.put(k, len(out))
		out = append(out, v)
	}
	return out, nil
}

// index finds the place of a key. Numbers are equal by value; what Go can't compare is equal where it is deeply so.
type index struct {
	fast map[any]int
	slow []slot
}

type slot struct {
	key any
	at  int
}

func (x *index) put(key any, at int) {
	key = number(key)
	if hashable(key) {
		if x.fast == nil {
			x.fast = map[any]int{}
		}
		x.fast[key] = at
		return
	}
	x.slow = append(x.slow, slot{key, at})
}

func (x *index) get(key any) (int, bool) {
	key = number(key)
	if hashable(key) {
		at, ok := x.fast[key]
		return at, ok
	}
	for i := len(x.slow) - 1; i >= 0; i-- {
		if reflect.DeepEqual(x.slow[i].key, key) {
			return x.slow[i].at, true
		}
	}
	return 0, false
}

func hashable(v any) bool { return v == nil || reflect.ValueOf(v).Comparable() }

func number(v any) any {
	if n, ok := v.(float64); ok && n == float64(int64(n)) {
		return int64(n)
	}
	return v
}
