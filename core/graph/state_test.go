package graph_test

import (
	"context"
	"slices"
	"testing"

	"gatehouse/core"
	"gatehouse/core/graph"
)

type basket struct {
	Items []string
	Note  *string
}

func TestNoCallerCanChangeAState(t *testing.T) {
	note := "n"
	first := basket{Items: []string{"x"}, Note: &note}
	carried := graph.Field("basket", graph.Replace[basket]()).Default(first)
	tags := graph.Field("tags", graph.Replace[map[string][]int]()).Default(map[string][]int{"a": {1}})
	first.Items[0] = "changed"
	given := []string{"given"}
	g := compile(t, graph.New("g", "1").Fields(carried, tags, trail).
		Node("a", func(_ context.Context, s graph.State) (graph.Update, error) {
			b := carried.Get(s)
			b.Items[0], *b.Note = "mine", "mine"
			tags.Get(s)["a"][0] = 9
			u := graph.Update{trail.Set(given)}
			given[0] = "later"
			return u, nil
		}).
		Node("b", func(_ context.Context, s graph.State) (graph.Update, error) {
			got := trail.Get(s)
			_ = append(got[:0:cap(got)], "overwritten")
			return graph.Update{trail.Set([]string{"b"})}, nil
		}).
		Entry("a").Edge("a", "b").Edge("b", graph.END))
	for range 2 { // the second run has defaults of its own
		given[0] = "given"
		res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Completed)
		if b := carried.Get(res.State); b.Items[0] != "x" || *b.Note != "n" {
			t.Errorf("basket %v %q", b.Items, *b.Note)
		}
		if got := tags.Get(res.State); got["a"][0] != 1 {
			t.Errorf("tags %v", got)
		}
		if got := trail.Get(res.State); !slices.Equal(got, []string{"given", "b"}) {
			t.Errorf("trail %v", got)
		}
	}
}

func TestSuppliedStateTakesTheDefaultsPlace(t *testing.T) {
	g := compile(t,
		graph.New("g", "1").Fields(trail.Default([]string{"seed"}), count.Default(4)).Node("a",
			leave("a")).Entry("a").Edge("a", graph.END))
	res := want(t,
		g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Initial: graph.Update{trail.Set([]string{"mine"})}}),
		graph.Completed)
	if got := trail.Get(res.State); !slices.Equal(got, []string{"mine", "a"}) || count.Get(res.State) != 4 {
		t.Errorf("trail %v, count %d", got, count.Get(res.State))
	}
	res = want(t,
		g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Initial: graph.Update{graph.Set("count", "four")}}),
		graph.Errored)
	wantCategory(t, res.Err, core.StateValidationError)
	res = want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Initial: graph.Update{graph.Set("ghost", 1)}}),
		graph.Errored)
	wantCategory(t, res.Err, core.StateValidationError)
}

func TestRunTimeTypes(t *testing.T) {
	for _, tc := range []struct {
		typ graph.Type
		yes []string
		no  []string
	}{
		{graph.StringType(), []string{`"x"`}, []string{`1`, `null`, `["x"]`}},
		{graph.IntType(), []string{`1`, `-3`}, []string{`1.5`, `"1"`, `true`}},
		{graph.FloatType(), []string{`1`, `1.5`, `1e3`}, []string{`"1"`, `null`}},
		{graph.BoolType(), []string{`true`}, []string{`1`, `"true"`, `null`}},
		{graph.AnyType(), []string{`null`, `{"a":[1,2.5]}`}, []string{`{"a":1,"a":2}`, `x`, ``}},
		{graph.ListType(graph.IntType()), []string{`[]`, `[1,2]`}, []string{`[1,"x"]`, `{}`, `null`}},
		{graph.DictType(graph.ListType(graph.AnyType())), []string{`{}`, `{"a":[]}`}, []string{`{"a":1}`, `[]`}},
	} {
		for _, raw := range tc.yes {
			if _, err := tc.typ.Decode([]byte(raw)); err != nil {
				t.Errorf("%s refuses %s: %v", tc.typ.Name(), raw, err)
			}
		}
		for _, raw := range tc.no {
			if v, err := tc.typ.Decode([]byte(raw)); err == nil {
				t.Errorf("%s takes %s as %v", tc.typ.Name(), raw, v)
			}
		}
	}
}

func TestATypedFieldWorksLikeAnyOther(t *testing.T) {
	list := graph.Typed("list", graph.ListType(graph.IntType()),
		graph.Untyped(graph.Append[any]())).Default([]any{int64(1)})
	node := func(v any) graph.Node {
		return func(context.Context, graph.State) (graph.Update, error) { return graph.Update{list.Set(v)}, nil }
	}
	build := func(v any) *graph.Graph {
		return compile(t, graph.New("g", "1").Fields(list).Node("a", node(v)).Entry("a").Edge("a", graph.END))
	}
	res := want(t, build([]any{int64(2)}).Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Completed)
	if got, _ := res.State.Value("list"); !slices.Equal(got.([]any), []any{int64(1), int64(2)}) {
		t.Errorf("list %v", got)
	}
	res = want(t, build("no list").Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
	wantCategory(t, res.Err, core.ReducerError)
	res = want(t, build([]any{"no int"}).Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
	wantCategory(t, res.Err, core.StateValidationError)
}

func TestAReducerThatPanicsHasFailed(t *testing.T) {
	bad := graph.Field("bad", graph.NewReducer("explosive", func(_, _ int) (int, error) { panic("no") }))
	g := compile(t, graph.New("g", "1").Fields(bad).
		Node("a", func(context.Context, graph.State) (graph.Update, error) { return graph.Update{bad.Set(1)}, nil }).
		Entry("a").Edge("a", graph.END))
	res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
	wantCategory(t, res.Err, core.ReducerError)
}

func TestCompileErrors(t *testing.T) {
	ok := func() *graph.Builder {
		return graph.New("g", "1").Fields(count, trail).Node("a", leave("a")).Entry("a")
	}
	twice := func(m map[string]any) (map[string]any, error) { return m, nil }
	for name, tc := range map[string]struct {
		b        *graph.Builder
		category core.Category
	}{
		"no entry":      {graph.New("g", "1").Node("a", leave("a")).Edge("a", graph.END), core.NoDeclaredEntry},
		"unknown entry": {ok().Entry("ghost").Edge("a", graph.END), core.NoDeclaredEntry},
		"unreachable": {
			ok().Node("b", leave("b")).Edge("a", graph.END).Edge("b", graph.END), core.UnreachableNode,
		},
		"dangling target": {ok().Edge("a", "ghost"), core.DanglingEdge},
		"dangling source": {ok().Edge("a", graph.END).Edge("ghost", "a"), core.DanglingEdge},
		"no way out":      {ok(), core.DanglingEdge},
		"two ways out": {ok().Edge("a", graph.END).Route("a", func(graph.State) (string, error) {
			return graph.END, nil
		}), core.MultipleOutgoingEdges},
		"field twice": {ok().Edge("a",
			graph.END).Fields(graph.Field("count", graph.NewReducer("sum", func(a, b int) (int, error) {
			return a + b, nil
		}))), core.ConflictingReducers},
		"unknown projection": {ok().Edge("a", graph.END).Session("ghost"), core.MappingUndeclaredField},
		"migration twice": {
			ok().Edge("a", graph.END).Migrate("1", "2", twice).Migrate("1", "2", twice), core.MigrationChainAmbiguous,
		},
		"migration of nothing": {ok().Edge("a", graph.END).Migrate("", "2", twice), core.Invalid},
		"node twice":           {ok().Node("a", leave("a")).Edge("a", graph.END), core.Invalid},
		"node named END":       {ok().Node(graph.END, leave("a")).Edge("a", graph.END), core.Invalid},
		"deaf observer": {ok().Edge("a",
			graph.END).Observe(graph.Observer{Phases: []graph.Phase{}, On: func(context.Context, graph.Event) error {
			return nil
		}}), core.Invalid},
		"bad default": {ok().Edge("a",
			graph.END).Fields(graph.Typed("n", graph.IntType(), graph.Replace[any]()).Default("x")), core.Invalid},
	} {
		_, err := tc.b.Compile()
		if got := core.CategoryOf(err); got != tc.category {
			t.Errorf("%s: %q (%v), want %q", name, got, err, tc.category)
		}
	}
}
