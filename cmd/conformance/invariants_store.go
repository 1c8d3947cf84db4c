package main

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"gatehouse/core"
	"gatehouse/core/graph"
)

func errored(t *turn) bool   { return t.status == graph.Errored }
func completed(t *turn) bool { return t.status == graph.Completed }
func suspended(t *turn) bool { return t.status == graph.Suspended }

// refusedAtEntry is a turn that failed before any node could begin.
func refusedAtEntry(t *turn) bool {
	return errored(t) && (t.result() == nil || t.result().Entry.State.IsZero())
}

func ifTrue(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

var sessionCalls = []string{"load", "save", "explicit save", "delete", "list"}

// storeUntouched: a turn without a session calls no store of sessions.
func storeUntouched(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "turn without a session", func(t *turn) bool { return t.session == "" }, func(t *turn) error {
		return ifTrue(t.count(sessionCalls...) == 0, "the store was called %d times", t.count(sessionCalls...))
	})
}

func nodesNeverRan(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "turn that failed before its first node", refusedAtEntry, func(t *turn) error {
		return ifTrue(len(t.ran()) == 0, "these nodes ran: %v", t.ran())
	})
}

// validatedFirst: what was refused for its form was refused before anything was read or run.
func validatedFirst(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool {
		return t.category == core.ChatMessageShapeInvalid || t.category == core.HarnessSessionUnresolved
	}
	return each(ts, "turn refused for its form", meant, func(t *turn) error {
		return ifTrue(len(t.entries) == 0, "this happened before: %v", t.entries)
	})
}

// historyUnchanged: a turn that failed left what is stored as it was, unless a node saved explicitly.
func historyUnchanged(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "turn that failed", errored, func(t *turn) error {
		return ifTrue(t.count("explicit save") > 0 || reflect.DeepEqual(t.before, t.after), "what is stored has changed")
	})
}

// noAutoSave: a turn that failed was not saved at its end, nor any turn of a graph without auto-save.
func noAutoSave(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return errored(t) || !peek(w.c, "auto_save").flag(true) }
	return each(ts, "turn that must not be saved", meant, func(t *turn) error {
		return ifTrue(t.count("save") == 0, "there was a save at the end")
	})
}

func explicitSaveStands(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "turn with an explicit save", func(t *turn) bool { return t.count("explicit save") > 0 }, func(t *turn) error {
		return ifTrue(t.after != nil, "nothing is stored")
	})
}

func midInvokeSaveSurvives(_ *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return errored(t) && t.count("explicit save") > 0 }
	return each(ts, "turn that saved and then failed", meant, func(t *turn) error {
		return ifTrue(t.after != nil && !reflect.DeepEqual(t.before, t.after) && t.count("save") == 0, "the explicit save is not what is stored")
	})
}

// lastSaveStands: what is stored is the last completed turn's state, no more and no less.
func lastSaveStands(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return completed(t) && t.session != "" && t.count("save") > 0 }
	return each(ts, "turn that saved", meant, func(t *turn) error {
		want := stateFields(t.result().State)
		for name := range want {
			if w.projected != nil && !slices.Contains(w.projected, name) {
				delete(want, name)
			}
		}
		return ifTrue(w.match.diff(want, t.after.State, false) == "", "stored is %s, not %s", show(t.after.State), show(want))
	})
}

// loadsWhatWasSaved: a later turn of a session begins with what the one before it left stored.
func loadsWhatWasSaved(w *world, ts []*turn, _ *doc) error {
	last := map[core.SessionID]*turn{}
	n := 0
	for _, t := range ts {
		if before := last[t.session]; t.session != "" && before != nil && before.after != nil && t.result() != nil && t.signal == nil {
			n++
			got := stateFields(t.result().Entry.Loaded)
			for name, v := range before.after.State {
				if d := w.match.diff(v, got[name], false); d != "" {
					return fmt.Errorf("%s: field %s was loaded otherwise than it was saved: %s", t.name, name, d)
				}
			}
		}
		last[t.session] = t
	}
	if n == 0 {
		return nothing("second turn of a session")
	}
	return nil
}

func scratchNotStored(w *world, ts []*turn, _ *doc) error {
	if w.projected == nil {
		return nothing("projection")
	}
	return each(ts, "turn that saved", func(t *turn) bool { return t.after != nil }, func(t *turn) error {
		for name := range t.after.State {
			if !slices.Contains(w.projected, name) {
				return fmt.Errorf("%q is stored", name)
			}
		}
		return nil
	})
}

func projectionPersists(w *world, ts []*turn, arg *doc) error {
	if err := scratchNotStored(w, ts, arg); err != nil {
		return err
	}
	if err := lastSaveStands(w, ts, arg); err != nil {
		return err
	}
	if len(ts) < 2 {
		return nil
	}
	return loadsWhatWasSaved(w, ts, arg)
}

func migrationsRan(n int) predicate {
	return func(w *world, ts []*turn, _ *doc) error {
		return ifTrue(len(ts) > 0 && len(w.migrated) == n, "these migrations ran, not %d: %v", n, w.migrated)
	}
}

// noOtherMigration: no migration ran, or none behind the one that failed.
func noOtherMigration(w *world, ts []*turn, arg *doc) error {
	if err := laterMigrationsNotRun(w, ts, arg); !errors.Is(err, errNothing) {
		return err
	}
	return migrationsRan(0)(w, ts, arg)
}

// laterMigrationsNotRun: behind a migration that failed none was run.
func laterMigrationsNotRun(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return t.category == core.MigrationFailed }
	return each(ts, "turn whose migration failed", meant, func(t *turn) error {
		var m *graph.MigrationError
		return ifTrue(errors.As(t.err, &m) && len(w.migrated) > 0 && w.migrated[len(w.migrated)-1] == m.From+"->"+m.To && len(t.ran()) == 0,
			"these migrations ran: %v", w.migrated)
	})
}

// migratedInOrder: the migrations that ran are a chain that ends at the graph's version.
func migratedInOrder(w *world, ts []*turn, _ *doc) error {
	meant := func(t *turn) bool { return t.result() != nil && len(t.result().Entry.Migrations) > 0 }
	return each(ts, "migrated turn", meant, func(t *turn) error {
		path := t.result().Entry.Migrations
		for i := 1; i < len(path); i++ {
			if path[i-1][1] != path[i][0] {
				return fmt.Errorf("%v is no chain", path)
			}
		}
		return ifTrue(path[len(path)-1][1] == w.version && len(w.migrated) == len(path), "%v ends elsewhere than at %q", path, w.version)
	})
}

// loadBeforeNodes: the store was read before the first node ran.
func loadBeforeNodes(_ *world, ts []*turn, _ *doc) error {
	return each(ts, "turn that loaded", func(t *turn) bool { return t.count("load") > 0 }, func(t *turn) error {
		for _, e := range t.entries {
			if e.what == "node" {
				return errors.New("a node ran first")
			}
			if e.what == "load" {
				return nil
			}
		}
		return nil
	})
}
