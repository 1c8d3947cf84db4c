package graph

import (
	"fmt"
	"maps"
	"reflect"
)

// Merge is merge: the update's entries over the prior ones, one level deep.
func Merge[K comparable, V any]() Reducer[map[K]V] {
	return NewReducer("merge", func(prior, update map[K]V) (map[K]V, error) { return mergeAll(prior, []map[K]V{update}), nil })
}

// MergeAll is merge_all: an update is a list of mappings, merged one after the other. It is made with Set(name, []map[K]V{…}), as it
// is not of the field's type.
func MergeAll[K comparable, V any]() Reducer[map[K]V] {
	return Reducer[map[K]V]{name: "merge_all", update: reflect.TypeFor[[]map[K]V](), any: func(prior map[K]V, update any) (map[K]V, error) {
		list, ok := update.([]map[K]V)
		if !ok {
			return nil, fmt.Errorf("the update is %T, not %s", update, reflect.TypeFor[[]map[K]V]())
		}
		return mergeAll(prior, list), nil
	}}
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
