package graph

import (
	"fmt"
	"reflect"
)

// The reducers of this file are for fields whose type is known only at run time (Typed). They never guess: a value that is not of the
// shape that the reducer works on is reducer_error.

// AppendAny is Append; an update that is no list is refused.
func AppendAny() Reducer[any] {
	return listReducer("append", func(prior, update []any) ([]any, error) {
		return append(append(make([]any, 0, len(prior)+len(update)), prior...), update...), nil
	})
}

// ConcatFlattenAny is ConcatFlatten; an update must be a list of lists.
func ConcatFlattenAny() Reducer[any] {
	return listReducer("concat_flatten", func(prior, update []any) ([]any, error) {
		lists := make([][]any, len(update))
		for i, v := range update {
			list, ok := v.([]any)
			if !ok {
				return nil, fmt.Errorf("item %d of the update must be a list, not %s", i, kindOf(v))
			}
			lists[i] = list
		}
		return concatFlatten(prior, lists), nil
	})
}

// BoundedAppendAny is BoundedAppend.
func BoundedAppendAny(maxLen int) Reducer[any] {
	r := listReducer("bounded_append", func(prior, update []any) ([]any, error) { return boundedAppend(prior, update, maxLen), nil })
	r.configErr = checkBound(maxLen)
	return r
}

// DedupeAppendAny is DedupeAppend.
func DedupeAppendAny() Reducer[any] {
	return listReducer("dedupe_append", func(prior, update []any) ([]any, error) {
		return dedupeAppend(prior, update, func(v any) (any, error) { return v, nil })
	})
}

// DedupeAppendByAny is DedupeAppendBy.
func DedupeAppendByAny(key func(any) (any, error)) Reducer[any] {
	r := listReducer("dedupe_append", func(prior, update []any) ([]any, error) { return dedupeAppend(prior, update, key) })
	r.configErr = checkKey("dedupe_append", key == nil)
	return r
}

// MergeByKeyAny is MergeByKey.
func MergeByKeyAny(key func(any) (any, error)) Reducer[any] {
	r := listReducer("merge_by_key", func(prior, update []any) ([]any, error) { return mergeByKey(prior, update, key) })
	r.configErr = checkKey("merge_by_key", key == nil)
	return r
}

// KeyField is a key for MergeByKeyAny and DedupeAppendByAny: the entry of that name, which every record must have.
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

// MergeAny is Merge; an update must be a dict.
func MergeAny() Reducer[any] {
	return NewReducer("merge", func(prior, update any) (any, error) { return mergeAny(prior, []any{update}) })
}

// MergeAllAny is MergeAll; an update must be a list of dicts.
func MergeAllAny() Reducer[any] {
	return NewReducer("merge_all", func(prior, update any) (any, error) {
		list, ok := update.([]any)
		if !ok {
			return nil, fmt.Errorf("the update must be a list, not %s", kindOf(update))
		}
		return mergeAny(prior, list)
	})
}

func mergeAny(prior any, list []any) (any, error) {
	before, ok := prior.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("the field must hold a dict, not %s", kindOf(prior))
	}
	dicts := make([]map[string]any, len(list))
	for i, v := range list {
		if dicts[i], ok = v.(map[string]any); !ok {
			return nil, fmt.Errorf("the update must be a dict, not %s (item %d)", kindOf(v), i)
		}
	}
	return mergeAll(before, dicts), nil
}

// listReducer refuses what is no list.
func listReducer(name string, merge func(prior, update []any) ([]any, error)) Reducer[any] {
	r := NewReducer(name, func(prior, update any) (any, error) {
		items, ok := update.([]any)
		if !ok {
			return nil, fmt.Errorf("the update must be a list, not %s", kindOf(update))
		}
		before, ok := prior.([]any)
		if !ok {
			return nil, fmt.Errorf("the field must hold a list, not %s", kindOf(prior))
		}
		return merge(before, items)
	})
	r.update = reflect.TypeFor[[]any]()
	return r
}
