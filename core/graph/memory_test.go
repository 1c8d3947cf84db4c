package graph_test

import (
	"encoding/json"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"gatehouse/core"
	"gatehouse/core/graph"
)

func TestMemoryStoresCopies(t *testing.T) {
	m := graph.NewMemory()
	state := map[string]json.RawMessage{"a": json.RawMessage(`1`)}
	h := core.History{}.Append(say(core.User, "one"))
	rec := &core.SessionRecord{
		ID: "s", SchemaVersion: "v1", State: state, Messages: &h, Writer: core.Writer{Invocation: "i"},
	}
	if err := m.Save(t.Context(), rec, core.SaveOptions{}); err != nil || rec.Version != 1 {
		t.Fatalf("save: version %d, %v", rec.Version, err)
	}
	state["a"][0] = '9'
	got, err := m.Load(t.Context(), "s")
	if err != nil || string(got.State["a"]) != "1" || got.Messages.Stored() != 1 || len(got.Messages.Added()) != 0 {
		t.Fatalf("load: %+v %v", got, err)
	}
	got.State["a"] = json.RawMessage(`7`)
	if again, _ := m.Load(t.Context(), "s"); string(again.State["a"]) != "1" {
		t.Error("what was loaded is what is kept")
	}
	if none, err := m.Load(t.Context(), "ghost"); none != nil || err != nil {
		t.Errorf("no record: %v %v", none, err)
	}
}

func TestMemorySavesByVersion(t *testing.T) {
	m := graph.NewMemory()
	for want, version := range []int64{0, 1} {
		if err := m.Save(t.Context(), &core.SessionRecord{ID: "s"},
			core.SaveOptions{ExpectedVersion: &version}); err != nil {
			t.Errorf("save %d: %v", want, err)
		}
	}
	stale := int64(1)
	wantCategory(t, m.Save(t.Context(), &core.SessionRecord{ID: "s"}, core.SaveOptions{ExpectedVersion: &stale}),
		core.SessionWriteConflict)
}

func TestMemoryLists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := graph.NewMemory()
		begin := time.Now()
		for _, id := range []core.SessionID{"a", "b", "c"} {
			time.Sleep(time.Second) // the bubble's clock
			_ = m.Save(t.Context(), &core.SessionRecord{ID: id, SchemaVersion: "v" + string(id)}, core.SaveOptions{})
		}
		v := "vb"
		for _, tc := range []struct {
			filter core.SessionFilter
			want   []core.SessionID
		}{
			{core.SessionFilter{}, []core.SessionID{"c", "b", "a"}},
			{core.SessionFilter{Limit: 2}, []core.SessionID{"c", "b"}},
			{core.SessionFilter{SchemaVersion: &v}, []core.SessionID{"b"}},
			{core.SessionFilter{UpdatedAfter: begin.Add(time.Second)}, []core.SessionID{"c", "b"}},
			{core.SessionFilter{CreatedAfter: begin.Add(2 * time.Second)}, []core.SessionID{"c"}},
		} {
			var got []core.SessionID
			list, err := m.List(t.Context(), tc.filter)
			for _, s := range list {
				got = append(got, s.ID)
			}
			if err != nil || !slices.Equal(got, tc.want) {
				t.Errorf("%+v: %v %v", tc.filter, got, err)
			}
		}
	})
}

func TestMemoryDeletesAllOfASession(t *testing.T) {
	m := graph.NewMemory()
	frame := []core.Frame{{Node: "a"}}
	_ = m.Pause(t.Context(),
		&core.PausedRecord{Invocation: "i", Session: "s", Descriptor: core.Descriptor{SignalID: "x"}, Frames: frame},
		&core.SessionRecord{ID: "s"})
	_ = m.Pause(t.Context(),
		&core.PausedRecord{Invocation: "j", Descriptor: core.Descriptor{SignalID: "x"}, Frames: frame}, nil)
	if rec, _ := m.BySignal(t.Context(), "x"); rec == nil || rec.Invocation != "i" {
		t.Errorf("the longest waiting: %+v", rec)
	}
	for range 2 {
		if err := m.Delete(t.Context(), "s"); err != nil {
			t.Fatal(err)
		}
	}
	if rec, _ := m.Load(t.Context(), "s"); rec != nil {
		t.Error("the session is there")
	}
	if rec, _ := m.BySignal(t.Context(), "x"); rec == nil || rec.Invocation != "j" {
		t.Errorf("another's pause: %+v", rec)
	}
	first, _ := m.Consume(t.Context(), "j")
	second, _ := m.Consume(t.Context(), "j")
	if !first || second {
		t.Errorf("consumed %v %v", first, second)
	}
}
