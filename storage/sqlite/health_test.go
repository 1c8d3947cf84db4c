package sqlite_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/sqlite"
)

// sick is an engine that can't store what is changed, while fault is set. What changes nothing succeeds, as on a disk
// that takes no pages.
type sick struct {
	sqlstore.Engine
	fault atomic.Pointer[error]
}

func (e *sick) Write(ctx context.Context, work sqlstore.Work) error {
	return e.Engine.Write(ctx, func(run sqlstore.Runner, now time.Time) error {
		return work(sickRunner{run, e}, now)
	})
}

type sickRunner struct {
	sqlstore.Runner
	engine *sick
}

func (r sickRunner) Exec(query string, args []any) (int64, error) {
	n, err := r.Runner.Exec(query, args)
	if fault := r.engine.fault.Load(); fault != nil && err == nil && n > 0 {
		return n, *fault
	}
	return n, err
}

func (r sickRunner) Later(query string, args []any, row sqlstore.Row) error {
	if row != nil {
		return r.Runner.Later(query, args, row)
	}
	_, err := r.Exec(query, args)
	return err
}

// ill opens a store, and returns how to set the fault of its engine.
func ill(t *testing.T) (s *sqlstore.Store, set func(error)) {
	t.Helper()
	e := &sick{}
	s = open(t, filepath.Join(t.TempDir(), "gatehouse.db"), sqlite.Options{}).WithEngine(
		func(inner sqlstore.Engine) sqlstore.Engine {
			e.Engine = inner
			return e
		})
	return s, func(fault error) {
		if e.fault.Store(nil); fault != nil {
			e.fault.Store(&fault)
		}
	}
}

// TestLaw9_AFaultIsOverOnceSomethingIsStored: commits that store nothing, and reads, say nothing.
func TestLaw9_AFaultIsOverOnceSomethingIsStored(t *testing.T) {
	ctx := context.Background()
	s, set := ill(t)
	set(core.Errorf(core.StoreFull, "The disk is full."))
	if err := s.Health(ctx); err != nil {
		t.Errorf("before anything was tried: %v", err)
	}
	if err := s.AddNote(ctx, "ann", "x"); core.CategoryOf(err) != core.StoreFull {
		t.Fatal(err)
	}
	for range 3 {
		if err := s.SetPaused(ctx, false); err != nil { // it is not paused
			t.Fatal(err)
		}
		if _, err := s.Notes(ctx, "ann"); err != nil {
			t.Fatal(err)
		}
		if err := s.Health(ctx); core.CategoryOf(err) != core.StoreFull {
			t.Errorf("after a commit that stored nothing: %v", err)
		}
	}
	set(nil)
	for range 2 {
		if err := s.Health(ctx); err != nil {
			t.Errorf("once it can be stored: %v", err)
		}
	}
}

// TestLaw9_DamageStays until the process ends: other data may be stored all the same.
func TestLaw9_DamageStays(t *testing.T) {
	ctx := context.Background()
	s, set := ill(t)
	damage := core.Wrap(core.StoreUnreadable, sqlstore.Damage{Err: errors.New("a page is broken")}, "It is damaged.")
	set(damage)
	if err := s.AddNote(ctx, "ann", "x"); !errors.Is(err, damage) {
		t.Fatal(err)
	}
	set(core.Errorf(core.StoreFull, "The disk is full."))
	if err := s.AddNote(ctx, "ann", "x"); core.CategoryOf(err) != core.StoreFull {
		t.Fatal(err)
	}
	set(nil)
	for range 3 {
		if err := s.AddNote(ctx, "ann", "x"); err != nil {
			t.Fatal(err)
		}
		if err := s.Health(ctx); !errors.Is(err, damage) {
			t.Errorf("after a commit: %v", err)
		}
	}
}

// TestASlowDatabaseIsCalledSlow, not out of order.
func TestASlowDatabaseIsCalledSlow(t *testing.T) {
	s, _ := ill(t)
	ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
	defer cancel()
	if err := s.Health(ctx); core.CategoryOf(err) != core.StoreBusy ||
		core.MessageOf(err) != "The database answers slowly: not within 0s. "+core.LookWhySlow {
		t.Error(err)
	}
}
