package postgres

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"gatehouse/core"
)

// Statement is one SQL statement that was run, for tests and measurements: the rows that a query gave, or that a change changed.
// A transaction's begin, commit and rollback are among them.
type Statement struct {
	SQL     string
	Write   bool
	Rows    int
	Changed int64
}

// tx is what a unit of work speaks to: a transaction or, for reads of a single statement, the pool.
type tx struct {
	ctx   context.Context
	on    runner
	trace func(Statement)
	newID func() string
	now   time.Time // by the database's clock, read after the last lock that was waited for

	speech  []utterance       // what is to be said or drawn anew; see speak
	entries []core.AuditEntry // for the audit log; see seal
}

type runner interface {
	Exec(ctx context.Context, query string, args ...any) (pgconn.CommandTag, error)
	Query(ctx context.Context, query string, args ...any) (pgx.Rows, error)
}

// exec runs a change and gives the number of rows it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	args, err := plain(args)
	if err != nil {
		return 0, err
	}
	tag, err := t.on.Exec(t.ctx, query, args...)
	if err != nil {
		return 0, fmt.Errorf("running %.60q: %w", query, err)
	}
	t.traced(query, tag, 0)
	return tag.RowsAffected(), nil
}

func (t *tx) traced(query string, tag pgconn.CommandTag, rows int) {
	switch {
	case t.trace == nil:
	case tag.Select():
		t.trace(Statement{SQL: query, Rows: rows})
	default:
		t.trace(Statement{SQL: query, Write: true, Changed: tag.RowsAffected()})
	}
}

// row reads one row into dest; found is false where there is none.
func (t *tx) row(dest []any, query string, args ...any) (found bool, err error) {
	err = t.each(query, args, func(scan func(...any) error) error {
		found = true
		return scan(dest...)
	})
	return found, err
}

// exists reports whether the query, which selects a number, gives a row.
func (t *tx) exists(query string, args ...any) (bool, error) {
	return t.row([]any{new(int64)}, query, args...)
}

// each calls visit for every row.
func (t *tx) each(query string, args []any, visit func(scan func(...any) error) error) error {
	args, err := plain(args)
	if err != nil {
		return err
	}
	rows, err := t.on.Query(t.ctx, query, args...)
	if err != nil {
		return fmt.Errorf("running %.60q: %w", query, err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		n++
		if err := visit(rows.Scan); err != nil {
			return fmt.Errorf("reading %.60q: %w", query, err)
		}
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return fmt.Errorf("running %.60q: %w", query, err)
	}
	t.traced(query, rows.CommandTag(), n)
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

// free is an argument that holds free text: what a database's text can't hold in it is replaced. Keys are not treated so, since
// two of them could become one.
type free string

// plain makes arguments of ours what the driver knows.
func plain(args []any) ([]any, error) {
	out := make([]any, len(args))
	for i, a := range args {
		switch a := a.(type) {
		case asJSON:
			text, err := encode(a.v)
			if err != nil {
				return nil, err
			}
			out[i] = text
		case free:
			out[i] = clean(string(a))
		case time.Time:
			if !a.IsZero() { // else null
				out[i] = a
			}
		default:
			out[i] = a
		}
	}
	return out, nil
}

// clean replaces what a database's text can't hold.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", fmt.Errorf("encoding %T: %w", v, err)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// fromJSON is a destination for JSON text.
type fromJSON struct{ v any }

// Scan decodes.
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

// stamp is a destination for a time; null is the zero time.
type stamp struct{ t *time.Time }

// Scan takes the time in UTC.
func (s stamp) Scan(src any) error {
	switch at := src.(type) {
	case nil:
		*s.t = time.Time{}
	case time.Time:
		*s.t = at.UTC()
	default:
		return errors.New("a time is wanted")
	}
	return nil
}
