package graph_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"gatehouse/core/graph"
)

// TestReportsComeInOrderWithTheEvents: an observer hears what a node emits between its start and its end, whatever
// phases it wants, and with the attempt; what is emitted outside of a running node is not heard.
func TestReportsComeInOrderWithTheEvents(t *testing.T) {
	var heard []string // of the one goroutine that delivers; read after the drain
	collect := graph.Observer{
		Name: "collect", Phases: []graph.Phase{graph.PhaseCompleted},
		On: func(_ context.Context, e graph.Event) error {
			heard = append(heard, fmt.Sprintf("%s %s %d", e.Phase, e.Node, e.Attempt))
			return nil
		},
		Hear: func(_ context.Context, r graph.Report) error {
			heard = append(heard, fmt.Sprint(r.Event, " ", r.Namespace, " ", r.Attempt))
			return nil
		},
	}
	deaf := graph.Observer{Name: "deaf", On: func(context.Context, graph.Event) error { return nil }}
	var late context.Context //nolint:containedctx // what a node leaves behind
	failed := false
	node := func(ctx context.Context, _ graph.State) (graph.Update, error) {
		graph.Emit(ctx, "one")
		late = ctx
		if !failed {
			failed = true
			return nil, errPlain
		}
		graph.Emit(ctx, 2)
		return nil, nil
	}
	again := func(ctx context.Context, s graph.State, next graph.Next) (graph.Update, error) {
		graph.Emit(ctx, "middleware")
		if u, err := next(ctx, s); err == nil {
			return u, nil
		}
		return next(ctx, s)
	}
	g := compile(t, line(graph.Node(node), leave("b")).Wrap("a", again).Observe(deaf, collect))
	graph.Emit(t.Context(), "outside")
	want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Completed)
	graph.Emit(late, "late")
	g.Drain(t.Context())
	expected := []string{"one [a] 0", "completed a 0", "one [a] 1", "2 [a] 1", "completed a 1", "completed b 0"}
	if !slices.Equal(heard, expected) {
		t.Errorf("heard %q", heard)
	}
}
