package graph_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// reduced runs updates of one field after another.
func reduced(t *testing.T, field graph.Declared, name string, updates ...any) (any, error) {
	t.Helper()
	i := 0
	g := compile(t, graph.New("g", "1").Fields(field).Entry("a").
		Node("a", func(context.Context, graph.State) (graph.Update, error) {
			i++
			return graph.Update{graph.Set(name, updates[i-1])}, nil
		}).
		Route("a", func(graph.State) (string, error) {
			if i == len(updates) {
				return graph.END, nil
			}
			return "a", nil
		}))
	res := g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{})
	v, _ := res.State.Value(name)
	return v, res.Err
}

func list(v ...any) []any { return append([]any{}, v...) }

type dict = map[string]any

func TestReducers(t *testing.T) {
	listOf, dictOf := graph.ListType(graph.AnyType()), graph.DictType(graph.AnyType())
	id := func(n int, v string) dict { return dict{"id": int64(n), "v": v} }
	for name, tc := range map[string]struct {
		typ     graph.Type
		reducer graph.Reducer[any]
		initial any
		updates []any
		want    any // nil = reducer_error
	}{
		"append": {
			listOf, graph.Untyped(graph.Append[any]()), list("a"), list(list("b"), list()), list("a", "b"),
		},
		"append no list": {listOf, graph.Untyped(graph.Append[any]()), list("a"), list("b"), nil},
		"merge": {
			dictOf, graph.Untyped(graph.Merge[string, any]()), dict{"a": "1", "d": dict{"x": "1"}},
			list(dict{"b": "2", "d": dict{"y": "2"}}), dict{"a": "1", "b": "2", "d": dict{"y": "2"}},
		},
		"merge no dict": {dictOf, graph.Untyped(graph.Merge[string, any]()), dict{}, list(list()), nil},
		"flatten": {
			listOf, graph.Untyped(graph.ConcatFlatten[any]()), list("a"),
			list(list(list("b"), list(), list("c", list("d")))), list("a", "b", "c", list("d")),
		},
		"flatten nothing": {
			listOf, graph.Untyped(graph.ConcatFlatten[any]()), list("a"), list(list()), list("a"),
		},
		"flatten empty lists": {
			listOf, graph.Untyped(graph.ConcatFlatten[any]()), list(), list(list(list(), list())), list(),
		},
		"flatten no list": {listOf, graph.Untyped(graph.ConcatFlatten[any]()), list(), list("x"), nil},
		"flatten an item": {
			listOf, graph.Untyped(graph.ConcatFlatten[any]()), list(), list(list(list("a"), "b")), nil,
		},
		"merge all": {
			dictOf, graph.Untyped(graph.MergeAll[string, any]()), dict{"a": "1"},
			list(list(dict{"b": "1"}, dict{"b": "2", "a": "3"})), dict{"a": "3", "b": "2"},
		},
		"merge all of nothing": {
			dictOf, graph.Untyped(graph.MergeAll[string, any]()), dict{"a": "1"}, list(list()), dict{"a": "1"},
		},
		"merge all, no list": {dictOf, graph.Untyped(graph.MergeAll[string, any]()), dict{}, list(dict{}), nil},
		"merge all, no dict": {
			dictOf, graph.Untyped(graph.MergeAll[string, any]()), dict{}, list(list(dict{}, "x")), nil,
		},
		"bounded": {
			listOf, graph.Untyped(graph.BoundedAppend[any](2)), list("a"), list(list("b"), list("c")), list("b", "c"),
		},
		"bounded, nothing": {
			listOf, graph.Untyped(graph.BoundedAppend[any](1)), list("a", "b"), list(list()), list("a", "b"),
		},
		"bounded, more than room": {
			listOf, graph.Untyped(graph.BoundedAppend[any](2)), list("a"), list(list("b", "c", "d")), list("c", "d"),
		},
		"bounded, no list": {listOf, graph.Untyped(graph.BoundedAppend[any](2)), list(), list("x"), nil},
		"dedupe": {
			listOf, graph.Untyped(graph.DedupeAppend[any]()), list("a", "a"), list(list("a", "b", "b"), list("b", "c")),
			list("a", "a", "b", "c"),
		},
		"dedupe deep": {
			listOf, graph.Untyped(graph.DedupeAppend[any]()), list(dict{"x": list("1")}),
			list(list(dict{"x": list("1")}, dict{"x": list("2")})), list(dict{"x": list("1")}, dict{"x": list("2")}),
		},
		"dedupe numbers": {
			listOf, graph.Untyped(graph.DedupeAppend[any]()), list(int64(1)), list(list(1.0, 1.5)), list(int64(1), 1.5),
		},
		"dedupe by key": {
			listOf, graph.Untyped(graph.DedupeAppendBy(graph.KeyField("id"))), list(id(1, "a")),
			list(list(id(1, "b"), id(2, "c"), id(2, "d"))), list(id(1, "a"), id(2, "c")),
		},
		"dedupe without the key": {
			listOf, graph.Untyped(graph.DedupeAppendBy(graph.KeyField("id"))), list(), list(list(dict{})), nil,
		},
		"by key": {
			listOf, graph.Untyped(graph.MergeByKey(graph.KeyField("id"))), list(id(1, "a"), id(1, "b"), id(2, "c")),
			list(list(id(3, "d"), id(1, "e"), id(3, "f"))), list(id(1, "a"), id(1, "e"), id(2, "c"), id(3, "f")),
		},
		"by key of nothing": {
			listOf, graph.Untyped(graph.MergeByKey(graph.KeyField("id"))), list("no record"), list(list()),
			list("no record"),
		},
		"by key, no record": {
			listOf, graph.Untyped(graph.MergeByKey(graph.KeyField("id"))), list(), list(list("x")), nil,
		},
		"by key, bad prior": {
			listOf, graph.Untyped(graph.MergeByKey(graph.KeyField("id"))), list("x"), list(list(id(1, "a"))), nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := reduced(t, graph.Typed("f", tc.typ, tc.reducer).Default(tc.initial), "f", tc.updates...)
			if tc.want == nil {
				wantCategory(t, err, core.ReducerError)
				var e *graph.Error
				if !errors.As(err, &e) || e.Field != "f" || e.Reducer != tc.reducer.Name() || e.Node != "a" ||
					e.Err == nil || e.State.IsZero() {
					t.Errorf("error %+v", e)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, tc.want) {
				t.Errorf("got %v, want %v (%v)", got, tc.want, err)
			}
		})
	}
}

func TestTypedReducers(t *testing.T) {
	type rec struct{ ID, V int }
	byID := func(r rec) (any, error) { return r.ID, nil }
	for name, tc := range map[string]struct {
		field   graph.Declared
		updates []any
		want    any
	}{
		"merge": {
			graph.Field("f", graph.Merge[string, int]()), list(map[string]int{"a": 1}, map[string]int{"a": 2, "b": 3}),
			map[string]int{"a": 2, "b": 3},
		},
		"merge all": {
			graph.Field("f", graph.MergeAll[string, int]()), list([]map[string]int{{"a": 1}, {"b": 2}}),
			map[string]int{"a": 1, "b": 2},
		},
		"flatten":   {graph.Field("f", graph.ConcatFlatten[int]()), list([][]int{{1}, {2, 3}}), []int{1, 2, 3}},
		"bounded":   {graph.Field("f", graph.BoundedAppend[int](2)), list([]int{1, 2}, []int{3}), []int{2, 3}},
		"dedupe":    {graph.Field("f", graph.DedupeAppend[int]()), list([]int{1, 1}, []int{2}), []int{1, 2}},
		"dedupe by": {graph.Field("f", graph.DedupeAppendBy(byID)), list([]rec{{1, 1}, {1, 2}}), []rec{{1, 1}}},
		"by key": {
			graph.Field("f", graph.MergeByKey(byID)), list([]rec{{1, 1}, {2, 1}}, []rec{{1, 2}}), []rec{{1, 2}, {2, 1}},
		},
	} {
		if got, err := reduced(t, tc.field, "f", tc.updates...); err != nil || !reflect.DeepEqual(got, tc.want) {
			t.Errorf("%s: %v, want %v (%v)", name, got, tc.want, err)
		}
	}
	_, err := reduced(t, graph.Field("f", graph.ConcatFlatten[int]()), "f", []int{1})
	wantCategory(t, err, core.ReducerError)
}

func TestMisusedReducerFactories(t *testing.T) {
	for name, f := range map[string]graph.Declared{
		"bound 0":  graph.Field("f", graph.BoundedAppend[int](0)),
		"bound -1": graph.Typed("f", graph.ListType(graph.AnyType()), graph.Untyped(graph.BoundedAppend[any](-1))),
		"no key":   graph.Field("f", graph.MergeByKey[int](nil)),
		"no field": graph.Typed("f", graph.ListType(graph.AnyType()),
			graph.Untyped(graph.MergeByKey(graph.KeyField("")))),
		"dedupe no key": graph.Field("f", graph.DedupeAppendBy[int](nil)),
	} {
		_, err := graph.New("g", "1").Fields(f).Node("a", leave("a")).Entry("a").Edge("a", graph.END).Compile()
		if core.CategoryOf(err) != core.ReducerConfigurationInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}
