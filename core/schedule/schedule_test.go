package schedule_test

import (
	"context"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"gatehouse/approvals"
	"gatehouse/core"
	"gatehouse/core/schedule"
	"gatehouse/storage"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// expirer records the approvals that it should expire, and delays the first putOff of them.
type expirer struct {
	schedule.Approvals // no test has a reminder

	mu     sync.Mutex
	asked  []core.ApprovalID
	putOff int
}

func (d *expirer) Expire(_ context.Context, id core.ApprovalID) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, id)
	if d.putOff--; d.putOff >= 0 {
		return core.Errorf(core.StoreBusy, "a click still waits")
	}
	return nil
}

// bell counts the nudges.
type bell int

func (b *bell) Nudge() { *b++ }

func open(t *testing.T, now func() time.Time) *storage.Store {
	t.Helper()
	s, err := storage.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "g.db"), storage.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func add(t *testing.T, s *storage.Store, kind, subject string, wait time.Duration) {
	t.Helper()
	if err := s.AddTask(t.Context(), core.Task{Key: kind + "/" + subject, Kind: kind, Subject: subject},
		wait); err != nil {
		t.Fatal(err)
	}
}

func TestDueTaskRunsOnce(t *testing.T) {
	s, d, rung := open(t, time.Now), &expirer{}, bell(0)
	add(t, s, core.TaskExpire, "a1", 0)
	add(t, s, core.TaskExpire, "later", time.Hour)
	add(t, s, "of another time", "x", 0)
	c := schedule.New(schedule.Options{Store: s, Approvals: d, Turns: &rung})
	for range 2 {
		if err := c.Due(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(d.asked, []core.ApprovalID{"a1"}) || rung != 1 {
		t.Errorf("asked %v, rung %d", d.asked, rung)
	}
}

func TestDelayedExpiryIsRetried(t *testing.T) {
	at := time.Now()
	s, d := open(t, func() time.Time { return at }), &expirer{putOff: 1}
	add(t, s, core.TaskExpire, "a1", 0)
	c := schedule.New(schedule.Options{Store: s, Approvals: d})
	for range 3 {
		if err := c.Due(t.Context()); err != nil {
			t.Fatal(err)
		}
		at = at.Add(2 * time.Second)
	}
	if len(d.asked) != 2 {
		t.Errorf("asked %d times, want 2", len(d.asked))
	}
}

func TestRunPrunesByRetentionAndEnds(t *testing.T) {
	at := time.Now()
	var mu sync.Mutex
	clock := func() time.Time { mu.Lock(); defer mu.Unlock(); return at }
	s := open(t, clock)
	if _, err := s.Accept(t.Context(),
		core.Event{Platform: "p", ID: "1", Conversation: "p:1", Body: core.MessageEvent{}}); err != nil {
		t.Fatal(err)
	}
	claims, err := s.Claim(t.Context(), core.ClaimRequest{Owner: "me", Limit: 1, Scopes: []core.Scope{{Platform: "p"}}})
	if err != nil || len(claims) != 1 {
		t.Fatalf("%v, %v", claims, err)
	}
	if err := s.Finish(t.Context(), core.Finish{Claim: claims[0], End: core.End{Kind: core.EndNothing}}); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	at = at.Add(2 * time.Hour)
	mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() {
		_ = schedule.New(
			schedule.Options{Store: s, Approvals: &expirer{}, Retention: time.Hour, Poll: time.Millisecond}).Run(
			ctx)
	})
	for deadline := time.Now().Add(20 * time.Second); ; {
		left, err := s.Events(t.Context(), core.EventFilter{})
		if err != nil {
			t.Fatal(err)
		}
		if len(left) == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("what ended two hours ago was kept though the retention is one")
		}
	}
	cancel()
	done.Wait()
}

func TestNoRetentionPrunesNothing(t *testing.T) {
	store, err := storage.Open(t.Context(), "sqlite:"+filepath.Join(t.TempDir(), "g.db"), storage.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	r, err := store.Accept(t.Context(),
		core.Event{Platform: "x", ID: "1", Conversation: "x:1", Body: core.MessageEvent{}})
	if err != nil {
		t.Fatal(err)
	}
	claims, err := store.Claim(t.Context(),
		core.ClaimRequest{Owner: "me", Limit: 1, Scopes: []core.Scope{{Platform: "x"}}})
	if err != nil || len(claims) != 1 {
		t.Fatal(err)
	}
	if err := store.Finish(t.Context(),
		core.Finish{Claim: claims[0], End: core.End{Kind: core.EndReplied}}); err != nil {
		t.Fatal(err)
	}
	// A run with the default of GATEHOUSE_RETENTION leaves its task in the database.
	first, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_ = schedule.New(
		schedule.Options{
			Store: store, Approvals: approvals.NewService(store, store), Retention: 2160 * time.Hour,
		}).Run(first)
	if err := store.EndTask(t.Context(), "prune", time.Nanosecond); err != nil { // an hour later
		t.Fatal(err)
	}
	// The next run has no retention.
	forever := schedule.New(
		schedule.Options{Store: store, Approvals: approvals.NewService(store, store), Retention: 0})
	if err := forever.Due(t.Context()); err != nil {
		t.Fatal(err)
	}
	events, err := store.Events(t.Context(), core.EventFilter{Seq: r.Seq})
	if err != nil || len(events) != 1 {
		t.Errorf("GATEHOUSE_RETENTION=0s means for ever; the event of a moment ago is gone (%d, %v)", len(events), err)
	}
	again, err := store.Accept(t.Context(),
		core.Event{Platform: "x", ID: "1", Conversation: "x:1", Body: core.MessageEvent{}})
	if err != nil || again.Fresh {
		t.Errorf("and so is the memory that it was answered: a redelivery is taken anew (%+v, %v)", again, err)
	}
}

// stubborn is a store in which a session can't be removed, and others can.
type stubborn struct {
	schedule.Tasks
	asked []core.Pruning
}

func (s *stubborn) PruneSessions(_ context.Context, _ time.Duration, at core.Pruning) (core.Pruning, error) {
	s.asked = append(s.asked, at)
	switch at.Key {
	case "":
		return core.Pruning{Stage: core.PruneSessions, Key: "a"}, core.Errorf(core.Internal, "It can't be removed.")
	case "a":
		return core.Pruning{Stage: core.PruneSessions, Key: "b"}, nil
	}
	return core.Pruning{}, nil
}

// TestASessionThatCannotBePrunedStopsNoOther: the next slice goes on behind it.
func TestASessionThatCannotBePrunedStopsNoOther(t *testing.T) {
	at := time.Now()
	s := &stubborn{Tasks: open(t, func() time.Time { return at })}
	c := schedule.New(schedule.Options{Store: s, Approvals: &expirer{}, Sessions: time.Hour})
	if err := s.AddTask(t.Context(), core.Task{Key: "prune_sessions", Kind: "prune_sessions"}, 0); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := c.Due(t.Context()); err != nil {
			t.Fatal(err)
		}
		at = at.Add(2 * time.Second)
	}
	if len(s.asked) != 3 || s.asked[1].Key != "a" {
		t.Errorf("asked %+v", s.asked)
	}
}
