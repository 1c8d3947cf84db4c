package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"gatehouse/storage/internal/sqlstore"
)

// writer lets one goroutine at a time change the database; see the package comment.
type writer struct {
	options   Options
	connector connector
	file      string
	identity  atomic.Pointer[identity] // of what the connection has opened
	conn      *conn                    // nil after one had to be given up; used by whoever works
	failed    error                    // of closing the last one
	long      longLog
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

func newWriter(source connector, file string, o Options) *writer {
	w := &writer{options: o, connector: source, file: file, long: longLog{from: warnedLog}}
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

func (w *writer) connect() error {
	if w.conn != nil {
		return nil
	}
	made, err := connect(w.connector)
	if err != nil {
		return err
	}
	var file *identity
	// a file that had no log of writes before, such as a backup, gets one when it is read first
	err = made.query(context.Background(), `select 1 from sqlite_schema limit 1`, nil,
		func(func(...any) error) error { return nil })
	if err == nil {
		file, err = identify(w.file)
	}
	if err != nil {
		return errors.Join(err, made.close())
	}
	w.conn = made
	w.identity.Store(file)
	return nil
}

// here fails if the file and its log are not the ones that the connection has opened.
func (w *writer) here() error {
	size, err := w.identity.Load().check()
	if err == nil {
		w.long.note(size, w.file, w.options.Log)
	}
	return err
}

// rescue moves what the log holds into the file, if the log itself was removed: else it would be lost with the process.
// Nothing is moved from a log that another one has replaced, since others may use that one with the file.
func (w *writer) rescue(err error) {
	if !errors.Is(err, errLogGone) || !errors.Is(err, fs.ErrNotExist) || w.conn == nil {
		return
	}
	moved := w.conn.query(context.Background(), `pragma wal_checkpoint(passive)`, nil,
		func(func(...any) error) error { return nil })
	if moved != nil {
		w.options.Log.Error("what the removed log of the database holds could not be moved into the file",
			"err", moved)
	}
}

// warnedLog is the length in bytes from which a log is warned of.
const warnedLog = 256 << 20

// longLog warns of a write-ahead log that grows, once until it is short again.
type longLog struct {
	from   int64
	warned bool
}

func (l *longLog) note(size int64, file string, log *slog.Logger) {
	long := size >= l.from
	if long && !l.warned {
		log.Warn(fmt.Sprintf("the write-ahead log of the database, %s-wal, has grown to %d MiB, because something has "+
			"been reading the database for long: end that read (a backup, a copy or a shell that holds the file "+
			"open); then the log is emptied", file, size>>20))
	}
	if l.warned && !long {
		log.Info("the write-ahead log of the database is short again")
	}
	l.warned = long
}
