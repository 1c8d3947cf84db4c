package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"gatehouse/core"
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

// write runs do in one transaction, again from the start where the server broke it off for the sake of another one (a deadlock,
// a serialization failure): then nothing of it was stored. do must set what it gives anew each time.
func (s *Store) write(ctx context.Context, do func(*tx) error) error {
	for n := 1; ; n++ {
		err := s.transaction(ctx, begin, func(t *tx) error {
			if err := do(t); err != nil {
				return err
			}
			if err := t.speak(); err != nil {
				return fmt.Errorf("writing the outbox: %w", err)
			}
			return t.seal()
		})
		if !brokenOff(err) || n == tries {
			return translate(err)
		}
		s.options.Log.Debug("a transaction is repeated", "try", n, "err", err)
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

// transaction runs do between a begin and a commit. A caller who leaves is heard until it begins; from then on it is brought to
// its end, so that its outcome is known.
func (s *Store) transaction(ctx context.Context, begin string, do func(*tx) error) (err error) {
	conn, inner, err := s.begun(ctx, begin)
	if err != nil {
		return err
	}
	defer conn.Release()
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), s.options.Patience, errPatience)
	defer cancel()
	defer func() { err = patiently(ctx, err) }()
	t := s.tx(ctx, inner)
	committed := false
	defer func() {
		if !committed {
			_ = inner.Rollback(ctx) // where that fails the connection is closed, which undoes it as well
			t.note("rollback")
		}
	}()
	if err := do(t); err != nil {
		return err
	}
	err = inner.Commit(ctx)
	committed = err == nil
	if err == nil {
		t.note("commit")
		return nil
	}
	if conn.Conn().IsClosed() && !told(err) {
		err = errors.Join(errUnknown, err)
	}
	return fmt.Errorf("committing: %w", err)
}

// begun takes a connection and begins on it. One that turns out to be dead, as all do after the server was started again, is
// passed over: nothing was done on it.
func (s *Store) begun(ctx context.Context, begin string) (conn *pgxpool.Conn, inner pgx.Tx, err error) {
	for range s.pool.Config().MaxConns + 1 {
		if err := ctx.Err(); err != nil {
			return nil, nil, fmt.Errorf("waiting for the database: %w", err)
		}
		if conn, err = s.connection(ctx); err != nil {
			return nil, nil, err
		}
		began, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), s.options.Patience, errPatience)
		inner, err = conn.BeginTx(began, pgx.TxOptions{BeginQuery: begin})
		err = patiently(began, err)
		cancel()
		if err == nil {
			s.tx(ctx, inner).note(begin)
			return conn, inner, nil
		}
		conn.Release()
		if !died(err) {
			break
		}
	}
	return nil, nil, fmt.Errorf("beginning: %w", err)
}

func (s *Store) tx(ctx context.Context, on runner) *tx {
	return &tx{ctx: ctx, on: on, trace: s.options.Trace, newID: s.options.NewID}
}

func (t *tx) note(query string) {
	if t.trace != nil {
		t.trace(Statement{SQL: query, Write: true})
	}
}

// connection takes one from the pool, waiting no longer than a transaction may.
func (s *Store) connection(ctx context.Context) (*pgxpool.Conn, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.Patience, errPatience)
	defer cancel()
	conn, err := s.pool.Acquire(ctx)
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", patiently(ctx, err))
	}
	return conn, nil
}

// patiently marks the error of what took too long.
func patiently(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errPatience) {
		return errors.Join(errPatience, err)
	}
	return err
}

// errPatience marks what took longer than Options.Patience.
var errPatience = errors.New("the database did not answer in time")

// fenced runs do in one transaction, if the claim still holds its conversation.
func (s *Store) fenced(ctx context.Context, c core.Claim, do func(*tx) error) error {
	return s.write(ctx, func(t *tx) error {
		if err := t.fence(c); err != nil {
			return err
		}
		return do(t)
	})
}

// read runs do, which reads with a single statement; again where the connection turns out to be dead.
func (s *Store) read(ctx context.Context, do func(*tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("waiting for the database: %w", err)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, s.options.Patience, errPatience)
	defer cancel()
	for range s.pool.Config().MaxConns + 1 {
		if err = patiently(ctx, do(s.tx(ctx, s.pool))); !died(err) {
			break
		}
	}
	return translate(err)
}

// snapshot runs do, whose reads all see the same.
func (s *Store) snapshot(ctx context.Context, do func(*tx) error) error {
	return translate(s.transaction(ctx, snapshots, do))
}
