package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"
)

// Statement is one SQL statement that was run, for tests and measurements: the rows that a query gave, or that a change changed.
// The writer's own begin, savepoint and commit are among them.
type Statement struct {
	SQL     string
	Write   bool
	Rows    int
	Changed int64
}

// tx is what a unit of work speaks to: the writer's connection inside the unit's savepoint, or a reader's snapshot. The driver
// keeps its connections' prepared statements by their text.
type tx struct {
	ctx   context.Context
	on    runner
	trace func(Statement)
	newID func() string
	now   time.Time
}

type runner interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// exec runs a change and gives the number of rows it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	r, err := t.run(query, args)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// insert runs an insert and gives the new row's number.
func (t *tx) insert(query string, args ...any) (int64, error) {
	r, err := t.run(query, args)
	if err != nil {
		return 0, err
	}
	return r.LastInsertId()
}

func (t *tx) run(query string, args []any) (sql.Result, error) {
	r, err := t.on.ExecContext(t.ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("running %.60q: %w", query, err)
	}
	if t.trace != nil {
		n, _ := r.RowsAffected()
		t.trace(Statement{SQL: query, Write: true, Changed: n})
	}
	return r, nil
}

// row reads one row into dest; found is false where there is none.
func (t *tx) row(dest []any, query string, args ...any) (found bool, err error) {
	err = t.each(query, args, func(scan func(...any) error) error {
		found = true
		return scan(dest...)
	})
	return found, err
}

// exists reports whether the query gives a row.
func (t *tx) exists(query string, args ...any) (bool, error) {
	return t.row([]any{new(any)}, query, args...)
}

// each calls visit for every row.
func (t *tx) each(query string, args []any, visit func(scan func(...any) error) error) (err error) {
	rows, err := t.on.QueryContext(t.ctx, query, args...)
	if err != nil {
		return fmt.Errorf("running %.60q: %w", query, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	n := 0
	for rows.Next() {
		n++
		if err := visit(rows.Scan); err != nil {
			return err
		}
	}
	if t.trace != nil {
		t.trace(Statement{SQL: query, Rows: n})
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading %.60q: %w", query, err)
	}
	return nil
}

// list reads all rows of a query, each by read.
func list[T any](t *tx, read func(scan func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	var all []T
	err := t.each(query, args, func(scan func(...any) error) error {
		one, err := read(scan)
		all = append(all, one)
		return err
	})
	return all, err
}

// texts reads a column of texts.
func (t *tx) texts(query string, args ...any) ([]string, error) {
	return list(t, func(scan func(...any) error) (s string, err error) { return s, scan(&s) }, query, args...)
}

// asJSON is an argument that is stored as JSON text.
type asJSON struct{ v any }

func (j asJSON) Value() (driver.Value, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(j.v); err != nil {
		return nil, fmt.Errorf("encoding %T: %w", j.v, err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// fromJSON is a destination for JSON text.
type fromJSON struct{ v any }

func (j fromJSON) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("decoding %T: a text is wanted, not %T", j.v, src)
	}
	if err := json.Unmarshal([]byte(text), j.v); err != nil {
		return fmt.Errorf("decoding %T: %w", j.v, err)
	}
	return nil
}

// latest is the latest time that fits; a later one is given by nobody but who means "never".
var latest = time.Unix(0, math.MaxInt64)

// ns is how a time is stored.
func ns(t time.Time) int64 {
	switch {
	case t.IsZero():
		return 0
	case t.After(latest):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// stamp is a destination for a stored time.
type stamp struct{ t *time.Time }

func (s stamp) Scan(src any) error {
	n, ok := src.(int64)
	if !ok {
		return fmt.Errorf("a time is stored as %T", src)
	}
	*s.t = time.Time{}
	if n != 0 {
		*s.t = time.Unix(0, n).UTC()
	}
	return nil
}
