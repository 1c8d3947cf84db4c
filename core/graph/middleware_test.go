package graph_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

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

func TestMiddlewareRunsInOrderAndStaysInItsGraph(t *testing.T) {
	var log []string
	sub := inner("in", leave("x"), leave("y")).Use(logs(&log, "sub"))
	g := compile(t,
		around(t, sub).Use(logs(&log, "g1"), logs(&log, "g2")).Wrap("a", logs(&log, "n1"), logs(&log, "n2")))
	want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Completed)
	expected := []string{
		"g1 in", "g2 in", "n1 in", "n2 in", "n2 out", "n1 out", "g2 out", "g1 out",
		"g1 in", "g2 in", "sub in", "sub out", "sub in", "sub out", "g2 out", "g1 out",
		"g1 in", "g2 in", "g2 out", "g1 out",
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
		res := compile(t, line(fail).Use(tc.m)).Invoke(t.Context(), graph.Stores{}, graph.Invocation{})
		if count.Get(res.State) != tc.count || !errors.Is(res.Err, tc.err) {
			t.Errorf("%s: count %d, %v", name, count.Get(res.State), res.Err)
		}
	}
	res := want(t,
		compile(t, line(leave("a")).Use(func(context.Context, graph.State, graph.Next) (graph.Update, error) {
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
	retry := graph.Retry{Transient: func(error) bool { return true }}.Middleware()
	sub := inner("in", pause("x"), leave("y")).Use(stubborn)
	g := compile(t, around(t, sub).Wrap("sub", retry, stubborn))
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
		}).Use(m))
		res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
		wantCategory(t, res.Err, core.SuspensionUnsupportedContext)
		if ran {
			t.Errorf("%s: the node ran", name)
		}
	}
}

func TestRetry(t *testing.T) {
	for name, tc := range map[string]struct {
		errs  []error
		runs  int
		waits []time.Duration
		c     core.Category
	}{
		"at once": {nil, 1, nil, ""},
		"once": {
			[]error{core.Errorf(core.ProviderUnavailable, "x")}, 2, []time.Duration{500 * time.Millisecond}, "",
		},
		"wrapped": {
			[]error{fmt.Errorf("calling: %w", core.Errorf(core.ProviderRateLimit, "x"))}, 2,
			[]time.Duration{500 * time.Millisecond}, "",
		},
		"for good": {[]error{core.Errorf(core.ProviderAuthentication, "x")}, 1, nil, core.ProviderAuthentication},
		"plain":    {[]error{errPlain}, 1, nil, core.NodeException},
		"cancelled": {
			[]error{fmt.Errorf("%w: %w", core.Errorf(core.ProviderUnavailable, "x"), context.Canceled)}, 1, nil,
			core.ProviderUnavailable,
		},
		"all attempts": {[]error{
			core.Errorf(core.ProviderModelNotLoaded, "x"), core.Errorf(core.ProviderModelNotLoaded, "x"),
			core.Errorf(core.ProviderModelNotLoaded, "x"),
		}, 3, []time.Duration{500 * time.Millisecond, time.Second}, core.ProviderModelNotLoaded},
	} {
		t.Run(name, func(t *testing.T) {
			var e recorder
			var waits []time.Duration
			runs := 0
			r := graph.Retry{Random: func() float64 {
				return 0.5
			}, Wait: func(_ context.Context, d time.Duration) error {
				waits = append(waits, d)
				return nil
			}}
			g := compile(t, line(func(context.Context, graph.State) (graph.Update, error) {
				if runs++; runs <= len(tc.errs) {
					return nil, tc.errs[runs-1]
				}
				return nil, nil
			}).Wrap("a", r.Middleware()).Observe(e.observer("o")))
			res := g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{})
			wantCategory(t, res.Err, tc.c)
			g.Drain(t.Context())
			if runs != tc.runs || !slices.Equal(waits, tc.waits) || len(e.last) != 2*runs {
				t.Errorf("%d runs, waits %v, %d events", runs, waits, len(e.last))
			}
			for i, ev := range e.last {
				if ev.Attempt != i/2 || ev.Step != i/2 || (ev.Phase == graph.PhaseStarted) != (i%2 == 0) {
					t.Errorf("event %d: %s, attempt %d, step %d", i, ev.Phase, ev.Attempt, ev.Step)
				}
			}
		})
	}
}

func TestTransient(t *testing.T) {
	cause := core.Errorf(core.ProviderUnavailable, "x")
	once := &graph.Error{Category: core.NodeException, Err: cause}
	for err, expected := range map[error]bool{
		cause: true, once: true, &graph.Error{Category: core.NodeException, Err: once}: false, errPlain: false,
		&graph.Error{Category: core.ReducerError, Err: cause}:     false,
		&graph.Error{Category: core.NodeException, Err: errPlain}: false,
	} {
		if graph.Transient(err) != expected {
			t.Errorf("%v: %v", err, !expected)
		}
	}
}

func TestTheWaitOfARetryIsBounded(t *testing.T) {
	var waits []time.Duration
	r := graph.Retry{Attempts: 8, Random: func() float64 {
		return 1
	}, Wait: func(_ context.Context, d time.Duration) error {
		waits = append(waits, d)
		return nil
	}}
	g := compile(t, line(func(context.Context, graph.State) (graph.Update, error) {
		return nil, core.Errorf(core.ProviderUnavailable, "x")
	}).Use(r.Middleware()))
	want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
	s := time.Second
	if !slices.Equal(waits, []time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 30 * s, 30 * s}) {
		t.Errorf("waits %v", waits)
	}
}

// TestAKeptNodeKeepsItsAttempt: running the node again after a resume is no retry.
func TestAKeptNodeKeepsItsAttempt(t *testing.T) {
	var e recorder
	runs := 0
	r := graph.Retry{Wait: func(context.Context, time.Duration) error { return nil }}
	st := graph.Stores{Pauses: through{graph.NewMemory()}}
	g := compile(t, line(func(ctx context.Context, _ graph.State) (graph.Update, error) {
		switch runs++; runs {
		case 1:
			return nil, core.Errorf(core.ProviderUnavailable, "x")
		case 2:
			return nil, graph.Suspend(ctx, core.Descriptor{SignalID: "x"}, graph.KeepNode())
		}
		return nil, nil
	}).Use(r.Middleware()).Observe(e.observer("o")))
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
	g := compile(t, line(leave("a")).Use(func(context.Context, graph.State, graph.Next) (graph.Update, error) {
		runtime.Goexit()
		return nil, nil
	}))
	want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
	if _, err := line(leave("a")).Wrap("ghost", logs(nil, "x")).Compile(); core.CategoryOf(err) != core.Invalid {
		t.Errorf("middleware around nothing: %v", err)
	}
	if _, err := line(leave("a")).Use(nil).Compile(); core.CategoryOf(err) != core.Invalid {
		t.Errorf("no middleware: %v", err)
	}
}

func TestARetryWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		runs := 0
		fail := func(context.Context, graph.State) (graph.Update, error) {
			runs++
			return nil, core.Errorf(core.ProviderUnavailable, "x")
		}
		r := graph.Retry{Random: func() float64 { return 1 }}
		begin := time.Now()
		want(t, compile(t, line(fail).Use(r.Middleware())).Invoke(t.Context(), graph.Stores{}, graph.Invocation{}),
			graph.Errored)
		if took := time.Since(begin); took != 3*time.Second || runs != 3 {
			t.Errorf("%d runs in %s", runs, took)
		}
		stopped := core.Errorf(core.Stopped, "x")
		ctx, stop := context.WithCancelCause(t.Context())
		time.AfterFunc(500*time.Millisecond, func() { stop(stopped) })
		runs = 0
		res := want(t, compile(t, line(fail).Use(r.Middleware())).Invoke(ctx, graph.Stores{}, graph.Invocation{}),
			graph.Errored)
		if runs != 1 || !errors.Is(res.Err, stopped) {
			t.Errorf("%d runs, %v", runs, res.Err)
		}
	})
}
