package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"gatehouse/storage/internal/sqlstore"
)

// tries is the maximum number of runs of a transaction that the server undoes because of another one.
const tries = 6

// errUnknown means that the connection was lost during a commit, so the outcome is unknown.
var errUnknown = errors.New("the answer to the commit was lost")

// errNotBegun means that the connection turned out to be dead at the first statement of a transaction, so nothing was
// done on it, or what may be done again.
var errNotBegun = errors.New("the connection was lost before the transaction began")

// Write runs work in one transaction. It runs it again from the start if the server undid it because of another one (a
// deadlock, a serialization failure), if the connection was dead or led to a standby, or if prepared statements turn
// out not to be kept.
func (db *database) Write(ctx context.Context, work sqlstore.Work) error {
	atOnce := db.pool.Config().MaxConns + 1 // repeats that wait for nobody
	for n := 1; ; {
		err := db.transaction(ctx, work)
		switch {
		case atOnce > 0 && (errors.Is(err, errNotBegun) || db.preparing.isLost(err) || planChanged(err)):
			atOnce--
		case atOnce > 0 && isStandby(err) && !connecting(err):
			db.preparing.leave()
			atOnce = 0 // a new connection finds the primary, or tells that there is none
		case canRepeat(err) && n < tries:
			db.options.Log.Debug("a transaction is repeated", "try", n, "err", err)
			// The wait is random, so that the same transactions do not collide again.
			if err := sleep(ctx, time.Duration(n)*rand.N(10*time.Millisecond)); err != nil {
				return fmt.Errorf("waiting to write: %w", err)
			}
			n++
		default:
			return translate(err)
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

// transaction runs work between begin and commit. The caller's context can cancel it until it begins; after that it is
// completed, so that its outcome is known.
func (db *database) transaction(ctx context.Context, work sqlstore.Work) (err error) {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("waiting for the database: %w", err)
	}
	conn, err := db.connection(ctx)
	if err != nil {
		return err
	}
	defer conn.Release()
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), db.options.Timeout, errTimeout)
	defer cancel()
	defer func() { err = markTimeout(ctx, err) }()
	t := &transaction{ctx: ctx, conn: conn.Conn(), options: &db.options}
	defer t.rollback()
	if err := work(t, time.Time{}); err != nil {
		return err
	}
	return t.commit()
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

// Beat is Write on the connection of the beats.
func (db *database) Beat(ctx context.Context, work sqlstore.Work) error {
	return db.beats.Write(ctx, work)
}

// Read runs work, which reads with a single statement. It runs it again if the connection turns out to be dead, or if
// prepared statements turn out not to be kept.
func (db *database) Read(ctx context.Context, work sqlstore.Work) (err error) {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("waiting for the database: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, db.options.Timeout, errTimeout)
	defer cancel()
	for range db.pool.Config().MaxConns + 1 {
		err = markTimeout(ctx, work(sqlstore.AtOnce{Statements: reading{ctx: ctx, db: db}}, time.Time{}))
		if !connectionDied(err) && !db.preparing.isLost(err) && !planChanged(err) {
			break
		}
	}
	return translate(err)
}
