package postgres

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"

	"gatehouse/storage/internal/sqlstore"
)

// beginning begins a transaction.
const beginning = `begin isolation level read committed read write`

// settling gives the transaction the settings of session, where the connection can't have them.
const settling = `select set_config('synchronous_commit', 'on', true), set_config('lock_timeout', '5s', true),
	set_config('idle_in_transaction_session_timeout', '15s', true)`

var (
	_ sqlstore.Runner     = (*transaction)(nil)
	_ sqlstore.Statements = reading{}
)

// transaction is a running transaction. It sends a statement whose result nobody waits for together with the next one
// that has a result, or with the commit; and begin with the first one. The server runs them one after the other, each
// with what was committed before it, as if they were sent one by one, and stops at the first that fails.
type transaction struct {
	ctx     context.Context
	conn    *pgx.Conn
	options *Options
	begun   bool
	last    bool // the next statement is sent with the commit
	ended   bool // committed
	pending []*statement
}

// statement is one to send.
type statement struct {
	query string
	args  []any
	row   sqlstore.Row // called for every row; nil: it is a change
	rows  int64        // that it returned or changed, once it has run
}

// Exec runs a change.
func (t *transaction) Exec(query string, args []any) (changed int64, err error) {
	s := &statement{query: query, args: args}
	err = t.send(s)
	return s.rows, err
}

// Query calls row for every row.
func (t *transaction) Query(query string, args []any, row sqlstore.Row) error {
	return t.send(&statement{query: query, args: args, row: row})
}

// Later has a statement sent with the next one.
func (t *transaction) Later(query string, args []any, row sqlstore.Row) error {
	t.pending = append(t.pending, &statement{query: query, args: args, row: row})
	return nil
}

// Last has the next statement sent with the commit.
func (t *transaction) Last() { t.last = true }

// Flush sends what is pending.
func (t *transaction) Flush() error {
	if len(t.pending) == 0 {
		return nil
	}
	last := t.pending[len(t.pending)-1]
	t.pending = t.pending[:len(t.pending)-1]
	return t.send(last)
}

// send sends what is pending and the statement, with the commit if it is the last one.
func (t *transaction) send(s *statement) error {
	all := append(t.pending, s)
	t.pending = nil
	if !t.begun {
		all = append(t.beginning(), all...)
	}
	if t.last && s.query != committing {
		all = append(all, &statement{query: committing})
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

func (t *transaction) beginning() []*statement {
	first := []*statement{{query: beginning}}
	if !isDirect(t.conn) {
		first = append(first, &statement{query: settling})
	}
	return first
}

// batch sends statements in one round trip, and reads their results.
func (t *transaction) batch(all []*statement) (err error) {
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
		if err := s.read(results); err != nil {
			if s.query == beginning && codeOf(err) == notSupported {
				err = errors.Join(errStandby, err) // it can't begin to write
			}
			if i < len(all)-1 {
				err = fmt.Errorf("running %.60q: %w", s.query, err)
			}
			return err
		}
		t.options.Trace(sqlstore.Executed(s.query, s.rows))
	}
	return nil
}

// read reads the result of one statement.
func (s *statement) read(results pgx.BatchResults) (err error) {
	if s.row != nil {
		rows, err := results.Query()
		if err != nil {
			return err
		}
		s.rows, err = each(rows, s.row)
		return err
	}
	tag, err := results.Exec()
	if err != nil {
		return err
	}
	if s.query == committing && tag.String() != "COMMIT" {
		return pgx.ErrTxCommitRollback
	}
	s.rows = tag.RowsAffected()
	return nil
}

// each calls row for every row, and returns their number.
func each(rows pgx.Rows, row sqlstore.Row) (n int64, err error) {
	defer rows.Close()
	for rows.Next() {
		if err := row(rows.Scan); err != nil {
			return 0, err
		}
	}
	rows.Close()
	return rows.CommandTag().RowsAffected(), rows.Err()
}

const committing = `commit`

// commit sends what is pending and commits. A transaction without a statement was never begun.
func (t *transaction) commit() error {
	if t.ended || !t.begun && len(t.pending) == 0 {
		return nil
	}
	if err := t.send(&statement{query: committing}); err != nil {
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
	t.options.Trace(sqlstore.Executed("rollback", 0))
}

// reading runs reads of a single statement.
type reading struct {
	ctx context.Context
	db  *database
}

// Exec runs a statement without rows.
func (r reading) Exec(query string, args []any) (changed int64, err error) {
	tag, err := r.db.pool.Exec(r.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	r.db.options.Trace(sqlstore.Executed(query, tag.RowsAffected()))
	return tag.RowsAffected(), nil
}

// Query calls row for every row.
func (r reading) Query(query string, args []any, row sqlstore.Row) error {
	rows, err := r.db.pool.Query(r.ctx, query, args...)
	if err != nil {
		return err
	}
	n, err := each(rows, row)
	if err == nil {
		r.db.options.Trace(sqlstore.Executed(query, n))
	}
	return err
}
