package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"gatehouse/storage/internal/sqlstore"
)

// writer lets one goroutine at a time change the database; see the package comment.
type writer struct {
	options   Options
	connector connector
	identity  identity
	conn      *conn      // nil after one had to be given up; used by whoever works
	failed    error      // of closing the last one
	mu        sync.Mutex // guards what follows
	idle      *sync.Cond // working has become false
	queue     []*unit    // that wait, while somebody works
	working   bool
	closed    bool
	company   *time.Timer // runs what waits for others to share their commit
}

// companyWait is how long a patient unit waits for others.
const companyWait = 20 * time.Millisecond

// unit is one caller's transaction, or a request to empty the write-ahead log.
type unit struct {
	ctx  context.Context
	work sqlstore.Work // nil: empty the log
	done chan error
	err  error
}

func newWriter(source connector, first *conn, o Options, file identity) *writer {
	w := &writer{options: o, connector: source, conn: first, identity: file}
	w.idle = sync.NewCond(&w.mu)
	w.company = time.AfterFunc(companyWait, w.alone)
	return w
}

// submit runs work in a transaction and returns its error once the transaction is committed or undone. If nobody works,
// patient work waits for companyWait, to share the commit of whoever comes.
func (w *writer) submit(ctx context.Context, work sqlstore.Work, patient bool) error {
	u := &unit{ctx: ctx, work: work, done: make(chan error, 1)}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return errClosed
	}
	w.queue = append(w.queue, u)
	first := !w.working
	if first && patient {
		first = false
		if len(w.queue) == 1 {
			w.company.Reset(companyWait)
		}
	} else {
		w.working = true
	}
	w.mu.Unlock()
	if first {
		w.batch(w.next())
		if w.more() {
			go w.work()
		}
	}
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

// alone runs what nobody came to share a commit with.
func (w *writer) alone() {
	w.mu.Lock()
	if w.working || len(w.queue) == 0 {
		w.mu.Unlock()
		return
	}
	w.working = true
	w.mu.Unlock()
	w.work()
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
func (w *writer) close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.closed = true
	if len(w.queue) > 0 && !w.working {
		w.working = true
		go w.work()
	}
	for w.working {
		w.idle.Wait()
	}
	w.dropConnection()
	return w.failed
}

// next takes all units that wait.
func (w *writer) next() []*unit {
	w.mu.Lock()
	defer w.mu.Unlock()
	units := w.queue
	w.queue = nil
	w.company.Stop()
	return units
}

// more reports whether units wait; if none does, the caller's work is over.
func (w *writer) more() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.queue) > 0 {
		return true
	}
	w.working = false
	w.idle.Signal()
	return false
}

// work runs what waits, until nothing does. Whoever finds nobody at work runs the first batch itself, which costs no
// change of goroutines; this is for those who came meanwhile.
func (w *writer) work() {
	for {
		w.batch(w.next())
		if !w.more() {
			return
		}
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

// emptyLog moves the write-ahead log into the file and truncates the log. A reader in the way is no error. The log's
// header counts how often that was done, but only if the connection that writes the log does it; checkLog needs the
// count.
func (w *writer) emptyLog() (err error) {
	if err := w.connect(); err != nil {
		return err
	}
	for _, query := range []string{
		fmt.Sprintf(`pragma busy_timeout = %d`, checkpointWait.Milliseconds()),
		`pragma wal_checkpoint(truncate)`,
		fmt.Sprintf(`pragma busy_timeout = %d`, w.options.Timeout.Milliseconds()),
	} {
		failed := w.conn.query(context.Background(), query, nil, func(func(...any) error) error { return nil })
		if failed != nil {
			err = errors.Join(err, fmt.Errorf("running %q: %w", query, failed))
		}
	}
	return err
}

func (w *writer) connect() (err error) {
	if w.conn == nil {
		w.conn, err = connect(w.connector)
	}
	return err
}
