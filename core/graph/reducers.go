package graph

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
)

// Append is append: the update's items come after the prior ones, in a new list.
func Append[T any]() Reducer[[]T] {
	return NewReducer("append", func(prior, update []T) ([]T, error) {
		return append(slices.Clone(prior), update...), nil
	})
}

// ConcatFlatten is concat_flatten: an update is a list of lists, whose items all come after the prior ones. An update
// is made with Set(name, [][]T{…}), as it is not of the field's type.
func ConcatFlatten[T any]() Reducer[[]T] {
	return newListReducer("concat_flatten", func(prior []T, lists [][]T) []T {
		return append(slices.Clone(prior), slices.Concat(lists...)...)
	})
}

// BoundedAppend is bounded_append: append, then the oldest items go until at most maxLen are left. An empty update
// leaves the prior list as it is, however long. A maxLen below 1 is reducer_configuration_invalid.
func BoundedAppend[T any](maxLen int) Reducer[[]T] {
	return NewReducer("bounded_append", func(prior, update []T) ([]T, error) {
		if len(update) == 0 {
			return prior, nil
		}
		all := slices.Concat(prior, update)
		return slices.Clone(all[max(0, len(all)-maxLen):]), nil
	}).configured(maxLen >= 1, fmt.Sprintf("a max_len of at least 1, not %d", maxLen))
}

// DedupeAppend is dedupe_append: append, without those items that are equal to one in the prior list or before them in
// the update. What the prior list holds twice stays.
func DedupeAppend[T any]() Reducer[[]T] {
	return DedupeAppendBy(func(v T) (any, error) { return v, nil })
}

// DedupeAppendBy is DedupeAppend where equal means: with the same key. No key is reducer_configuration_invalid; a key
// that fails is reducer_error.
func DedupeAppendBy[T any](key func(T) (any, error)) Reducer[[]T] {
	return keyed("dedupe_append", key, func([]T, int, T) {})
}

// MergeByKey is merge_by_key: a record of the update takes the place of the one with its key, the last one if the prior
// list holds several; one with a new key is appended. No key is reducer_configuration_invalid; a key that fails is
// reducer_error.
func MergeByKey[T any](key func(T) (any, error)) Reducer[[]T] {
	return keyed("merge_by_key", key, func(list []T, at int, v T) { list[at] = v })
}

// KeyField is a key for untyped records: the entry of that name, which every record must have.
func KeyField(name string) func(any) (any, error) {
	if name == "" {
		return nil
	}
	return func(v any) (any, error) {
		m, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("a record must be a dict, not %s", kindOf(v))
		}
		k, ok := m[name]
		if !ok {
			return nil, fmt.Errorf("a record has no %q", name)
		}
		return k, nil
	}
}

// keyed makes a reducer that appends items with a new key, and calls known for an item whose key is already at a place
// of the list.
func keyed[T any](name string, key func(T) (any, error), known func(list []T, at int, v T)) Reducer[[]T] {
	return NewReducer(name, func(prior, update []T) ([]T, error) {
		if len(update) == 0 {
			return prior, nil
		}
		var places index
		for i, v := range prior {
			k, err := key(v)
			if err != nil {
				return nil, fmt.Errorf("item %d of the field: %w", i, err)
			}
			places.put(k, i)
		}
		out := slices.Clone(prior)
		for i, v := range update {
			k, err := key(v)
			if err != nil {
				return nil, fmt.Errorf("item %d of the update: %w", i, err)
			}
			if at, ok := places.get(k); ok {
				known(out, at, v)
				continue
			}
			places.put(k, len(out))
			out = append(out, v)
		}
		return out, nil
	}).configured(key != nil, "a key")
}

// index finds the place of a key. Numbers are equal by value; values that Go can't compare are compared by
// reflect.DeepEqual.
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
	if !hashable(key) {
		x.slow = append(x.slow, slot{key, at})
		return
	}
	if x.fast == nil {
		x.fast = map[any]int{}
	}
	x.fast[key] = at
}

func (x *index) get(key any) (int, bool) {
	key = number(key)
	if hashable(key) {
		at, ok := x.fast[key]
		return at, ok
	}
	for _, s := range slices.Backward(x.slow) {
		if reflect.DeepEqual(s.key, key) {
			return s.at, true
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

// Merge is merge: the update's entries over the prior ones, one level deep.
func Merge[K comparable, V any]() Reducer[map[K]V] {
	return NewReducer("merge", func(prior, update map[K]V) (map[K]V, error) {
		return mergeAll(prior, []map[K]V{update}), nil
	})
}

// MergeAll is merge_all: an update is a list of mappings, merged one after the other. It is made with Set(name,
// []map[K]V{…}), as it is not of the field's type.
func MergeAll[K comparable, V any]() Reducer[map[K]V] {
	return newListReducer("merge_all", mergeAll[K, V])
}

func mergeAll[K comparable, V any](prior map[K]V, list []map[K]V) map[K]V {
	out := maps.Clone(prior)
	for _, m := range list {
		if out == nil {
			out = make(map[K]V, len(m))
		}
		maps.Copy(out, m)
	}
	return out
}
