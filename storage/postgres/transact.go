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

// begin opens a write transaction in one round trip. Its settings end with it. Whatever the defaults of the server, the database,
// the role or a pooler: a commit is on disk before it is answered, waits for locks are limited, and a process that hangs in a
// transaction loses its locks.
const begin = `begin isolation level read committed read write; set local synchronous_commit = on; set local lock_timeout = '5s'; set local idle_in_transaction_session_timeout = '15s'`

// tries is the maximum number of runs of a transaction that the server undoes because of another one.
const tries = 6

// errUnknown means that the connection was lost during a commit, so the outcome is unknown.
var errUnknown = errors.New("the answer to the commit was lost")

// write runs work in one transaction. It runs it again from the start if the server undid it because of another one (a deadlock, a
// serialization failure).
func (db *database) write(ctx context.Context, work sqlstore.Work) error {
	for n := 1; ; n++ {
		err := db.transaction(ctx, work)
		if !canRepeat(err) || n == tries {
			return translate(err)
		}
		db.options.Log.Debug("a transaction is repeated", "try", n, "err", err)
		// The wait is random, so that the same transactions do not collide again.
		if err := sleep(ctx, time.Duration(n)*rand.N(10*time.Millisecond)); err != nil {
			return fmt.Errorf("waiting to write: %w", err)
		}
	}
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// transaction runs work between begin and commit. The caller's context can cancel it until it begins; after that it is completed, so
// that its outcome is known.
func (db *database) transaction(ctx context.Context, work sqlstore.Work) (err error) {
	conn, inner, err := db.begin(ctx)
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
			_ = inner.Rollback(ctx) // if it fails, the connection is closed, which undoes it, too
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

// begin takes a connection and begins a transaction on it. It skips dead connections, as after a restart of the server; nothing
// was done on them.
func (db *database) begin(ctx context.Context) (conn *pgxpool.Conn, inner pgx.Tx, err error) {
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

// traceOwn traces begin, commit and rollback.
func (db *database) traceOwn(query string) {
	db.options.Trace(sqlstore.Statement{SQL: query, Write: true})
}

// connection takes a connection from the pool; it waits no longer than Options.Timeout.
func (db *database) connection(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, db.options.Timeout, errTimeout)
	defer cancel()
	conn, err := db.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", markTimeout(ctx, err))
	}
	return conn, nil
}

// markTimeout marks an error as errTimeout if the time was up.
func markTimeout(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errTimeout) {
		return errors.Join(errTimeout, err)
	}
	return err
}

// errTimeout marks what took longer than Options.Timeout.
var errTimeout = errors.New("the database did not answer in time")

// read runs work, which reads with a single statement. It runs it again if the connection turns out to be dead.
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
