package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"gatehouse/storage/internal/sqlstore"
)

// beginning begins a transaction.
const beginning = `begin isolation level read committed read write`

// settling gives the transaction the settings of session, where the connection can't have them.
const settling = `select set_config('synchronous_commit', 'on', true), set_config('lock_timeout', '5s', true),
	set_config('idle_in_transaction_session_timeout', '15s', true)`

// transaction is a running transaction. It sends a statement whose result nobody waits for together with the next one
// that has a result, or with the commit; and begin with the first one. The server runs them one after the other, each
// with what was committed before it, as if they were sent one by one, and stops at the first that fails.
type transaction struct {
	ctx     context.Context
	conn    *pgx.Conn
	trace   func(sqlstore.Statement)
	begun   bool
	last    bool // the next statement is sent with the commit
	ended   bool // committed
	pending []statement
}

// statement is one to send. Its rows go to row, unless it is nil, and their number, or that of those that it changed,
// to done, unless it is nil.
type statement struct {
	query string
	args  []any
	row   func(scan func(...any) error) error
	done  func(changed int64)
}

func (t *transaction) runner() sqlstore.Runner {
	return sqlstore.Runner{
		Exec: func(query string, args []any) (changed int64, err error) {
			err = t.send(statement{query: query, args: args, done: func(n int64) { changed = n }})
			return changed, err
		},
		Query: func(query string, args []any, row func(scan func(...any) error) error) error {
			return t.send(statement{query: query, args: args, row: row})
		},
		Later: func(query string, args []any, row func(scan func(...any) error) error, done func(rows int64)) error {
			t.pending = append(t.pending, statement{query: query, args: args, row: row, done: done})
			return nil
		},
		Flush: t.flush,
		Last:  func() { t.last = true },
	}
}

// flush sends what is pending.
func (t *transaction) flush() error {
	if len(t.pending) == 0 {
		return nil
	}
	last := t.pending[len(t.pending)-1]
	t.pending = t.pending[:len(t.pending)-1]
	return t.send(last)
}

// send sends what is pending and the statement, with the commit if it is the last one.
func (t *transaction) send(s statement) error {
	all := append(t.pending, s)
	t.pending = nil
	if !t.begun {
		all = append(t.beginning(), all...)
	}
	if t.last && s.query != committing {
		all = append(all, t.committing())
	}
	err := t.batch(all)
	commits := all[len(all)-1].query == committing
	switch {
	case err == nil:
		t.ended = commits
	case !t.begun && connectionDied(err) && (!commits || t.last): // what is sent with its commit may run again
		err = errors.Join(errNotBegun, err)
	case commits && t.conn.IsClosed() && !answered(err):
		err = errors.Join(errUnknown, err)
	}
	t.begun = true
	return err
}

func (t *transaction) beginning() []statement {
	first := []statement{{query: beginning, done: func(int64) {
		t.trace(sqlstore.Statement{SQL: beginning, Write: true})
	}}}
	if !isDirect(t.conn) {
		first = append(first, statement{query: settling, done: func(int64) {}})
	}
	return first
}

// batch sends statements in one round trip, and reads their results.
func (t *transaction) batch(all []statement) (err error) {
	var b pgx.Batch
	for _, s := range all {
		b.Queue(s.query, s.args...)
	}
	results := t.conn.SendBatch(t.ctx, &b)
	defer func() {
		if closing := results.Close(); err == nil {
			err = closing
		}
	}()
	for i, s := range all {
		if err := result(results, s); err != nil {
			if i < len(all)-1 {
				err = fmt.Errorf("running %.60q: %w", s.query, err)
			}
			return err
		}
	}
	return nil
}

// result reads the result of one statement.
func result(results pgx.BatchResults, s statement) error {
	if s.row == nil {
		tag, err := results.Exec()
		if err != nil {
			return err
		}
		if s.query == committing && tag.String() != "COMMIT" {
			return pgx.ErrTxCommitRollback
		}
		s.done(tag.RowsAffected())
		return nil
	}
	rows, err := results.Query()
	if err != nil {
		return err
	}
	if err := each(rows, s.row); err != nil {
		return err
	}
	if s.done != nil {
		s.done(rows.CommandTag().RowsAffected())
	}
	return nil
}

// each calls row for every row.
func each(rows pgx.Rows, row func(scan func(...any) error) error) error {
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return err
		}
	}
	rows.Close()
	return rows.Err()
}

const committing = `commit`

func (t *transaction) committing() statement {
	return statement{query: committing, done: func(int64) { t.trace(sqlstore.Statement{SQL: committing, Write: true}) }}
}

// commit sends what is pending and commits. A transaction without a statement was never begun.
func (t *transaction) commit() error {
	if t.ended || !t.begun && len(t.pending) == 0 {
		return nil
	}
	if err := t.send(t.committing()); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	return nil
}

// rollback undoes a transaction that was not committed. If it fails, the connection is closed, which undoes it, too.
func (t *transaction) rollback() {
	if !t.begun || t.ended {
		return
	}
	if _, err := t.conn.Exec(t.ctx, `rollback`); err != nil {
		_ = t.conn.Close(t.ctx)
	}
	t.trace(sqlstore.Statement{SQL: "rollback", Write: true})
}

// reader runs single-statement reads.
func reader(ctx context.Context, pool *pgxpool.Pool) sqlstore.Runner {
	exec := func(query string, args []any) (int64, error) {
		tag, err := pool.Exec(ctx, query, args...)
		return tag.RowsAffected(), err
	}
	return sqlstore.Runner{
		Exec: exec,
		Query: func(query string, args []any, row func(scan func(...any) error) error) error {
			rows, err := pool.Query(ctx, query, args...)
			if err != nil {
				return err
			}
			return each(rows, row)
		},
	}
}
