package sqlite_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"gatehouse/core"
	"gatehouse/storage/sqlite"
	"gatehouse/storage/storagetest/cost"
)

type exec = func(query string, args ...any) error

func add(owner string) func(exec) error {
	return func(run exec) error { return run(`insert into notes (owner, text) values (?, 'x')`, owner) }
}

// together runs the units in one batch: it blocks the writer until all of them wait.
func together(t *testing.T, s *sqlite.Store, units ...func(exec) error) []error {
	t.Helper()
	began, release := make(chan struct{}), make(chan struct{})
	errs := make([]error, len(units))
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Unit(context.Background(), func(exec) error { close(began); <-release; return nil }); err != nil {
			t.Errorf("the first unit: %v", err)
		}
	})
	<-began
	for i, u := range units {
		wg.Go(func() { errs[i] = s.Unit(context.Background(), u) })
		for s.Waiting() <= i {
			runtime.Gosched()
		}
	}
	close(release)
	wg.Wait()
	return errs
}

// notes counts an owner's notes.
func notes(t *testing.T, s *sqlite.Store, owner string) int {
	t.Helper()
	got, err := s.Notes(context.Background(), owner)
	if err != nil {
		t.Fatalf("reading notes: %v", err)
	}
	return len(got)
}

func store(t *testing.T, o sqlite.Options) *sqlite.Store {
	t.Helper()
	return open(t, filepath.Join(t.TempDir(), "gatehouse.db"), o)
}

func TestManyUnitsShareOneCommit(t *testing.T) {
	var m cost.Meter
	s := store(t, sqlite.Options{Trace: m.Trace})
	m.Reset()
	for i, err := range together(t, s, slices.Repeat([]func(exec) error{add("ann")}, 50)...) {
		if err != nil {
			t.Errorf("unit %d: %v", i, err)
		}
	}
	if got := m.Work().Commits; got != 2 {
		t.Errorf("%d commits for the unit that held the writer up and the 50 behind it, want 2", got)
	}
	if got := notes(t, s, "ann"); got != 50 {
		t.Errorf("%d notes, want 50", got)
	}
}

func TestFailedUnitIsUndoneAlone(t *testing.T) {
	s := store(t, sqlite.Options{})
	wrong := errors.New("wrong")
	errs := together(t, s,
		add("ann"),
		func(run exec) error { return errors.Join(add("bad")(run), wrong) },
		func(run exec) error {
			return errors.Join(add("bad")(run), run(`insert into notes (nothing) values (1)`))
		},
		func(run exec) error { _ = add("bad")(run); panic("bad") },
		func(run exec) error { // a violated constraint undoes only the statement
			if err := run(`insert into kv (name, value) values ('a', 'b'), ('a', 'b')`); err == nil {
				return errors.New("no error")
			}
			return add("ann")(run)
		},
		add("ann"),
	)
	for i, category := range []core.Category{"", core.Internal, core.Internal, core.Internal, "", ""} {
		if got := core.CategoryOf(errs[i]); got != category {
			t.Errorf("unit %d gave %v, want category %q", i, errs[i], category)
		}
	}
	if !errors.Is(errs[1], wrong) {
		t.Errorf("unit 1 gave %v", errs[1])
	}
	if a, b := notes(t, s, "ann"), notes(t, s, "bad"); a != 3 || b != 0 {
		t.Errorf("%d good notes and %d bad ones, want 3 and 0", a, b)
	}
}

// TestLostTransactionFailsAllOfItsUnits: SQLite itself may roll back the whole transaction; then nothing of it is
// stored.
func TestLostTransactionFailsAllOfItsUnits(t *testing.T) {
	for name, lose := range map[string]string{
		"rolled back":      `rollback`,
		"committed alone":  `commit`,
		"rolled back hard": `insert or rollback into kv (name, value) values ('a', 'b'), ('a', 'b')`,
	} {
		t.Run(name, func(t *testing.T) {
			s := store(t, sqlite.Options{})
			errs := together(t, s, add("ann"), func(run exec) error { return run(lose) }, add("ann"))
			for i, err := range errs {
				if err == nil {
					t.Errorf("unit %d has no error", i)
				}
			}
			if err := s.Unit(context.Background(), add("ann")); err != nil {
				t.Errorf("the next batch: %v", err)
			}
		})
	}
}

func TestUnitThatHasNotBegunCanBeWithdrawn(t *testing.T) {
	s := store(t, sqlite.Options{})
	ctx, cancel := context.WithCancel(context.Background())
	began, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { // its context ends while its unit runs: the unit is completed
		err := s.Unit(ctx, func(run exec) error { close(began); <-release; return add("ann")(run) })
		if err != nil {
			t.Errorf("the running unit: %v", err)
		}
	})
	<-began
	left := make(chan error)
	wg.Go(func() { left <- s.Unit(ctx, add("ann")) })
	for s.Waiting() == 0 {
		runtime.Gosched()
	}
	cancel()
	if err := <-left; !errors.Is(err, context.Canceled) {
		t.Errorf("the waiting unit gave %v, want it to be cancelled", err)
	}
	close(release)
	wg.Wait()
	if got := notes(t, s, "ann"); got != 1 {
		t.Errorf("%d notes, want 1", got)
	}
}

func TestCloseCompletesSubmittedUnits(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, file, sqlite.Options{})
	began, release := make(chan struct{}), make(chan struct{})
	var wg sync.WaitGroup
	unit := func(do func(exec) error) {
		wg.Go(func() {
			if err := s.Unit(context.Background(), do); err != nil {
				t.Errorf("a unit that was submitted: %v", err)
			}
		})
	}
	unit(func(exec) error { close(began); <-release; return nil })
	<-began
	for i := range 5 {
		unit(add("ann"))
		for s.Waiting() <= i {
			runtime.Gosched()
		}
	}
	wg.Go(func() { s.Close() })
	close(release)
	wg.Wait()
	s.Close()
	if err := s.AddNote(context.Background(), "ann", "late"); core.CategoryOf(err) != core.Internal {
		t.Errorf("after Close: %v", err)
	}
	if got := notes(t, open(t, file, sqlite.Options{}), "ann"); got != 5 {
		t.Errorf("%d notes, want 5", got)
	}
}

// TestEachCommitIsDurable checks the settings of the connections, whatever the driver's defaults.
func TestEachCommitIsDurable(t *testing.T) {
	s := store(t, sqlite.Options{})
	for pragma, want := range map[string]string{"synchronous": "2", "journal_mode": "wal", "foreign_keys": "1"} {
		err := s.Unit(context.Background(), func(run exec) error {
			return run(`insert into notes (owner, text) select ?, * from pragma_`+pragma, pragma)
		})
		if err != nil {
			t.Fatalf("asking for %s: %v", pragma, err)
		}
		got, err := s.Notes(context.Background(), pragma)
		if err != nil || fmt.Sprint(got) != "["+want+"]" {
			t.Errorf("%s is %s (%v), want %s", pragma, got, err, want)
		}
	}
}
