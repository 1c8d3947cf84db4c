package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"gatehouse/storage/internal/sqlstore"
)

// begin opens a transaction that changes something, in one round trip. All that it sets ends with it: whatever the server, the
// database, the role or a pooler have as their defaults, a commit is on disk before it is answered, nobody waits for ever behind
// a lock, and a process that hangs in the middle loses its locks.
const begin = `begin isolation level read committed read write; set local synchronous_commit = on; set local lock_timeout = '5s'; set local idle_in_transaction_session_timeout = '15s'`

// snapshots opens a transaction of several reads.
const snapshots = `begin isolation level repeatable read read only`

// tries is how often a transaction that the server broke off for another one's sake is run.
const tries = 6

// errUnknown says that the connection was lost during a commit, so that nobody knows whether it took place.
var errUnknown = errors.New("the answer to the commit was lost")

// write runs work in one transaction, again from the start where the server broke it off for the sake of another one (a deadlock,
// a serialization failure): then nothing of it was stored.
func (db *database) write(ctx context.Context, work sqlstore.Work) error {
	for n := 1; ; n++ {
		err := db.transaction(ctx, begin, work)
		if !canRepeat(err) || n == tries {
			return translate(err)
		}
		db.options.Log.Debug("a transaction is repeated", "try", n, "err", err)
		if err := pause(ctx, n); err != nil {
			return err
		}
	}
}

// pause lets the other transactions end. Its length is drawn, so that those who met do not meet again.
func pause(ctx context.Context, n int) error {
	timer := time.NewTimer(time.Duration(n) * time.Duration(rand.N(int64(10*time.Millisecond))))
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("waiting to write: %w", context.Cause(ctx))
	}
}

// transaction runs work between a begin and a commit. A caller may leave until it begins; from then on it is brought to its end, so
// that its outcome is known.
func (db *database) transaction(ctx context.Context, begin string, work sqlstore.Work) (err error) {
	conn, inner, err := db.beginOn(ctx, begin)
	if err != nil {
		return err
	}
	defer conn.Release()
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), db.options.Timeout, errTimeout)
	defer cancel()
	defer func() { err = markTimeout(ctx, err) }()
	committed := false
	defer func() {
		if !committed {
			_ = inner.Rollback(ctx) // where that fails the connection is closed, which undoes it as well
			db.traceOwn("rollback")
		}
	}()
	if err := work(runner(ctx, inner.Exec, inner.Query), time.Time{}); err != nil {
		return err
	}
	err = inner.Commit(ctx)
	committed = err == nil
	if err == nil {
		db.traceOwn("commit")
		return nil
	}
	if conn.Conn().IsClosed() && !answered(err) {
		err = errors.Join(errUnknown, err)
	}
	return fmt.Errorf("committing: %w", err)
}

// beginOn takes a connection and begins on it. One that turns out to be dead, as all do after the server was started again, is
// passed over: nothing was done on it.
func (db *database) beginOn(ctx context.Context, begin string) (conn *pgxpool.Conn, inner pgx.Tx, err error) {
	for range db.pool.Config().MaxConns + 1 {
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("waiting for the database: %w", err)
		}
		if conn, err = db.connection(ctx); err != nil {
			return nil, nil, err
		}
		began, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), db.options.Timeout, errTimeout)
		inner, err = conn.BeginTx(began, pgx.TxOptions{BeginQuery: begin})
		err = markTimeout(began, err)
		cancel()
		if err == nil {
			db.traceOwn(begin)
			return conn, inner, nil
		}
		conn.Release()
		if !connectionDied(err) {
			break
		}
	}
	return nil, nil, fmt.Errorf("beginning: %w", err)
}

// traceOwn traces a statement of the transaction's own.
func (db *database) traceOwn(query string) {
	if db.options.Trace != nil {
		db.options.Trace(sqlstore.Statement{SQL: query, Write: true})
	}
}

// connection takes one from the pool, waiting no longer than a transaction may.
func (db *database) connection(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, db.options.Timeout, errTimeout)
	defer cancel()
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", markTimeout(ctx, err))
	}
	return conn, nil
}

// markTimeout marks the error of what took too long.
func markTimeout(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		return errors.Join(errTimeout, err)
	}
	return err
}

// errTimeout marks what took longer than Options.Timeout.
var errTimeout = errors.New("the database did not answer in time")

// read runs work that reads with a single statement, again where the connection turns out to be dead.
func (db *database) read(ctx context.Context, work sqlstore.Work) (err error) {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("waiting for the database: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, db.options.Timeout, errTimeout)
	defer cancel()
	for range db.pool.Config().MaxConns + 1 {
		if err = markTimeout(ctx, work(runner(ctx, db.pool.Exec, db.pool.Query), time.Time{})); !connectionDied(err) {
			break
		}
	}
	return translate(err)
}

// snapshot runs work whose reads all see the same.
func (db *database) snapshot(ctx context.Context, work sqlstore.Work) error {
	return translate(db.transaction(ctx, snapshots, work))
}
