package graph_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// logs is middleware that writes down when it is passed.
func logs(log *[]string, name string) graph.Middleware {
	return func(ctx context.Context, s graph.State, next graph.Next) (graph.Update, error) {
		*log = append(*log, name+" in")
		u, err := next(ctx, s)
		*log = append(*log, name+" out")
		return u, err
	}
}

// again is middleware that calls a node once more after a failure.
func again(ctx context.Context, s graph.State, next graph.Next) (graph.Update, error) {
	if u, err := next(ctx, s); err == nil {
		return u, nil
	}
	return next(ctx, s)
}

func TestMiddlewareRunsInOrderAndStaysInItsGraph(t *testing.T) {
	var log []string
	sub := inner("in", leave("x"), leave("y")).Wrap("x0", logs(&log, "x0")).Wrap("x1", logs(&log, "x1"))
	g := compile(t,
		around(t, sub).Wrap("sub", logs(&log, "s")).Wrap("a", logs(&log, "n1"), logs(&log, "n2")))
	want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Completed)
	expected := []string{
		"n1 in", "n2 in", "n2 out", "n1 out", "s in", "x0 in", "x0 out", "x1 in", "x1 out", "s out",
	}
	if !slices.Equal(log, expected) {
		t.Errorf("log %v", log)
	}
}

func TestMiddlewareMayAnswerRecoverAndChange(t *testing.T) {
	fail := func(context.Context, graph.State) (graph.Update, error) { return nil, errPlain }
	for name, tc := range map[string]struct {
		m     graph.Middleware
		count int
		err   error
	}{
		"answers": {func(context.Context, graph.State, graph.Next) (graph.Update, error) {
			return graph.Update{count.Set(1)}, nil
		}, 1, nil},
		"recovers": {func(ctx context.Context, s graph.State, next graph.Next) (graph.Update, error) {
			if _, err := next(ctx, s); err != nil {
				return graph.Update{count.Set(2)}, nil
			}
			return nil, nil
		}, 2, nil},
		"fails": {func(ctx context.Context, s graph.State, next graph.Next) (graph.Update, error) {
			_, err := next(ctx, s)
			return nil, fmt.Errorf("outside: %w", err)
		}, 0, errPlain},
	} {
		res := compile(t, line(fail).Wrap("a", tc.m)).Invoke(t.Context(), graph.Stores{}, graph.Invocation{})
		if count.Get(res.State) != tc.count || !errors.Is(res.Err, tc.err) {
			t.Errorf("%s: count %d, %v", name, count.Get(res.State), res.Err)
		}
	}
	res := want(t,
		compile(t, line(leave("a")).Wrap("a", func(context.Context, graph.State, graph.Next) (graph.Update, error) {
			panic("x")
		})).
			Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
	var p *graph.PanicError
	if !errors.As(res.Err, &p) {
		t.Errorf("%v", res.Err)
	}
}

// TestCodeAfterNextDoesNotRunOnASuspension: not even in middleware that recovers from everything, around a node or a
// subgraph.
func TestCodeAfterNextDoesNotRunOnASuspension(t *testing.T) {
	var log []string
	stubborn := func(ctx context.Context, s graph.State, next graph.Next) (u graph.Update, err error) {
		defer func() {
			if p := recover(); p != nil {
				log = append(log, "caught")
			}
			log = append(log, "let go")
		}()
		log = append(log, "in")
		u, err = next(ctx, s)
		log = append(log, "behind")
		return graph.Update{count.Set(9)}, nil
	}
	sub := inner("in", pause("x"), leave("y")).Wrap("x0", stubborn).Wrap("x1", stubborn)
	g := compile(t, around(t, sub).Wrap("sub", again, stubborn))
	res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Suspended)
	if !slices.Equal(log, []string{"in", "in", "let go", "let go"}) || count.Get(res.State) != 0 {
		t.Errorf("log %v, count %d", log, count.Get(res.State))
	}
	log = nil
	res = want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Resume: res.Invocation}), graph.Completed)
	if !slices.Equal(log, []string{"in", "in", "behind", "let go", "behind", "let go"}) || count.Get(res.State) != 9 {
		t.Errorf("log %v, count %d", log, count.Get(res.State))
	}
}

func TestMiddlewareCantSuspend(t *testing.T) {
	d := core.Descriptor{SignalID: "x"}
	for name, m := range map[string]graph.Middleware{
		"before": func(ctx context.Context, s graph.State, next graph.Next) (graph.Update, error) {
			return nil, graph.Suspend(ctx, d)
		},
		"before, ignored": func(ctx context.Context, s graph.State, next graph.Next) (graph.Update, error) {
			_ = graph.Suspend(ctx, d)
			_, _ = next(ctx, s)
			return nil, nil
		},
	} {
		ran := false
		g := compile(t, line(func(context.Context, graph.State) (graph.Update, error) {
			ran = true
			return nil, nil
		}).Wrap("a", m))
		res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
		wantCategory(t, res.Err, core.SuspensionUnsupportedContext)
		if ran {
			t.Errorf("%s: the node ran", name)
		}
	}
}

// TestAKeptNodeKeepsItsAttempt: running the node again after a resume is no retry.
func TestAKeptNodeKeepsItsAttempt(t *testing.T) {
	var e recorder
	runs := 0
	st := graph.Stores{Pauses: through{graph.NewMemory()}}
	g := compile(t, line(func(ctx context.Context, _ graph.State) (graph.Update, error) {
		switch runs++; runs {
		case 1:
			return nil, core.Errorf(core.ProviderUnavailable, "x")
		case 2:
			return nil, graph.Suspend(ctx, core.Descriptor{SignalID: "x"}, graph.KeepNode())
		}
		return nil, nil
	}).Wrap("a", again).Observe(e.observer("o")))
	res := want(t, g.Invoke(t.Context(), st, graph.Invocation{}), graph.Suspended)
	g.Drain(t.Context())
	want(t, g.Invoke(t.Context(), st, graph.Invocation{Resume: res.Invocation}), graph.Completed)
	g.Drain(t.Context())
	var got []string
	for _, ev := range e.last {
		got = append(got, fmt.Sprintf("%s %d", ev.Phase, ev.Attempt))
	}
	if !slices.Equal(got,
		[]string{"started 0", "completed 0", "started 1", "suspended 1", "started 1", "completed 1"}) {
		t.Errorf("events %v", got)
	}
}

// TestASecondSuccessEndsTheFirst: each call of next is an attempt, and each ends.
func TestASecondSuccessEndsTheFirst(t *testing.T) {
	var e recorder
	twice := func(ctx context.Context, s graph.State, next graph.Next) (graph.Update, error) {
		if _, err := next(ctx, s); err != nil {
			return nil, err
		}
		return next(context.Background(), s) // its own context does not cost the node its ids
	}
	g := compile(t, line(func(ctx context.Context, _ graph.State) (graph.Update, error) {
		if ids, ok := graph.InvocationFrom(ctx); !ok || ids.Invocation != "inv" {
			t.Errorf("ids %v", ids)
		}
		return graph.Update{trail.Set([]string{"x"})}, nil
	}).Wrap("a", twice).Observe(e.observer("o")))
	res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{ID: "inv"}), graph.Completed)
	g.Drain(t.Context())
	if len(e.last) != 4 || e.last[1].Phase != graph.PhaseCompleted || e.last[3].Attempt != 1 ||
		len(trail.Get(e.last[1].Post)) != 1 || len(trail.Get(res.State)) != 1 {
		t.Errorf("events %v", e.received)
	}
}

func TestMiddlewareThatEndsItsGoroutine(t *testing.T) {
	g := compile(t, line(leave("a")).Wrap("a", func(context.Context, graph.State, graph.Next) (graph.Update, error) {
		runtime.Goexit()
		return nil, nil
	}))
	want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
	if _, err := line(leave("a")).Wrap("ghost", logs(nil, "x")).Compile(); core.CategoryOf(err) != core.Invalid {
		t.Errorf("middleware around nothing: %v", err)
	}
	if _, err := line(leave("a")).Wrap("a", nil).Compile(); core.CategoryOf(err) != core.Invalid {
		t.Errorf("no middleware: %v", err)
	}
}
