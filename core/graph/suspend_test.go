package graph_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"gatehouse/core"
	"gatehouse/core/graph"
)

func TestAResumeContinuesAfterTheNode(t *testing.T) {
	st := newBroken()
	g := compile(t, line(leave("a"), pause("x"), leave("c")))
	first := want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{ID: "inv", Correlation: "cor", Session: "s"}),
		graph.Suspended)
	if first.Descriptor.SignalID != "x" || first.Node != "b" || !slices.Equal(first.Namespace, []string{"b"}) {
		t.Errorf("suspended at %q %v for %+v", first.Node, first.Namespace, first.Descriptor)
	}
	res := g.Invoke(t.Context(), st.stores(), graph.Invocation{
		ID: "other", Correlation: "other", Session: "other", Resume: "inv", Initial: graph.Update{count.Set(99)},
		Payload: payload(map[string]string{"approved": "true", "trail": `["new"]`, "ghost": "1"}),
	})
	want(t, res, graph.Completed)
	if got := trail.Get(res.State); !slices.Equal(got, []string{"new", "c"}) || !approved.Get(res.State) ||
		count.Get(res.State) != 0 {
		t.Errorf("trail %v, approved %v, count %d", got, approved.Get(res.State), count.Get(res.State))
	}
	if res.Invocation != "inv" || res.Correlation != "cor" || res.Session != "s" {
		t.Errorf("ids %q %q %q", res.Invocation, res.Correlation, res.Session)
	}
	again := want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Resume: "inv"}), graph.Errored)
	wantCategory(t, again.Err, core.SuspensionRecordInvalid)
	if again.Entry.Resumed {
		t.Error("the second resume took something up")
	}
}

func TestKeepNodeRunsItAgain(t *testing.T) {
	runs := 0
	ask := func(ctx context.Context, s graph.State) (graph.Update, error) {
		if runs++; approved.Get(s) {
			return graph.Update{trail.Set([]string{"asked"})}, nil
		}
		return nil, graph.Suspend(ctx, core.Descriptor{SignalID: "x"}, graph.KeepNode())
	}
	g := compile(t, line(ask, leave("b")))
	res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Suspended)
	res = want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Resume: res.Invocation}), graph.Suspended)
	res = want(t,
		g.Invoke(t.Context(), graph.Stores{},
			graph.Invocation{Resume: res.Invocation, Payload: payload(map[string]string{"approved": "true"})}),
		graph.Completed)
	if got := trail.Get(res.State); runs != 3 || !slices.Equal(got, []string{"asked", "b"}) {
		t.Errorf("%d runs, trail %v", runs, got)
	}
}

func TestASuspensionCountsWhateverTheNodeReturns(t *testing.T) {
	for name, node := range map[string]graph.Node{
		"swallowed": func(ctx context.Context, _ graph.State) (graph.Update, error) {
			_ = graph.Suspend(ctx, core.Descriptor{SignalID: "x"})
			return graph.Update{count.Set(5)}, nil
		},
		"another error": func(ctx context.Context, _ graph.State) (graph.Update, error) {
			_ = graph.Suspend(ctx, core.Descriptor{SignalID: "x"})
			return nil, errPlain
		},
		"twice": func(ctx context.Context, _ graph.State) (graph.Update, error) {
			_ = graph.Suspend(ctx, core.Descriptor{SignalID: "x"})
			return nil, graph.Suspend(ctx, core.Descriptor{SignalID: "y"}, graph.KeepNode())
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := compile(t, line(node, leave("b")))
			res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Suspended)
			if res.Descriptor.SignalID != "x" || count.Get(res.State) != 0 {
				t.Errorf("suspended for %q, count %d", res.Descriptor.SignalID, count.Get(res.State))
			}
		})
	}
}

func TestSuspendOutsideANode(t *testing.T) {
	d := core.Descriptor{SignalID: "x"}
	wantCategory(t, graph.Suspend(t.Context(), d), core.SuspensionUnsupportedContext)

	var late, inObserver error
	var kept context.Context
	inner := compile(t,
		line(leave("a")).Observe(graph.Observer{Name: "o", On: func(ctx context.Context, _ graph.Event) error {
			inObserver = graph.Suspend(ctx, d)
			return nil
		}}))
	g := compile(t, line(func(ctx context.Context, _ graph.State) (graph.Update, error) {
		kept = ctx
		inner.Invoke(ctx, graph.Stores{}, graph.Invocation{})
		inner.Drain(ctx)
		return nil, nil
	}, func(context.Context, graph.State) (graph.Update, error) {
		late = graph.Suspend(kept, d)
		return nil, nil
	}))
	want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Completed)
	wantCategory(t, late, core.SuspensionUnsupportedContext)
	wantCategory(t, inObserver, core.SuspensionUnsupportedContext)
}

func TestAnInvalidDescriptorIsRefused(t *testing.T) {
	for name, d := range map[string]core.Descriptor{
		"no signal": {}, "metadata": {SignalID: "x", Metadata: map[string]any{"f": func() {}}},
	} {
		g := compile(t, line(func(ctx context.Context, _ graph.State) (graph.Update, error) {
			return nil, graph.Suspend(ctx, d)
		}))
		res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{}), graph.Errored)
		if core.CategoryOf(res.Err) != core.Invalid {
			t.Errorf("%s: %v", name, res.Err)
		}
	}
}

func TestMetadataIsReturnedUnchanged(t *testing.T) {
	meta := map[string]any{"n": 3, "deep": map[string]any{"list": []any{1.5, "x", nil}}}
	g := compile(t, line(func(ctx context.Context, _ graph.State) (graph.Update, error) {
		err := graph.Suspend(ctx, core.Descriptor{SignalID: "x", Metadata: meta})
		meta["n"] = 4
		return nil, err
	}))
	m := graph.NewMemory()
	res := want(t, g.Invoke(t.Context(), graph.Stores{Pauses: m}, graph.Invocation{}), graph.Suspended)
	rec, err := m.BySignal(t.Context(), "x")
	if err != nil || rec == nil || rec.Invocation != res.Invocation {
		t.Fatalf("by signal: %v %v", rec, err)
	}
	for _, got := range []map[string]any{res.Descriptor.Metadata, rec.Descriptor.Metadata} {
		if got["n"] != 3 || got["deep"].(map[string]any)["list"].([]any)[1] != "x" {
			t.Errorf("metadata %v", got)
		}
	}
}

func TestAPauseIsStoredCompletelyOrNotAtAll(t *testing.T) {
	for name, fail := range map[string]func(*broken){
		"pause": func(b *broken) { b.pause = errPlain },
		"save":  func(b *broken) { b.save = errPlain },
	} {
		t.Run(name, func(t *testing.T) {
			st := newBroken()
			fail(st)
			stores := st.stores()
			if name == "save" {
				stores.Pauses = nil // the graph's own: it saves the session first
			}
			var received []graph.Phase
			g := compile(t,
				talk(pause("x"), answer("hi")).Observe(graph.Observer{On: func(_ context.Context, e graph.Event) error {
					received = append(received, e.Phase)
					return nil
				}}))
			res := want(t, g.Invoke(t.Context(), stores, graph.Invocation{Session: "s", Initial: tell("yo")}),
				graph.Errored)
			wantCategory(t, res.Err, core.SuspensionPersistenceFailed)
			g.Drain(t.Context())
			if !slices.Equal(received, []graph.Phase{graph.PhaseStarted, graph.PhaseCompleted}) {
				t.Errorf("events %v", received)
			}
			st.pause, st.save = nil, nil
			again := want(t, g.Invoke(t.Context(), stores, graph.Invocation{Resume: res.Invocation}), graph.Errored)
			wantCategory(t, again.Err, core.SuspensionRecordInvalid)
			if rec, _ := st.Memory.Load(t.Context(), "s"); rec != nil {
				t.Errorf("the session was saved: %+v", rec)
			}
		})
	}
}

func TestAnInvalidPayloadConsumesNothing(t *testing.T) {
	st := newBroken()
	g := compile(t, talk(pause("x"), answer("hi")))
	res := want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Session: "s", Initial: tell("yo")}),
		graph.Suspended)
	for name, p := range map[string]string{
		"approved": `"yes"`, "count": `1.5`, "trail": `[1]`, "messages": `[]`, "": ``,
	} {
		if name == "" {
			continue
		}
		bad := want(t,
			g.Invoke(t.Context(), st.stores(),
				graph.Invocation{Resume: res.Invocation, Payload: payload(map[string]string{name: p})}), graph.Errored)
		wantCategory(t, bad.Err, core.SuspensionPayloadInvalid)
	}
	for _, p := range []string{`null`, `{`, ``, `true true`} {
		bad := want(t,
			g.Invoke(t.Context(), st.stores(),
				graph.Invocation{Resume: res.Invocation, Payload: payload(map[string]string{"approved": p})}),
			graph.Errored)
		wantCategory(t, bad.Err, core.SuspensionPayloadInvalid)
	}
	want(t,
		g.Invoke(t.Context(), st.stores(),
			graph.Invocation{Resume: res.Invocation, Payload: payload(map[string]string{"approved": "true"})}),
		graph.Completed)
}

func TestMessagesDuringAPauseAreNeitherLostNorDoubled(t *testing.T) {
	st := newBroken()
	g := compile(t, talk(answer("shall I?"), pause("x"), answer("done"), pause("y"), answer("bye")))
	chat := compile(t, talk(answer("sure")))
	speak := func(id core.InvocationID) {
		want(t,
			chat.Invoke(t.Context(), st.stores(), graph.Invocation{ID: id, Session: "s", Initial: tell("meanwhile")}),
			graph.Completed)
	}
	res := want(t,
		g.Invoke(t.Context(), st.stores(), graph.Invocation{ID: "inv", Session: "s", Initial: tell("do it")}),
		graph.Suspended)
	speak("m1")
	res = want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Resume: res.Invocation}), graph.Suspended)
	if res.FirstNew != 4 {
		t.Errorf("mark %d", res.FirstNew)
	}
	rec, _ := st.Paused(t.Context(), "inv")
	if rec.Messages != 3 || rec.Frames[0].State["messages"] != nil {
		t.Errorf("record: %d messages, state %v", rec.Messages, rec.Frames[0].State)
	}
	speak("m2")
	res = want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Resume: res.Invocation}), graph.Completed)
	stored, _ := st.Memory.Load(t.Context(), "s")
	expected := []string{"do it", "shall I?", "meanwhile", "sure", "done", "meanwhile", "sure", "bye"}
	if got := texts(t, *stored.Messages); !slices.Equal(got, expected) || res.FirstNew != 7 {
		t.Errorf("history %v, mark %d", got, res.FirstNew)
	}
}

func TestASegmentThatRunsAgainReplacesItsRows(t *testing.T) {
	st := newBroken()
	g := compile(t, talk(answer("shall I?"), pause("x"), answer("done")))
	res := want(t,
		g.Invoke(t.Context(), st.stores(), graph.Invocation{ID: "inv", Session: "s", Initial: tell("do it")}),
		graph.Suspended)
	rec, _ := st.Paused(t.Context(), res.Invocation)
	for range 2 { // the process died after the first end, and the record came back with the transaction that never was
		want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Resume: "inv"}), graph.Completed)
		if err := st.Memory.Pause(t.Context(), rec, nil); err != nil {
			t.Fatal(err)
		}
	}
	stored, _ := st.Memory.Load(t.Context(), "s")
	if got := texts(t, *stored.Messages); !slices.Equal(got, []string{"do it", "shall I?", "done"}) {
		t.Errorf("history %v", got)
	}
}

func TestOnlyACompatibleGraphResumes(t *testing.T) {
	double := func(m map[string]any) (map[string]any, error) {
		m["count"] = m["count"].(int64) * 2
		return m, nil
	}
	build := func(name, version, schema string) *graph.Builder {
		return graph.New(name, version).SchemaVersion(schema).Fields(count.Default(4), trail).
			Node("gate", pause("x")).Node("after", leave("after")).Entry("gate").Edge("gate",
			"after").Edge("after", graph.END)
	}
	for name, tc := range map[string]struct {
		b        *graph.Builder
		category core.Category
		count    int
	}{
		"the same":      {build("g", "1", "s1"), "", 4},
		"another name":  {build("h", "1", "s1"), core.SuspensionRecordInvalid, 0},
		"a new version": {build("g", "2", "s1"), core.SuspensionRecordInvalid, 0},
		"a new schema":  {build("g", "1", "s2"), core.SuspensionRecordInvalid, 0},
		"migrated":      {build("g", "2", "s2").Migrate("s1", "s2", double), "", 8},
		"the migration fails": {build("g", "2", "s2").Migrate("s1", "s2", func(map[string]any) (map[string]any, error) {
			return nil, errPlain
		}), core.MigrationFailed, 0},
		"the node is gone": {graph.New("g", "1").SchemaVersion("s1").Fields(count, trail).Node("a",
			leave("a")).Entry("a").Edge("a", graph.END), core.SuspensionRecordInvalid, 0},
		"the field is another": {graph.New("g",
			"1").SchemaVersion("s1").Fields(graph.Field("count", graph.Replace[string]())).Node("gate",
			leave("a")).Entry("gate").Edge("gate", graph.END), core.SuspensionRecordInvalid, 0},
		"the edge leads nowhere": {graph.New("g", "1").SchemaVersion("s1").Fields(count, trail).Node("gate",
			leave("a")).Entry("gate").
			Route("gate", func(graph.State) (string, error) { return "ghost", nil }), core.RoutingError, 0},
	} {
		t.Run(name, func(t *testing.T) {
			st := newBroken()
			first := want(t, compile(t, build("g", "1", "s1")).Invoke(t.Context(), st.stores(), graph.Invocation{}),
				graph.Suspended)
			res := compile(t, tc.b).Invoke(t.Context(), st.stores(), graph.Invocation{Resume: first.Invocation})
			wantCategory(t, res.Err, tc.category)
			if tc.category == "" && (res.Status != graph.Completed || count.Get(res.State) != tc.count) {
				t.Errorf("%s, count %d", res.Status, count.Get(res.State))
			}
			if tc.category == core.SuspensionRecordInvalid && core.MessageOf(res.Err) == "" {
				t.Errorf("no sentence: %v", res.Err)
			}
			rec, _ := st.Paused(t.Context(), first.Invocation)
			if kept := tc.category != "" && tc.category != core.RoutingError; (rec != nil) != kept {
				t.Errorf("the record is there: %v", rec != nil)
			}
		})
	}
}

func TestOfTwoResumesOneWins(t *testing.T) {
	st := newBroken()
	g := compile(t, line(pause("x"), leave("b")))
	res := want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{}), graph.Suspended)
	results := make(chan graph.Result)
	for range 8 {
		go func() { results <- g.Invoke(t.Context(), st.stores(), graph.Invocation{Resume: res.Invocation}) }()
	}
	won := 0
	for range 8 {
		if r := <-results; r.Status == graph.Completed {
			won++
		} else if core.CategoryOf(r.Err) != core.SuspensionRecordInvalid {
			t.Errorf("the loser: %v", r.Err)
		}
	}
	if won != 1 {
		t.Errorf("%d resumes won", won)
	}
}

func TestAStoppedPauseIsNoPersistenceFailure(t *testing.T) {
	lost := core.Errorf(core.ClaimLost, "x")
	ctx, stop := context.WithCancelCause(t.Context())
	st := newBroken()
	st.pause = errors.New("the context is done")
	g := compile(t, line(func(ctx context.Context, _ graph.State) (graph.Update, error) {
		stop(lost)
		return nil, graph.Suspend(ctx, core.Descriptor{SignalID: "x"})
	}))
	res := want(t, g.Invoke(ctx, st.stores(), graph.Invocation{}), graph.Errored)
	wantCategory(t, res.Err, core.ClaimLost)
}
