package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/core"
)

// writer is the one goroutine that changes the database; see the package comment.
type writer struct {
	db     *sql.DB
	now    func() time.Time
	newID  func() string
	log    *slog.Logger
	trace  func(Statement)
	conn   *sql.Conn
	wake   chan struct{}
	ended  chan struct{}
	mu     sync.Mutex // guards what follows
	queue  []*unit
	closed bool
}

// unit is one transaction as its caller sees it.
type unit struct {
	ctx   context.Context
	do    func(*tx) error
	state atomic.Int32
	done  chan error
	err   error
}

// The states of a unit: only one that waits can be taken back.
const (
	waits int32 = iota
	begun
	takenBack
)

func newWriter(db *sql.DB, o Options) *writer {
	w := &writer{
		db: db, now: o.Now, newID: o.NewID, log: o.Log, trace: o.Trace,
		wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
	go w.run()
	return w
}

// submit runs do in a transaction and gives its error once that is committed or undone.
func (w *writer) submit(ctx context.Context, do func(*tx) error) error {
	u := &unit{ctx: ctx, do: do, done: make(chan error, 1)}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return errClosed
	}
	w.queue = append(w.queue, u)
	w.mu.Unlock()
	w.poke()
	select {
	case err := <-u.done:
		return err
	case <-ctx.Done():
		if u.state.CompareAndSwap(waits, takenBack) {
			return fmt.Errorf("waiting to write: %w", ctx.Err())
		}
		return <-u.done
	}
}

func (w *writer) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// close lets what was submitted end, and takes no more.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.poke()
	<-w.ended
}

func (w *writer) run() {
	defer close(w.ended)
	defer w.drop()
	for {
		w.mu.Lock()
		units, closed := w.queue, w.closed
		w.queue = nil
		w.mu.Unlock()
		switch {
		case len(units) > 0:
			w.batch(units)
		case closed:
			return
		default:
			<-w.wake
		}
	}
}

// batch runs the units in one transaction and answers each.
func (w *writer) batch(units []*unit) {
	taken := units[:0:0]
	for _, u := range units {
		if u.ctx.Err() == nil && u.state.CompareAndSwap(waits, begun) {
			taken = append(taken, u)
		} else {
			u.done <- fmt.Errorf("waiting to write: %w", context.Cause(u.ctx))
		}
	}
	if len(taken) == 0 {
		return
	}
	err := w.together(taken)
	for _, u := range taken {
		if err != nil {
			u.err = err
		}
		u.done <- u.err
	}
}

// together gives an error where the whole transaction failed; a unit's own failure is kept in the unit.
func (w *writer) together(units []*unit) (err error) {
	if err := w.connect(); err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	t := &tx{ctx: context.Background(), on: w.conn, trace: w.trace, newID: w.newID}
	if _, err := t.exec(`begin immediate`); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			w.undo(t)
		}
	}()
	for _, u := range units {
		if err := w.one(t, u); err != nil {
			return err
		}
	}
	_, err = t.exec(`commit`)
	return err
}

// one runs a unit inside its savepoint. It gives an error where the transaction around it is lost.
func (w *writer) one(t *tx, u *unit) error {
	if _, err := t.exec(`savepoint unit`); err != nil {
		return err
	}
	t.now = clock(w.now)
	u.err = w.safely(t, u.do)
	if w.lost() {
		return errors.Join(errors.New("the transaction was given up"), u.err)
	}
	if u.err != nil {
		if _, err := t.exec(`rollback to unit`); err != nil {
			return errors.Join(err, u.err)
		}
	}
	_, err := t.exec(`release unit`)
	return err
}

// safely turns a panic into an error of that unit alone.
func (w *writer) safely(t *tx, do func(*tx) error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			w.log.Error("a unit of work panicked", "err", fmt.Sprint(p), "stack", string(debug.Stack()))
			err = core.Wrap(core.Internal, fmt.Errorf("panic: %v", p), "Something went wrong inside gatehouse; nothing was changed.")
		}
	}()
	return do(t)
}

// lost reports whether SQLite has left the transaction by itself, as it does when the disk is full or fails.
func (w *writer) lost() bool {
	lost := true
	err := w.conn.Raw(func(c any) error {
		lost = c.(interface{ AutoCommit() bool }).AutoCommit()
		return nil
	})
	return lost || err != nil
}

// undo leaves the connection outside any transaction, or leaves it altogether.
func (w *writer) undo(t *tx) {
	if w.lost() {
		return
	}
	if _, err := t.exec(`rollback`); err != nil {
		w.log.Warn("the writer's connection is replaced", "err", err)
		w.drop()
	}
}

func (w *writer) connect() (err error) {
	if w.conn == nil {
		w.conn, err = w.db.Conn(context.Background())
	}
	return err
}

// drop closes the connection for good: one that is merely given back would come again from the pool, still inside its transaction.
func (w *writer) drop() {
	if w.conn != nil {
		_ = w.conn.Raw(func(any) error { return driver.ErrBadConn })
		w.conn.Close()
		w.conn = nil
	}
}
