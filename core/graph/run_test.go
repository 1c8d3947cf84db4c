package graph_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"gatehouse/core"
	"gatehouse/core/graph"
)

func TestRunFollowsEdgesOnTheMergedState(t *testing.T) {
	g := compile(t, graph.New("g", "1").Fields(count, trail.Default([]string{"seed"})).
		Node("a", func(_ context.Context, s graph.State) (graph.Update, error) {
			return graph.Update{count.Set(count.Get(s) + 1), trail.Set([]string{"a"})}, nil
		}).
		Node("b", leave("b")).
		Entry("a").
		Route("a", func(s graph.State) (string, error) {
			if count.Get(s) < 3 {
				return "a", nil
			}
			return "b", nil
		}).
		Edge("b", graph.END))
	res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Completed)
	if got := trail.Get(res.State); !slices.Equal(got, []string{"seed", "a", "a", "a", "b"}) {
		t.Errorf("trail %v", got)
	}
	if res.Invocation == "" || res.Correlation == "" || res.Session != "" {
		t.Errorf("ids %q %q %q", res.Invocation, res.Correlation, res.Session)
	}
}

func TestANodeMayBeCalledEND(t *testing.T) {
	g := compile(t, graph.New("g", "1").Fields(trail).Node("END", leave("END")).Entry("END").Edge("END", graph.END))
	res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Completed)
	if got := trail.Get(res.State); !slices.Equal(got, []string{"END"}) {
		t.Errorf("trail %v", got)
	}
}

func TestErrorsCarryTheStateBeforeThem(t *testing.T) {
	away := core.Errorf(core.ProviderUnavailable, "The model is away.")
	fails := func(err error) graph.Node {
		return func(context.Context, graph.State) (graph.Update, error) { return graph.Update{count.Set(9)}, err }
	}
	for name, tc := range map[string]struct {
		node     graph.Node
		carrier  core.Category
		category core.Category
		is       error
	}{
		"plain":       {fails(errPlain), core.NodeException, core.NodeException, errPlain},
		"categorised": {fails(fmt.Errorf("asking: %w", away)), core.NodeException, core.ProviderUnavailable, away},
		"panic": {func(context.Context, graph.State) (graph.Update, error) {
			panic(errPlain)
		}, core.NodeException, core.NodeException, errPlain},
		"undeclared": {func(context.Context, graph.State) (graph.Update, error) {
			return graph.Update{graph.Set("ghost", 1)}, nil
		},
			core.StateValidationError, core.StateValidationError, nil},
		"wrong type": {func(context.Context, graph.State) (graph.Update, error) {
			return graph.Update{count.Set(5), graph.Set("approved", "yes")}, nil
		}, core.StateValidationError, core.StateValidationError, nil},
		"no list": {func(context.Context, graph.State) (graph.Update, error) {
			return graph.Update{graph.Set("trail", "x")}, nil
		},
			core.ReducerError, core.ReducerError, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := compile(t, line(leave("a"), tc.node, leave("c")))
			res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
			var e *graph.Error
			if !errors.As(res.Err, &e) || e.Category != tc.carrier || e.Node != "b" {
				t.Fatalf("error %#v", res.Err)
			}
			wantCategory(t, res.Err, tc.category)
			if tc.is != nil && !errors.Is(res.Err, tc.is) {
				t.Errorf("the cause is lost: %v", res.Err)
			}
			if got := trail.Get(e.State); !slices.Equal(got, []string{"a"}) || count.Get(e.State) != 0 {
				t.Errorf("recoverable state: trail %v, count %d", got, count.Get(e.State))
			}
			if res.Node != "b" || !slices.Equal(res.Namespace, []string{"b"}) {
				t.Errorf("place %q %v", res.Node, res.Namespace)
			}
		})
	}
}

func TestAPanicMayHoldAnything(t *testing.T) {
	for _, v := range []any{"text", 7, errPlain} {
		g := compile(t, line(func(context.Context, graph.State) (graph.Update, error) { panic(v) }))
		res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
		var p *graph.PanicError
		if !errors.As(res.Err, &p) || p.Value != v || len(p.Stack) == 0 {
			t.Errorf("panic %v became %v", v, res.Err)
		}
	}
}

func TestEdgesFail(t *testing.T) {
	for name, tc := range map[string]struct {
		route    func(graph.State) (string, error)
		category core.Category
	}{
		"unknown node": {func(graph.State) (string, error) { return "ghost", nil }, core.RoutingError},
		"error":        {func(graph.State) (string, error) { return "", errPlain }, core.EdgeException},
		"panic":        {func(graph.State) (string, error) { panic("x") }, core.EdgeException},
		"no way out":   {func(graph.State) (string, error) { return "b", nil }, core.RoutingError},
	} {
		t.Run(name, func(t *testing.T) {
			g := compile(t,
				graph.New("g", "1").Fields(trail).Node("a", leave("a")).Node("b", leave("b")).Entry("a").Route("a",
					tc.route))
			res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
			wantCategory(t, res.Err, tc.category)
			if got := trail.Get(res.State); len(got) == 0 {
				t.Errorf("the node's update is lost: %v", got)
			}
		})
	}
}

func TestAnEndedContextStopsBeforeTheNextNode(t *testing.T) {
	stopped := core.Errorf(core.Stopped, "Somebody said stop.")
	ctx, stop := context.WithCancelCause(t.Context())
	ran := false
	for name, first := range map[string]graph.Node{
		"between nodes": func(context.Context, graph.State) (graph.Update, error) { stop(stopped); return nil, nil },
		"in a node": func(ctx context.Context, _ graph.State) (graph.Update, error) {
			stop(stopped)
			return nil, ctx.Err()
		},
	} {
		g := compile(t, line(first, func(context.Context, graph.State) (graph.Update, error) {
			ran = true
			return nil, nil
		}))
		res := want(t, g.Invoke(ctx, graph.Stores{}, graph.Invocation{}), graph.Errored)
		wantCategory(t, res.Err, core.Stopped)
		if ran {
			t.Errorf("%s: the next node ran", name)
		}
	}
}

func TestIDsAreInTheContextOfTheInvocationOnly(t *testing.T) {
	var seen []graph.IDs
	note := func(ctx context.Context, _ graph.State) (graph.Update, error) {
		ids, _ := graph.InvocationFrom(ctx)
		seen = append(seen, ids)
		return nil, nil
	}
	inner := compile(t, line(note))
	g := compile(t, line(note, func(ctx context.Context, _ graph.State) (graph.Update, error) {
		inner.Invoke(ctx, graph.Stores{}, graph.Invocation{ID: "inner", Correlation: "ci"})
		return nil, nil
	}, note))
	g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{ID: "outer", Correlation: "co", Session: "s"})
	g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{ID: "other", Correlation: "cx"})
	outer, in := graph.IDs{Invocation: "outer", Correlation: "co", Session: "s"},
		graph.IDs{Invocation: "inner", Correlation: "ci"}
	other := graph.IDs{Invocation: "other", Correlation: "cx"}
	if expected := []graph.IDs{outer, in, outer, other, in, other}; !slices.Equal(seen, expected) {
		t.Errorf("seen %v", seen)
	}
	if _, ok := graph.InvocationFrom(t.Context()); ok {
		t.Error("ids outside an invocation")
	}
}

func TestIdsMustBeURLSafe(t *testing.T) {
	g := compile(t, line(leave("a")))
	for id, ok := range map[core.InvocationID]bool{"a-b_c.d~1": true, "a/b": false, "a b": false, "ä": false} {
		res := g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{ID: id})
		if (res.Status == graph.Completed) != ok {
			t.Errorf("id %q: %s %v", id, res.Status, res.Err)
		}
	}
}
