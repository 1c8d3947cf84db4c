package graph_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"testing"

	"gatehouse/core"
	"gatehouse/core/graph"
)

func answer(text string) graph.Node {
	return func(context.Context, graph.State) (graph.Update, error) {
		return graph.Update{graph.Messages.Add(say(core.Assistant, text))}, nil
	}
}

// talk is a graph that answers once.
func talk(nodes ...graph.Node) *graph.Builder { return line(nodes...).Fields(graph.Messages) }

func tell(text string) graph.Update { return graph.Update{graph.Messages.Add(say(core.User, text))} }

func TestASessionContinuesWithItsStoredState(t *testing.T) {
	g := compile(t, talk(answer("hi"), leave("b")).Session("messages", "trail"))
	st := newBroken()
	for i := range 3 {
		res := want(t,
			g.Invoke(t.Context(), st.stores(),
				graph.Invocation{Session: "s", Initial: append(tell("yo"), count.Set(i))}), graph.Completed)
		if res.FirstNew != 2*i+1 || res.Entry.Messages != 2*i || res.Entry.Found != (i > 0) {
			t.Errorf("turn %d: mark %d, entry %+v", i, res.FirstNew, res.Entry)
		}
		if got := trail.Get(res.State); len(got) != i+1 {
			t.Errorf("turn %d: trail %v", i, got)
		}
	}
	rec, _ := st.Memory.Load(t.Context(), "s")
	if got := texts(t, *rec.Messages); !slices.Equal(got, []string{"yo", "hi", "yo", "hi", "yo", "hi"}) {
		t.Errorf("history %v", got)
	}
	if _, kept := rec.State["count"]; kept || rec.State["messages"] != nil {
		t.Errorf("stored %v", rec.State)
	}
}

func TestWithoutASessionNoStoreIsTouched(t *testing.T) {
	g := compile(t, talk(answer("hi"), pause("x")))
	st := newBroken()
	res := want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Initial: tell("yo")}), graph.Suspended)
	res = want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Resume: res.Invocation}), graph.Completed)
	if !slices.Equal(st.calls, []string{"pause"}) {
		t.Errorf("calls %v", st.calls)
	}
	if got := texts(t, graph.Messages.Get(res.State)); !slices.Equal(got, []string{"yo", "hi"}) {
		t.Errorf("messages %v", got)
	}
}

func TestWithoutAStoreASessionIsOnlyAnID(t *testing.T) {
	g := compile(t, talk(func(ctx context.Context, _ graph.State) (graph.Update, error) {
		return nil, graph.SaveSession(ctx, nil)
	}, pause("x"), answer("hi")))
	res := want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Session: "s", Initial: tell("yo")}),
		graph.Suspended)
	res = want(t, g.Invoke(t.Context(), graph.Stores{}, graph.Invocation{Resume: res.Invocation}), graph.Completed)
	if got := texts(t, graph.Messages.Get(res.State)); res.Session != "s" || !slices.Equal(got, []string{"yo", "hi"}) {
		t.Errorf("session %q, messages %v", res.Session, got)
	}
}

func TestSessionErrors(t *testing.T) {
	busy := core.Errorf(core.StoreBusy, "The database is busy.")
	for name, tc := range map[string]struct {
		load, save error
		category   core.Category
		ran        bool
	}{
		"load":        {load: errPlain, category: core.SessionLoadFailed},
		"load, known": {load: busy, category: core.StoreBusy},
		"save":        {save: errPlain, category: core.SessionSaveFailed, ran: true},
		"save, conflict": {
			save: core.Errorf(core.SessionWriteConflict, "x"), category: core.SessionWriteConflict, ran: true,
		},
		"save, fault of o": {save: core.Errorf(core.Internal, "x"), category: core.SessionSaveFailed, ran: true},
	} {
		t.Run(name, func(t *testing.T) {
			st := newBroken()
			st.load, st.save = tc.load, tc.save
			g := compile(t, talk(leave("a")))
			res := want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Session: "s"}), graph.Errored)
			wantCategory(t, res.Err, tc.category)
			if ran := len(trail.Get(res.State)) > 0; ran != tc.ran {
				t.Errorf("ran: %v, state %v", ran, res.State)
			}
		})
	}
}

func TestAnErrorSavesNothingButAnExplicitSaveIsKept(t *testing.T) {
	st := newBroken()
	saving := func(ctx context.Context, _ graph.State) (graph.Update, error) {
		u := graph.Update{graph.Messages.Add(say(core.Assistant, "done")), trail.Set([]string{"saved"})}
		return u, graph.SaveSession(ctx, u)
	}
	fails := func(context.Context, graph.State) (graph.Update, error) { return nil, errPlain }
	g := compile(t, talk(saving, answer("lost"), fails))
	want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Session: "s", Initial: tell("yo")}), graph.Errored)
	rec, _ := st.Memory.Load(t.Context(), "s")
	if got := texts(t, *rec.Messages); !slices.Equal(got, []string{"yo", "done"}) {
		t.Errorf("history %v", got)
	}
	if got := string(rec.State["trail"]); got != `["saved"]` {
		t.Errorf("trail %s", got)
	}
	if !slices.Equal(st.calls, []string{"load", "explicit"}) {
		t.Errorf("calls %v", st.calls)
	}
}

func TestAnExplicitSaveIsNotWrittenTwice(t *testing.T) {
	st := newBroken()
	saving := func(ctx context.Context, _ graph.State) (graph.Update, error) {
		u := graph.Update{graph.Messages.Add(say(core.Assistant, "one"))}
		return u, graph.SaveSession(ctx, u)
	}
	g := compile(t, talk(saving, saving, answer("two")))
	want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Session: "s", Initial: tell("yo")}), graph.Completed)
	rec, _ := st.Memory.Load(t.Context(), "s")
	if got := texts(t, *rec.Messages); !slices.Equal(got, []string{"yo", "one", "one", "two"}) {
		t.Errorf("history %v", got)
	}
}

func TestAnExplicitSaveFailsInsideTheNode(t *testing.T) {
	st := newBroken()
	st.save = errPlain
	var inside error
	g := compile(t, talk(func(ctx context.Context, _ graph.State) (graph.Update, error) {
		inside = graph.SaveSession(ctx, nil)
		st.save = nil
		return nil, nil
	}))
	want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Session: "s"}), graph.Completed)
	wantCategory(t, inside, core.SessionSaveFailed)
	wantCategory(t, graph.SaveSession(t.Context(), nil), core.SuspensionUnsupportedContext)
}

func TestNoAutoSaveSkipsOnlyTheSaveAtEND(t *testing.T) {
	st := newBroken()
	g := compile(t, talk(pause("x"), answer("hi")).NoAutoSave())
	res := want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Session: "s", Initial: tell("yo")}),
		graph.Suspended)
	want(t, g.Invoke(t.Context(), st.stores(), graph.Invocation{Resume: res.Invocation}), graph.Completed)
	rec, _ := st.Memory.Load(t.Context(), "s")
	if got := texts(t, *rec.Messages); !slices.Equal(got, []string{"yo"}) {
		t.Errorf("history %v", got)
	}
}

func TestMigrations(t *testing.T) {
	add := func(n int64) func(map[string]any) (map[string]any, error) {
		return func(m map[string]any) (map[string]any, error) {
			m["count"] = m["count"].(int64) + n
			return m, nil
		}
	}
	fails := func(map[string]any) (map[string]any, error) { return nil, errPlain }
	panics := func(map[string]any) (map[string]any, error) { panic(errPlain) }
	type edge struct {
		from, to string
		fn       func(map[string]any) (map[string]any, error)
	}
	for name, tc := range map[string]struct {
		stored   string
		edges    []edge
		count    int
		category core.Category
		is       error
	}{
		"same version": {"v3", []edge{{"v3", "v4", fails}}, 1, "", nil},
		"one":          {"v2", []edge{{"v2", "v3", add(10)}}, 11, "", nil},
		"chain":        {"v1", []edge{{"v2", "v3", add(10)}, {"v1", "v2", add(100)}}, 111, "", nil},
		"shortest":     {"v1", []edge{{"v1", "v2", fails}, {"v2", "v3", fails}, {"v1", "v3", add(5)}}, 6, "", nil},
		"none":         {"v1", nil, 0, core.MigrationMissing, nil},
		"wrong way":    {"v4", []edge{{"v3", "v4", add(1)}}, 0, core.MigrationMissing, nil},
		"no version":   {"", []edge{{"v1", "v3", add(1)}}, 0, core.MigrationMissing, nil},
		"fails": {
			"v1", []edge{{"v1", "v2", fails}, {"v2", "v3", add(1)}}, 0, core.MigrationFailed, errPlain,
		},
		"panics": {"v1", []edge{{"v1", "v3", panics}}, 0, core.MigrationFailed, errPlain},
		"two shortest": {
			"v1", []edge{{"v1", "a", add(1)}, {"v1", "b", add(1)}, {"a", "v3", add(1)}, {"b", "v3", add(1)}}, 0,
			core.MigrationChainAmbiguous, nil,
		},
		"circle": {"v1", []edge{{"v1", "v2", add(1)}, {"v2", "v1", add(1)}}, 0, core.MigrationMissing, nil},
		"gives no state": {"v1", []edge{{"v1", "v3", func(map[string]any) (map[string]any, error) {
			return nil, nil
		}}}, 0, core.MigrationFailed, nil},
		"gives wrong type": {"v1", []edge{{"v1", "v3", func(map[string]any) (map[string]any, error) {
			return map[string]any{"count": "x"}, nil
		}}}, 0, core.SessionLoadFailed, nil},
	} {
		t.Run(name, func(t *testing.T) {
			st := newBroken()
			_ = st.Memory.Save(t.Context(),
				&core.SessionRecord{
					ID: "s", SchemaVersion: tc.stored, State: map[string]json.RawMessage{"count": json.RawMessage("1")},
				}, core.SaveOptions{})
			b := line(leave("a")).SchemaVersion("v3")
			for _, e := range tc.edges {
				b.Migrate(e.from, e.to, e.fn)
			}
			res := compile(t, b).Invoke(t.Context(), st.stores(), graph.Invocation{Session: "s"})
			rec, _ := st.Memory.Load(t.Context(), "s")
			if tc.category == "" {
				want(t, res, graph.Completed)
				if count.Get(res.State) != tc.count || rec.SchemaVersion != "v3" {
					t.Errorf("count %d, stored as %s", count.Get(res.State), rec.SchemaVersion)
				}
				return
			}
			wantCategory(t, res.Err, tc.category)
			if tc.is != nil && !errors.Is(res.Err, tc.is) {
				t.Errorf("the cause is lost: %v", res.Err)
			}
			if rec.SchemaVersion != tc.stored || string(rec.State["count"]) != "1" || rec.Version != 1 {
				t.Errorf("the record was touched: %+v", rec)
			}
		})
	}
}

// counting is a history source that must not be read.
type counting struct{ reads *int }

func (c counting) Before(context.Context, int, int) ([]core.Message, error) {
	*c.reads++
	return nil, errors.New("read")
}

// lazy is a store whose session has a long history.
type lazy struct {
	*broken
	reads int
}

func (l *lazy) Load(context.Context, core.SessionID) (*core.SessionRecord, error) {
	h := core.NewHistory(1_000_000, counting{&l.reads}.Before)
	return &core.SessionRecord{ID: "s", Messages: &h}, nil
}

func TestATurnReadsNoMessages(t *testing.T) {
	st := &lazy{broken: newBroken()}
	stores := graph.Stores{Sessions: st, Pauses: st.Memory}
	g := compile(t, talk(answer("hi"), pause("x"), answer("ho")))
	res := want(t, g.Invoke(t.Context(), stores, graph.Invocation{Session: "s", Initial: tell("yo")}), graph.Suspended)
	res = want(t, g.Invoke(t.Context(), stores, graph.Invocation{Resume: res.Invocation}), graph.Completed)
	if st.reads != 0 || res.FirstNew != 1_000_000 {
		t.Errorf("%d reads, mark %d", st.reads, res.FirstNew)
	}
}

// talkative is a store that gives its messages as added ones.
type talkative struct{ *broken }

func (s *talkative) Load(ctx context.Context, id core.SessionID) (*core.SessionRecord, error) {
	rec, err := s.broken.Load(ctx, id)
	if rec != nil && rec.Messages != nil {
		all, _ := rec.Messages.From(ctx, 0)
		h := core.History{}.Append(all...)
		rec.Messages = &h
	}
	return rec, err
}

func TestLoadedMessagesAreNotWrittenAgain(t *testing.T) {
	st := &talkative{newBroken()}
	g := compile(t, talk(answer("hi")))
	for range 2 {
		want(t, g.Invoke(t.Context(), graph.Stores{Sessions: st}, graph.Invocation{Session: "s", Initial: tell("yo")}),
			graph.Completed)
	}
	rec, _ := st.Memory.Load(t.Context(), "s")
	if got := texts(t, *rec.Messages); !slices.Equal(got, []string{"yo", "hi", "yo", "hi"}) {
		t.Errorf("history %v", got)
	}
}
