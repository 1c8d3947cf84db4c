package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// runBatch returns an error if the whole transaction failed; a unit's own failure is kept in the unit. Units seldom
// fail once they have changed something, so they run without savepoints at first; if one does, all are undone and run
// again, each in its own savepoint.
func (w *writer) runBatch(units []*unit) error {
	if err := w.connect(); err != nil {
		return err
	}
	err := w.transaction(units, w.runUnit)
	if !errors.Is(err, errHalfDone) {
		return err
	}
	if len(units) == 1 {
		return nil // it is undone, and knows its error
	}
	if err := w.connect(); err != nil {
		return err
	}
	return w.transaction(units, w.runInSavepoint)
}

// transaction runs the units in one transaction and commits it.
func (w *writer) transaction(units []*unit, run func(*unit) error) (err error) {
	if err := w.exec(`begin immediate`); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			w.undo()
			w.rescue(err)
		}
	}()
	for _, u := range units {
		if err := run(u); err != nil {
			return err
		}
	}
	if err := w.here(); err != nil {
		return err
	}
	return w.exec(`commit`)
}

// exec runs one of the writer's own statements.
func (w *writer) exec(query string) error {
	if _, err := w.conn.exec(query, nil); err != nil {
		return fmt.Errorf("running %q: %w", query, err)
	}
	w.options.Trace(sqlstore.Executed(query, 0))
	return nil
}

// errHalfDone is returned if a unit failed after it had changed something, so that its transaction must not be
// committed.
var errHalfDone = errors.New("a unit of work failed after its first change")

// runUnit runs a unit. It returns an error if the surrounding transaction is lost, or is to be undone.
func (w *writer) runUnit(u *unit) error {
	w.conn.changed = false
	u.err = w.recovered(u.work)
	switch {
	case w.transactionLost():
		return errors.Join(errGivenUp, u.err)
	case u.err != nil && w.conn.changed:
		return errHalfDone
	}
	return nil
}

// errGivenUp is returned if SQLite has ended a transaction itself.
var errGivenUp = errors.New("the transaction was given up")

// runInSavepoint runs a unit in its savepoint. It returns an error if the surrounding transaction is lost.
func (w *writer) runInSavepoint(u *unit) error {
	if err := w.exec(`savepoint unit`); err != nil {
		return err
	}
	u.err = w.recovered(u.work)
	if w.transactionLost() {
		return errors.Join(errGivenUp, u.err)
	}
	if u.err != nil {
		if err := w.exec(`rollback to unit`); err != nil {
			return errors.Join(err, u.err)
		}
	}
	return w.exec(`release unit`)
}

// recovered runs a unit's work and turns a panic into that unit's error.
func (w *writer) recovered(work sqlstore.Work) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.options.Log.Error("a unit of work panicked", "err", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = core.Wrap(core.Internal, fmt.Errorf("panic: %v", p),
				"Something went wrong inside gatehouse; nothing was changed.")
		}
	}()
	return work(w.conn.runner(context.Background(), &w.options), clock(w.options.Now))
}

// transactionLost reports whether SQLite has ended the transaction itself, as it does if the disk is full or fails.
func (w *writer) transactionLost() bool { return w.conn.db.AutoCommit() }

// undo rolls the transaction back, or drops the connection if that fails.
func (w *writer) undo() {
	if w.transactionLost() {
		return
	}
	if err := w.exec(`rollback`); err != nil {
		w.options.Log.Warn("the writer's connection is replaced", "err", err)
		w.dropConnection()
	}
}

// dropConnection closes the connection, and with it its transaction; the next batch opens another one.
func (w *writer) dropConnection() {
	if w.conn != nil {
		w.failed = w.conn.close()
		w.conn = nil
	}
}
