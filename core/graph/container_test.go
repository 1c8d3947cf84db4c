package graph_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gatehouse/core"
	"gatehouse/core/graph"
)

var (
	items    = graph.Field("items", graph.Replace[[]int]())
	item     = graph.Field("item", graph.Replace[int]())
	result   = graph.Field("result", graph.Replace[int]())
	results  = graph.Field("results", graph.Append[int]())
	failures = graph.Typed("failures", graph.ListType(graph.AnyType()), graph.Untyped(graph.Append[any]()))
)

// each is a graph that works on one item.
func each(t *testing.T, n graph.Node) *graph.Graph {
	t.Helper()
	return compile(t, graph.New("leaf", "1").Fields(item, result).Entry("work").Node("work", n).Edge("work", graph.END))
}

func times(n int) graph.Node {
	return func(_ context.Context, s graph.State) (graph.Update, error) {
		return graph.Update{result.Set(n * item.Get(s))}, nil
	}
}

// over is a graph that fans out over its items and then leaves "c".
func over(t *testing.T, leaf *graph.Graph, change func(*graph.FanOut)) *graph.Builder {
	t.Helper()
	f := graph.FanOut{Graph: leaf, Items: "items", Item: "item", Outputs: map[string]string{"results": "result"}}
	if change != nil {
		change(&f)
	}
	return graph.New("outer", "1").Fields(items.Default([]int{1, 2, 3}), results, failures, trail, count,
		approved).Entry("fan").
		FanOut("fan", f).Node("c", leave("c")).Edge("fan", "c").Edge("c", graph.END)
}

func TestAFanOutMergesInTheOrderOfItsItems(t *testing.T) {
	var e recorder
	turn := make([]chan struct{}, 4)
	for i := range turn {
		turn[i] = make(chan struct{})
	}
	close(turn[3])
	leaf := each(t, func(ctx context.Context, s graph.State) (graph.Update, error) {
		n := item.Get(s)
		<-turn[n] // the last item is done first
		defer close(turn[n-1])
		return times(10)(ctx, s)
	})
	g := compile(t, over(t, leaf, nil).Observe(e.observer("o")))
	res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Completed)
	if !slices.Equal(results.Get(res.State), []int{10, 20, 30}) {
		t.Errorf("results %v", results.Get(res.State))
	}
	g.Drain(t.Context())
	seen := map[string]int{}
	for i, ev := range e.last {
		index := "-"
		if ev.FanOutIndex != nil {
			index = fmt.Sprint(*ev.FanOutIndex)
			if item.Get(ev.Pre) != *ev.FanOutIndex+1 {
				t.Errorf("item %d is instance %d", item.Get(ev.Pre), *ev.FanOutIndex)
			}
		}
		seen[fmt.Sprintf("%s %s %s", strings.Join(ev.Namespace, "/"), index, ev.Phase)]++
		if len(ev.Parents) != len(ev.Namespace)-1 || i > 0 && ev.Phase == graph.PhaseStarted && ev.Step == 0 {
			t.Errorf("event %d: %d parents, step %d", i, len(ev.Parents), ev.Step)
		}
	}
	for _, k := range []string{"fan -", "fan/work 0", "fan/work 1", "fan/work 2", "c -"} {
		if seen[k+" started"] != 1 || seen[k+" completed"] != 1 || len(seen) != 10 {
			t.Errorf("events %v", seen)
		}
	}
}

func TestAFanOutFailsFastOrCollects(t *testing.T) {
	leaf := each(t, func(ctx context.Context, s graph.State) (graph.Update, error) {
		if item.Get(s) == 2 {
			return nil, core.Errorf(core.ProviderRateLimit, "slow down")
		}
		return times(1)(ctx, s)
	})
	res := want(t, compile(t, over(t, leaf, nil)).Invoke(t.Context(), graph.Stores{}, graph.Invocation{}),
		graph.Errored)
	wantCategory(t, res.Err, core.ProviderRateLimit)
	if !slices.Equal(res.Namespace, []string{"fan", "work"}) || len(results.Get(res.State)) != 0 {
		t.Errorf("at %v, results %v", res.Namespace, results.Get(res.State))
	}
	g := compile(t, over(t, leaf, func(f *graph.FanOut) {
		f.Policy, f.Errors, f.Concurrency = graph.Collect, "failures", 1
	}))
	res = want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Completed)
	collected := failures.Get(res.State).([]any)
	if !slices.Equal(results.Get(res.State), []int{1, 3}) || len(collected) != 1 {
		t.Fatalf("results %v, failures %v", results.Get(res.State), collected)
	}
	if f := collected[0].(dict); f[graph.FailureIndex] != int64(1) ||
		f[graph.FailureCategory] != "provider_rate_limit" || f[graph.FailureMessage] != "slow down" {
		t.Errorf("failure %v", f)
	}
}

func TestAFailureCancelsTheOtherInstances(t *testing.T) {
	var cancelled atomic.Int32
	leaf := each(t, func(ctx context.Context, s graph.State) (graph.Update, error) {
		if item.Get(s) == 1 {
			return nil, errPlain
		}
		<-ctx.Done()
		cancelled.Add(1)
		return nil, ctx.Err()
	})
	res := want(t, compile(t, over(t, leaf, nil)).Invoke(t.Context(), graph.Stores{}, graph.Invocation{}),
		graph.Errored)
	wantCategory(t, res.Err, core.NodeException)
	if cancelled.Load() > 2 {
		t.Errorf("%d were cancelled", cancelled.Load())
	}
}

func TestNoMoreThanTheConcurrencyRunAtOnce(t *testing.T) {
	var now, most atomic.Int32
	leaf := each(t, func(context.Context, graph.State) (graph.Update, error) {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		now.Add(-1)
		return nil, nil
	})
	many := make([]int, 50)
	for limit, expected := range map[int]int32{0: graph.DefaultConcurrency, 2: 2} {
		most.Store(0)
		g := compile(t, over(t, leaf, func(f *graph.FanOut) { f.Concurrency = limit }))
		want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Initial: graph.Update{items.Set(many)}}),
			graph.Completed)
		if most.Load() > expected {
			t.Errorf("limit %d: %d ran at once", limit, most.Load())
		}
	}
}

func TestAFanOutOverNothing(t *testing.T) {
	none := graph.Invocation{Initial: graph.Update{items.Set(nil)}}
	res := want(t, compile(t, over(t, each(t, times(1)), nil)).Invoke(t.Context(), graph.Stores{}, none), graph.Errored)
	wantCategory(t, res.Err, core.FanOutEmpty)
	want(t, compile(t, over(t, each(t, times(1)), func(f *graph.FanOut) {
		f.EmptyIsFine = true
	})).Invoke(t.Context(), graph.Stores{}, none), graph.Completed)
}

func TestContainersAreCheckedWhenCompiled(t *testing.T) {
	leaf := each(t, times(1))
	for name, change := range map[string]func(*graph.FanOut){
		"items":  func(f *graph.FanOut) { f.Items = "ghost" },
		"item":   func(f *graph.FanOut) { f.Item = "" },
		"output": func(f *graph.FanOut) { f.Outputs = map[string]string{"results": "ghost"} },
		"errors": func(f *graph.FanOut) { f.Errors = "ghost" },
	} {
		if _, err := over(t, leaf, change).Compile(); core.CategoryOf(err) != core.MappingUndeclaredField {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, p := range map[string]graph.Branches{
		"none": {}, "twice": {Branches: []graph.Branch{{Name: "a", Graph: leaf}, {Name: "a", Graph: leaf}}},
		"no graph": {Branches: []graph.Branch{{Name: "a"}}},
	} {
		if _, err := graph.New("g", "1").Branches("b", p).Entry("b").Edge("b",
			graph.END).Compile(); core.CategoryOf(err) != core.Invalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// askFor suspends on one item, once the others are done.
func askFor(n int, done chan struct{}, opts ...graph.SuspendOption) graph.Node {
	return func(ctx context.Context, s graph.State) (graph.Update, error) {
		if item.Get(s) == n {
			for range 2 {
				<-done
			}
			return nil,
				graph.Suspend(ctx, core.Descriptor{SignalID: "x", Metadata: map[string]any{"kind": "k"}}, opts...)
		}
		defer func() { done <- struct{}{} }()
		return times(1)(ctx, s)
	}
}

func TestAnInstanceThatSuspendsSuspendsTheFanOut(t *testing.T) {
	var e recorder
	g := compile(t, over(t, each(t, askFor(2, make(chan struct{}, 2))), func(f *graph.FanOut) {
		f.Concurrency = 3
	}).Observe(e.observer("o")))
	res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Suspended)
	if m := res.Descriptor.Metadata; m["fan_out_index"] != int64(1) || m["kind"] != "k" ||
		!slices.Equal(res.Namespace, []string{"fan", "work"}) {
		t.Errorf("suspended at %v with %v", res.Namespace, m)
	}
	g.Drain(t.Context())
	suspended := 0
	for _, ev := range e.last {
		if ev.Phase == graph.PhaseSuspended {
			suspended++
			if ev.Descriptor.Metadata["fan_out_index"] != int64(1) {
				t.Errorf("descriptor %v", ev.Descriptor)
			}
		}
	}
	if suspended != 2 { // the node's and the container's
		t.Errorf("%d suspended events", suspended)
	}
	res = want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Resume: res.Invocation}), graph.Completed)
	if got := results.Get(res.State); len(got) != 0 || len(trail.Get(res.State)) != 1 {
		t.Errorf("results %v", got)
	}
}

// TestSiblingsOfASuspensionContributeNothing: not even those that had ended before it, so that a pause does not depend
// on who was quicker.
func TestSiblingsOfASuspensionContributeNothing(t *testing.T) {
	fan := func(concurrency int) *graph.Builder {
		leaf := each(t, func(ctx context.Context, s graph.State) (graph.Update, error) {
			if item.Get(s) == 2 {
				return nil, graph.Suspend(ctx, core.Descriptor{SignalID: "x"})
			}
			return times(1)(ctx, s)
		})
		return over(t, leaf, func(f *graph.FanOut) { f.Concurrency = concurrency })
	}
	ended := make(chan struct{})
	last := func(ctx context.Context, _ graph.State) (graph.Update, error) {
		<-ended
		return nil, graph.Suspend(ctx, core.Descriptor{SignalID: "x"})
	}
	quick := branchesOf(t, graph.FailFast, leave("a"),
		last).Observe(graph.Observer{Name: "o", On: func(_ context.Context, e graph.Event) error {
		if e.Branch == "b0" && e.Phase == graph.PhaseCompleted {
			close(ended)
		}
		return nil
	}})
	for name, b := range map[string]*graph.Builder{
		"one after another": fan(1), "side by side": fan(3), "branches": quick,
	} {
		t.Run(name, func(t *testing.T) {
			g, st := compile(t, b), through{graph.NewMemory()}
			res := want(t, g.Invoke(t.Context(), graph.Stores{Pauses: st}, graph.Invocation{}), graph.Suspended)
			if len(results.Get(res.State)) != 0 || len(trail.Get(res.State)) != 0 {
				t.Errorf("the pause holds results %v, trail %v", results.Get(res.State), trail.Get(res.State))
			}
			res = want(t, g.Invoke(t.Context(), graph.Stores{Pauses: st}, graph.Invocation{Resume: res.Invocation}),
				graph.Completed)
			if len(results.Get(res.State)) != 0 || !slices.Equal(trail.Get(res.State), []string{"c"}) {
				t.Errorf("resumed to results %v, trail %v", results.Get(res.State), trail.Get(res.State))
			}
		})
	}
}

func TestCollectDoesNotSuspend(t *testing.T) {
	leaf := each(t, func(ctx context.Context, s graph.State) (graph.Update, error) {
		_ = graph.Suspend(ctx, core.Descriptor{SignalID: "x"})
		return nil, nil
	})
	nested := compile(t,
		graph.New("nested", "1").Fields(item, result).Entry("s").Subgraph("s", leaf).Edge("s", graph.END))
	for _, l := range []*graph.Graph{leaf, nested} {
		res := want(t, compile(t, over(t, l, func(f *graph.FanOut) {
			f.Policy = graph.Collect
		})).Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
		wantCategory(t, res.Err, core.SuspensionUnsupportedContext)
	}
}

// branchesOf is a graph of branches, each of which leaves its name.
func branchesOf(t *testing.T, policy graph.Policy, nodes ...graph.Node) *graph.Builder {
	t.Helper()
	p := graph.Branches{Policy: policy, Errors: "failures"}
	for i, n := range nodes {
		p.Branches = append(p.Branches,
			graph.Branch{Name: fmt.Sprintf("b%d", i), Graph: compile(t, inner("in", n)), Project: graph.Projection{
				Inputs:  map[string]string{"count": "count"},
				Outputs: map[string]string{"trail": "trail", "count": "count"},
			}})
	}
	return graph.New("outer", "1").Fields(count, trail, approved, failures).Entry("par").
		Branches("par", p).Node("c", leave("c")).Edge("par", "c").Edge("c", graph.END)
}

func TestBranchesSeeOneStateAndAreMergedAsDeclared(t *testing.T) {
	second := make(chan struct{})
	add := func(name string, n int, before, after chan struct{}) graph.Node {
		return func(_ context.Context, s graph.State) (graph.Update, error) {
			if before != nil {
				<-before
			}
			if after != nil {
				close(after)
			}
			return graph.Update{trail.Set([]string{name}), count.Set(count.Get(s) + n)}, nil
		}
	}
	var e recorder
	g := compile(t,
		branchesOf(t, graph.FailFast, add("x", 1, second, nil), add("y", 10, nil, second)).Observe(e.observer("o")))
	res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Initial: graph.Update{count.Set(5)}}),
		graph.Completed)
	if got := strings.Join(trail.Get(res.State), " "); got != "x y c" || count.Get(res.State) != 15 {
		t.Errorf("trail %s, count %d", got, count.Get(res.State))
	}
	g.Drain(t.Context())
	seen := map[string]int{}
	for _, ev := range e.last {
		seen[ev.Branch+":"+strings.Join(ev.Namespace, "/")]++
	}
	if len(seen) != 4 || seen["b0:par/x0"] != 2 || seen["b1:par/x0"] != 2 || seen[":par"] != 2 || seen[":c"] != 2 {
		t.Errorf("events %v", seen)
	}
}

func TestABranchThatFailsOrSuspends(t *testing.T) {
	fail := func(context.Context, graph.State) (graph.Update, error) {
		return nil, core.Errorf(core.ProviderUnavailable, "gone")
	}
	res := want(t,
		compile(t, branchesOf(t, graph.FailFast, fail, leave("y"))).Invoke(t.Context(), graph.Stores{},
			graph.Invocation{}), graph.Errored)
	wantCategory(t, res.Err, core.ProviderUnavailable)
	res = want(t,
		compile(t, branchesOf(t, graph.Collect, fail, leave("y"))).Invoke(t.Context(), graph.Stores{},
			graph.Invocation{}), graph.Completed)
	if collected := failures.Get(res.State).([]any); len(collected) != 1 ||
		collected[0].(dict)[graph.FailureBranch] != "b0" || !slices.Equal(trail.Get(res.State), []string{"y", "c"}) {
		t.Errorf("failures %v, trail %v", collected, trail.Get(res.State))
	}
	g := compile(t, branchesOf(t, graph.FailFast, pause("x"), leave("y")))
	res = want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Suspended)
	if res.Descriptor.Metadata["branch_name"] != "b0" || res.Namespace[0] != "par" {
		t.Errorf("suspended at %v with %v", res.Namespace, res.Descriptor)
	}
	want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Resume: res.Invocation}), graph.Completed)
	res = want(t,
		compile(t, branchesOf(t, graph.Collect, pause("x"), leave("y"))).Invoke(t.Context(), graph.Stores{},
			graph.Invocation{}), graph.Errored)
	wantCategory(t, res.Err, core.SuspensionUnsupportedContext)
}

func TestAKeptNodeInAContainerRunsTheContainerAgain(t *testing.T) {
	ask := func(ctx context.Context, s graph.State) (graph.Update, error) {
		if !approved.Get(s) {
			return nil, graph.Suspend(ctx, core.Descriptor{SignalID: "x"}, graph.KeepNode())
		}
		return graph.Update{trail.Set([]string{"yes"})}, nil
	}
	sub := compile(t, inner("in", ask))
	in := graph.Projection{Inputs: map[string]string{"approved": "approved"}}
	g := compile(t,
		graph.New("outer", "1").Fields(trail, approved).Entry("par").Branches("par",
			graph.Branches{Branches: []graph.Branch{
				{Name: "a", Graph: compile(t, inner("in", leave("a")))}, {Name: "b", Graph: sub, Project: in},
			}}).Edge("par", graph.END))
	res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Suspended)
	res = want(t,
		g.Invoke(t.Context(), graph.Stores{},
			graph.Invocation{Resume: res.Invocation, Payload: payload(map[string]string{"approved": "true"})}),
		graph.Completed)
	if got := strings.Join(trail.Get(res.State), " "); got != "a yes" {
		t.Errorf("trail %s", got)
	}
}

func TestAResumeContinuesAfterAContainerInASubgraph(t *testing.T) {
	sub := over(t, each(t, askFor(2, make(chan struct{}, 2))), func(f *graph.FanOut) { f.Concurrency = 3 })
	build := graph.New("top", "1").Fields(results, trail).Entry("s").Subgraph("s", compile(t, sub)).Node("z",
		leave("z")).Edge("s", "z").Edge("z", graph.END)
	g := compile(t, build)
	st := through{graph.NewMemory()}
	res := want(t, g.Invoke(t.Context(), graph.Stores{Pauses: st}, graph.Invocation{}), graph.Suspended)
	if !slices.Equal(res.Namespace, []string{"s", "fan", "work"}) ||
		res.Descriptor.Metadata["fan_out_index"] != int64(1) {
		t.Errorf("suspended at %v with %v", res.Namespace, res.Descriptor.Metadata)
	}
	res = want(t, g.Invoke(t.Context(), graph.Stores{Pauses: st}, graph.Invocation{Resume: res.Invocation}),
		graph.Completed)
	if got := results.Get(res.State); len(got) != 0 || strings.Join(trail.Get(res.State), " ") != "c z" {
		t.Errorf("results %v, trail %v", got, trail.Get(res.State))
	}
}

// TestAFailedPauseIsReportedByAllAttempts: each attempt on the way of a suspension that failed ends with that failure.
func TestAFailedPauseIsReportedByAllAttempts(t *testing.T) {
	var e recorder
	st := newBroken()
	st.pause = errPlain
	g := compile(t, over(t, each(t, askFor(2, make(chan struct{}, 2))), func(f *graph.FanOut) {
		f.Concurrency = 3
	}).Observe(e.observer("o")))
	res := want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{}), graph.Errored)
	wantCategory(t, res.Err, core.SuspensionPersistenceFailed)
	g.Drain(t.Context())
	failed := 0
	for _, ev := range e.last {
		if ev.Phase == graph.PhaseSuspended {
			t.Errorf("%v is reported as suspended", ev.Namespace)
		}
		if ev.Err != nil {
			failed++
		}
	}
	if failed != 2 || len(e.last) != 8 {
		t.Errorf("%d of %d events tell of a failure", failed, len(e.last))
	}
}

func TestAnEndedContextEndsAContainer(t *testing.T) {
	for _, policy := range []graph.Policy{graph.FailFast, graph.Collect} {
		lost := core.Errorf(core.ClaimLost, "x")
		ctx, stop := context.WithCancelCause(t.Context())
		leaf := each(t, func(ctx context.Context, _ graph.State) (graph.Update, error) {
			stop(lost)
			<-ctx.Done()
			return nil, ctx.Err()
		})
		res := want(t, compile(t, over(t, leaf, func(f *graph.FanOut) {
			f.Policy = policy
		})).Invoke(ctx, graph.Stores{}, graph.Invocation{}), graph.Errored)
		wantCategory(t, res.Err, core.ClaimLost)
	}
}

// TestTheFirstOfTwoSuspendingInstancesCounts: the other one's attempt ends as a failure, and both have an end.
func TestTheFirstOfTwoSuspendingInstancesCounts(t *testing.T) {
	var e recorder
	var both sync.WaitGroup
	both.Add(2)
	g := compile(t, over(t, each(t, func(ctx context.Context, _ graph.State) (graph.Update, error) {
		both.Done()
		both.Wait()
		return nil, graph.Suspend(ctx, core.Descriptor{SignalID: "x"})
	}), nil).Observe(e.observer("o")))
	res := want(t,
		g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Initial: graph.Update{items.Set([]int{1, 2})}}),
		graph.Suspended)
	g.Drain(t.Context())
	ends := map[string]int{}
	for _, ev := range e.last {
		if ev.Phase == graph.PhaseStarted {
			continue
		}
		index := "-"
		if ev.FanOutIndex != nil {
			index = fmt.Sprint(*ev.FanOutIndex)
			if item.Get(ev.Pre) != *ev.FanOutIndex+1 {
				t.Errorf("item %d is instance %d", item.Get(ev.Pre), *ev.FanOutIndex)
			}
		}
		ends[fmt.Sprintf("%s %s failed=%v", index, ev.Phase, ev.Err != nil)]++
	}
	first := res.Descriptor.Metadata["fan_out_index"].(int64)
	if len(e.last) != 6 || ends[fmt.Sprintf("%d suspended failed=false", first)] != 1 ||
		ends[fmt.Sprintf("%d completed failed=true", 1-first)] != 1 || ends["- suspended failed=false"] != 1 {
		t.Errorf("ends %v", ends)
	}
}

// TestAPauseIgnoresResultsThatDoNotFit: what the other instances came to is not merged, so it can't fail the pause.
func TestAPauseIgnoresResultsThatDoNotFit(t *testing.T) {
	full := graph.Field("results", graph.NewReducer("full", func(prior, update []int) ([]int, error) {
		return nil, errPlain
	}))
	leaf := each(t, askFor(2, make(chan struct{}, 2)))
	g := compile(t, graph.New("outer", "1").Fields(items.Default([]int{1, 2, 3}), full).Entry("fan").
		FanOut("fan",
			graph.FanOut{
				Graph: leaf, Items: "items", Item: "item", Outputs: map[string]string{"results": "result"},
			}).Edge("fan", graph.END))
	res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Suspended)
	want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Resume: res.Invocation}), graph.Completed)
}
