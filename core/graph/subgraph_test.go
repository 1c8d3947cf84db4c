package graph_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// inner is a graph that leaves a trace, with the nodes in a line.
func inner(name string, nodes ...graph.Node) *graph.Builder {
	b := graph.New(name, "1").Fields(count, trail, approved).Entry("x0")
	for i, n := range nodes {
		to := fmt.Sprintf("x%d", i+1)
		if i == len(nodes)-1 {
			to = graph.END
		}
		b.Node(fmt.Sprintf("x%d", i), n).Edge(fmt.Sprintf("x%d", i), to)
	}
	return b
}

// around is a graph "a", sub, "c".
func around(t *testing.T, sub *graph.Builder, p ...graph.Projection) *graph.Builder {
	t.Helper()
	return graph.New("outer", "1").Fields(count, trail, approved).Entry("a").
		Node("a", leave("a")).Subgraph("sub", compile(t, sub), p...).Node("c", leave("c")).
		Edge("a", "sub").Edge("sub", "c").Edge("c", graph.END)
}

func TestASubgraphsFieldsAreMergedByNameThroughTheParentsReducers(t *testing.T) {
	res := want(t,
		compile(t, around(t, inner("in", leave("x"), leave("y")))).Invoke(t.Context(), graph.Stores{},
			graph.Invocation{}), graph.Completed)
	if got := trail.Get(res.State); !slices.Equal(got, []string{"a", "x", "y", "c"}) {
		t.Errorf("trail %v", got)
	}
}

func TestProjections(t *testing.T) {
	see := func(_ context.Context, s graph.State) (graph.Update, error) {
		return graph.Update{count.Set(count.Get(s) + 10), trail.Set([]string{fmt.Sprint(len(trail.Get(s)))})}, nil
	}
	for name, tc := range map[string]struct {
		p     graph.Projection
		count int
		trail string
	}{
		"none":         {graph.Projection{}, 10, "a 0 c"},
		"in":           {graph.Projection{Inputs: map[string]string{"count": "count"}}, 15, "a 0 c"},
		"out replaces": {graph.Projection{Outputs: map[string]string{"count": "count"}}, 10, "a c"},
		"nothing out":  {graph.Projection{Outputs: map[string]string{}}, 5, "a c"},
	} {
		res := want(t,
			compile(t, around(t, inner("in", see), tc.p)).Invoke(t.Context(), graph.Stores{},
				graph.Invocation{Initial: graph.Update{count.Set(5)}}), graph.Completed)
		if got := strings.Join(trail.Get(res.State), " "); count.Get(res.State) != tc.count || got != tc.trail {
			t.Errorf("%s: count %d, trail %s", name, count.Get(res.State), got)
		}
	}
}

func TestProjectionsAreCheckedWhenCompiled(t *testing.T) {
	m := func(k, v string) map[string]string { return map[string]string{k: v} }
	for name, tc := range map[string]struct {
		p []graph.Projection
		c core.Category
	}{
		"parent's input":    {[]graph.Projection{{Inputs: m("count", "ghost")}}, core.MappingUndeclaredField},
		"subgraph's input":  {[]graph.Projection{{Inputs: m("ghost", "count")}}, core.MappingUndeclaredField},
		"parent's output":   {[]graph.Projection{{Outputs: m("ghost", "count")}}, core.MappingUndeclaredField},
		"subgraph's output": {[]graph.Projection{{Outputs: m("count", "ghost")}}, core.MappingUndeclaredField},
		"two projections":   {[]graph.Projection{{}, {}}, core.ConflictingProjectionForms},
	} {
		_, err := around(t, inner("in", leave("x")), tc.p...).Compile()
		if core.CategoryOf(err) != tc.c {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := graph.New("g", "1").Subgraph("s", nil).Entry("s").Edge("s",
		graph.END).Compile(); core.CategoryOf(err) != core.Invalid {
		t.Errorf("no graph: %v", err)
	}
}

func TestEventsOfASubgraph(t *testing.T) {
	var e recorder
	g := compile(t,
		around(t, inner("in", leave("x"), leave("y")).Observe(e.observer("inner"))).Observe(e.observer("outer")))
	want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Observers: []graph.Observer{e.observer("scoped")}}),
		graph.Completed)
	g.Drain(t.Context())
	var got []string
	for i, h := range e.received {
		ev := e.last[i]
		if ev.Phase == graph.PhaseCompleted {
			got = append(got,
				fmt.Sprintf("%s %s %d %d", strings.Fields(h)[0], strings.Join(ev.Namespace, "/"), ev.Step,
					len(ev.Parents)))
		}
	}
	expected := []string{
		"outer a 0 0", "scoped a 0 0",
		"outer sub/x0 1 1", "inner sub/x0 1 1", "scoped sub/x0 1 1",
		"outer sub/x1 2 1", "inner sub/x1 2 1", "scoped sub/x1 2 1",
		"outer c 3 0", "scoped c 3 0",
	}
	if !slices.Equal(got, expected) {
		t.Errorf("received %v", got)
	}
}

func TestAFailureInASubgraphHasItsPathAndCategory(t *testing.T) {
	g := compile(t, around(t, inner("in", leave("x"), func(context.Context, graph.State) (graph.Update, error) {
		return nil, core.Errorf(core.ProviderRateLimit, "slow down")
	})))
	res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
	wantCategory(t, res.Err, core.ProviderRateLimit)
	if !slices.Equal(res.Namespace, []string{"sub", "x1"}) || !slices.Equal(trail.Get(res.State), []string{"a"}) {
		t.Errorf("at %v, trail %v", res.Namespace, trail.Get(res.State))
	}
}

func TestASuspensionInsideASubgraphInsideASubgraph(t *testing.T) {
	for _, opts := range [][]graph.SuspendOption{nil, {graph.KeepNode()}} {
		ask := func(ctx context.Context, s graph.State) (graph.Update, error) {
			if approved.Get(s) {
				return graph.Update{trail.Set([]string{"again"})}, nil
			}
			return nil, graph.Suspend(ctx, core.Descriptor{SignalID: "x"}, opts...)
		}
		build := func() *graph.Graph {
			deep := inner("deep", leave("d0"), ask, leave("d2"))
			middle := graph.New("middle", "1").Fields(trail, approved).Entry("m0").Node("m0",
				leave("m0")).Subgraph("m1", compile(t, deep)).
				Node("m2", leave("m2")).Edge("m0", "m1").Edge("m1", "m2").Edge("m2", graph.END)
			return compile(t, around(t, middle))
		}
		st := through{graph.NewMemory()}
		stores := graph.Stores{Sessions: st, Pauses: st}
		res := want(t, build().Invoke(t.Context(), stores, graph.Invocation{Session: "s"}), graph.Suspended)
		if !slices.Equal(res.Namespace, []string{"sub", "m1", "x1"}) || res.Node != "x1" ||
			!slices.Equal(trail.Get(res.State), []string{"a"}) {
			t.Errorf("suspended at %v with %v", res.Namespace, trail.Get(res.State))
		}
		rec, _ := st.Paused(t.Context(), res.Invocation)
		if len(rec.Frames) != 3 || rec.Frames[0].Node != "sub" || slices.Contains(rec.Frames[0].Completed, "sub") ||
			rec.Frames[2].Graph != "deep" || slices.Contains(rec.Frames[2].Completed, "x1") != (opts == nil) {
			t.Errorf("frames %+v", rec.Frames)
		}
		res = want(t, build().Invoke(t.Context(), stores, graph.Invocation{
			Resume: res.Invocation, Payload: payload(map[string]string{"approved": "true"}),
		}), graph.Completed)
		expected := "a m0 d0 d2 m2 c"
		if opts != nil {
			expected = "a m0 d0 again d2 m2 c"
		}
		if got := strings.Join(trail.Get(res.State), " "); got != expected {
			t.Errorf("trail %s, not %s", got, expected)
		}
	}
}

func TestAPayloadMustFitEveryLevel(t *testing.T) {
	sub := graph.New("in", "1").Fields(graph.Field("only", graph.Replace[bool]())).Entry("x").Node("x",
		pause("p")).Edge("x", graph.END)
	g, st := compile(t, around(t, sub)), graph.NewMemory()
	res := want(t, g.Invoke(t.Context(), graph.Stores{Pauses: st}, graph.Invocation{}), graph.Suspended)
	bad := g.Invoke(t.Context(), graph.Stores{Pauses: st},
		graph.Invocation{Resume: res.Invocation, Payload: payload(map[string]string{"only": "7"})})
	wantCategory(t, bad.Err, core.SuspensionPayloadInvalid)
	want(t,
		g.Invoke(t.Context(), graph.Stores{Pauses: st},
			graph.Invocation{Resume: res.Invocation, Payload: payload(map[string]string{"only": "true"})}),
		graph.Completed)
}

func TestASubgraphOfAnotherVersionIsNotResumed(t *testing.T) {
	build := func(name, version, schema string) *graph.Graph {
		sub := graph.New(name, version).SchemaVersion(schema).Fields(trail).Entry("x").Node("x", pause("p")).Edge("x",
			graph.END).
			Migrate("s1", "s2", func(m map[string]any) (map[string]any, error) { return m, nil })
		return compile(t, around(t, sub))
	}
	for name, tc := range map[string]struct {
		g *graph.Graph
		c core.Category
	}{
		"the same":    {build("in", "1", "s1"), ""},
		"migrated":    {build("in", "2", "s2"), ""},
		"new version": {build("in", "2", "s1"), core.SuspensionRecordInvalid},
		"no way":      {build("in", "2", "s3"), core.SuspensionRecordInvalid},
		"other name":  {build("on", "1", "s1"), core.SuspensionRecordInvalid},
		"no subgraph": {compile(t,
			graph.New("outer", "1").Fields(trail).Node("sub", leave("x")).Entry("sub").Edge("sub", graph.END)),
			core.SuspensionRecordInvalid},
	} {
		st := graph.Stores{Pauses: graph.NewMemory()}
		res := want(t, build("in", "1", "s1").Invoke(t.Context(), st, graph.Invocation{}), graph.Suspended)
		if got := tc.g.Invoke(t.Context(), st,
			graph.Invocation{Resume: res.Invocation}); core.CategoryOf(got.Err) != tc.c {
			t.Errorf("%s: %v", name, got.Err)
		}
	}
}

func TestASubgraphHasNoSession(t *testing.T) {
	var failed error
	st := newBroken()
	g := compile(t, around(t, inner("in", func(ctx context.Context, _ graph.State) (graph.Update, error) {
		failed = graph.SaveSession(ctx, nil)
		return nil, nil
	})))
	if err := st.Memory.Save(t.Context(),
		&core.SessionRecord{ID: "s", State: map[string]json.RawMessage{"count": json.RawMessage("7")}},
		core.SaveOptions{}); err != nil {
		t.Fatal(err)
	}
	res := want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Session: "s"}), graph.Completed)
	if core.CategoryOf(failed) != core.Invalid || count.Get(res.State) != 0 {
		t.Errorf("saving: %v, count %d", failed, count.Get(res.State))
	}
}
