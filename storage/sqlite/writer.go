package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// writer is the one goroutine that changes the database; see the package comment.
type writer struct {
	options Options
	db      *sql.DB
	check   func() error // that what is committed can be found again
	conn    *sql.Conn
	ended   chan struct{}
	mu      sync.Mutex // guards what follows
	change  *sync.Cond // of queue or closed
	queue   []*unit    // that wait
	closed  bool
}

// unit is one caller's transaction, or a request to empty the write-ahead log.
type unit struct {
	ctx  context.Context
	work sqlstore.Work // nil: empty the log
	done chan error
	err  error
}

func newWriter(db *sql.DB, o Options, check func() error) *writer {
	w := &writer{options: o, db: db, check: check, ended: make(chan struct{})}
	w.change = sync.NewCond(&w.mu)
	go w.run()
	return w
}

// submit runs work in a transaction and returns its error once the transaction is committed or undone.
func (w *writer) submit(ctx context.Context, work sqlstore.Work) error {
	u := &unit{ctx: ctx, work: work, done: make(chan error, 1)}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return errClosed
	}
	w.queue = append(w.queue, u)
	w.change.Signal()
	w.mu.Unlock()
	select {
	case err := <-u.done:
		return err
	case <-ctx.Done():
		if w.withdraw(u) {
			return fmt.Errorf("waiting to write: %w", ctx.Err())
		}
		return <-u.done
	}
}

// withdraw takes a unit out of the queue; it reports whether the unit was still there.
func (w *writer) withdraw(u *unit) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.queue)
	w.queue = slices.DeleteFunc(w.queue, func(other *unit) bool { return other == u })
	return len(w.queue) < n
}

// close waits for submitted work to end, and accepts no more.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.change.Signal()
	w.mu.Unlock()
	<-w.ended
}

func (w *writer) run() {
	defer close(w.ended)
	defer w.dropConnection()
	for {
		w.mu.Lock()
		for len(w.queue) == 0 && !w.closed {
			w.change.Wait()
		}
		units := w.queue
		w.queue = nil
		w.mu.Unlock()
		if len(units) == 0 {
			return
		}
		w.batch(units)
	}
}

// batch runs the units in one transaction and answers each.
func (w *writer) batch(units []*unit) {
	taken := units[:0:0]
	for _, u := range units {
		switch {
		case u.ctx.Err() != nil:
			u.done <- fmt.Errorf("waiting to write: %w", context.Cause(u.ctx))
		case u.work == nil:
			defer func() { u.done <- w.emptyLog() }()
		default:
			taken = append(taken, u)
		}
	}
	if len(taken) == 0 {
		return
	}
	err := w.runBatch(taken)
	for _, u := range taken {
		if err != nil {
			u.err = err
		}
		u.done <- u.err
	}
}

// checkpointWait is how long the emptying of the log may wait for readers, while all other writes wait for it.
const checkpointWait = 100 * time.Millisecond

// emptyLog moves the write-ahead log into the file and truncates the log. A reader in the way is no error. The log's header counts how
// often that was done, but only if the connection that writes the log does it; checkLog needs the count.
func (w *writer) emptyLog() (err error) {
	if err := w.connect(); err != nil {
		return err
	}
	for _, query := range []string{
		fmt.Sprintf(`pragma busy_timeout = %d`, checkpointWait.Milliseconds()),
		`pragma wal_checkpoint(truncate)`,
		fmt.Sprintf(`pragma busy_timeout = %d`, w.options.Timeout.Milliseconds()),
	} {
		if _, failed := w.conn.ExecContext(context.Background(), query); failed != nil {
			err = errors.Join(err, fmt.Errorf("running %q: %w", query, failed))
		}
	}
	return err
}

func (w *writer) connect() (err error) {
	if w.conn == nil {
		if w.conn, err = w.db.Conn(context.Background()); err != nil {
			return fmt.Errorf("connecting: %w", err)
		}
	}
	return nil
}

// runBatch returns an error if the whole transaction failed; a unit's own failure is kept in the unit.
func (w *writer) runBatch(units []*unit) (err error) {
	if err := w.connect(); err != nil {
		return err
	}
	if err := w.exec(`begin immediate`); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			w.undo()
		}
	}()
	for _, u := range units {
		if err := w.runUnit(u); err != nil {
			return err
		}
	}
	if err := w.check(); err != nil {
		return err
	}
	return w.exec(`commit`)
}

// exec runs one of the writer's own statements.
func (w *writer) exec(query string) error {
	if _, err := w.conn.ExecContext(context.Background(), query); err != nil {
		return fmt.Errorf("running %q: %w", query, err)
	}
	w.options.Trace(sqlstore.Statement{SQL: query, Write: true})
	return nil
}

// runUnit runs a unit in its savepoint. It returns an error if the surrounding transaction is lost.
func (w *writer) runUnit(u *unit) error {
	if err := w.exec(`savepoint unit`); err != nil {
		return err
	}
	u.err = w.recovered(u.work)
	if w.transactionLost() {
		return errors.Join(errors.New("the transaction was given up"), u.err)
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
			err = core.Wrap(core.Internal, fmt.Errorf("panic: %v", p), "Something went wrong inside gatehouse; nothing was changed.")
		}
	}()
	return work(runner(context.Background(), w.conn.ExecContext, w.conn.QueryContext), clock(w.options.Now))
}

// transactionLost reports whether SQLite has ended the transaction itself, as it does if the disk is full or fails.
func (w *writer) transactionLost() bool {
	lost := true
	err := w.conn.Raw(func(c any) error {
		lost = c.(interface{ AutoCommit() bool }).AutoCommit()
		return nil
	})
	return lost || err != nil
}

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

// dropConnection closes the connection permanently. If it were only released, the pool would return it again, still in its
// transaction.
func (w *writer) dropConnection() {
	if w.conn != nil {
		_ = w.conn.Raw(func(any) error { return driver.ErrBadConn })
		w.conn.Close()
		w.conn = nil
	}
}
