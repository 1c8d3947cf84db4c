package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"reflect"

	"github.com/mattn/go-sqlite3"

	"gatehouse/storage/internal/sqlstore"
)

// conn is one connection, for one goroutine at a time. It uses the driver without database/sql, and prepares each
// statement once: the same few run thousands of times a second, and preparing them, and handing them from goroutine to
// goroutine, would cost more than running them.
type conn struct {
	db       *sqlite3.SQLiteConn
	prepared map[string]*statement
	changed  bool // a statement that may change something was run; set by exec and query
}

// statement is a prepared statement.
type statement struct {
	*sqlite3.SQLiteStmt
	readonly bool
	inputs   int            // its parameters
	columns  []driver.Value // room for one row
}

// preparedAtMost is how many statements a connection keeps. Most are of fixed text; some have as many parameters as
// they have values.
const preparedAtMost = 256

// connect opens a connection with a data source name.
func connect(c connector) (*conn, error) {
	opened, err := c.Connect(context.Background())
	if err != nil {
		return nil, fmt.Errorf("connecting: %w", err)
	}
	return &conn{db: opened.(*sqlite3.SQLiteConn), prepared: map[string]*statement{}}, nil
}

// close closes the connection, and with it a transaction that is open.
func (c *conn) close() error {
	var err error
	for _, s := range c.prepared {
		err = errors.Join(err, s.Close())
	}
	c.prepared = nil
	return errors.Join(err, c.db.Close())
}

// statement returns the prepared statement of a text.
func (c *conn) statement(text string) (*statement, error) {
	if s, ok := c.prepared[text]; ok {
		return s, nil
	}
	for old, s := range c.prepared { // any one makes room
		if len(c.prepared) < preparedAtMost {
			break
		}
		delete(c.prepared, old)
		if err := s.Close(); err != nil {
			return nil, err
		}
	}
	made, err := c.db.Prepare(text)
	if err != nil {
		return nil, err
	}
	s := &statement{SQLiteStmt: made.(*sqlite3.SQLiteStmt)}
	s.readonly, s.inputs = s.Readonly(), s.NumInput()
	c.prepared[text] = s
	return s, nil
}

// statements are those of one unit of work. Its queries end with ctx.
type statements struct {
	ctx     context.Context
	conn    *conn
	options *Options
}

// runner runs the statements of one unit of work.
func (c *conn) runner(ctx context.Context, o *Options) sqlstore.Runner {
	return sqlstore.AtOnce{Statements: statements{ctx: ctx, conn: c, options: o}}
}

// Exec runs a change.
func (s statements) Exec(text string, args []any) (changed int64, err error) {
	if changed, err = s.conn.exec(text, args); err != nil {
		return 0, err
	}
	s.options.Trace(sqlstore.Executed(text, changed))
	return changed, nil
}

// Query calls row for every row.
func (s statements) Query(text string, args []any, row sqlstore.Row) error {
	n := int64(0)
	err := s.conn.query(s.ctx, text, args, func(scan func(...any) error) error {
		n++
		return row(scan)
	})
	if err == nil {
		s.options.Trace(sqlstore.Executed(text, n))
	}
	return err
}

// exec runs a statement that returns no rows, and returns the number of rows that it changed. One that only reads is
// run to its end.
func (c *conn) exec(text string, args []any) (int64, error) {
	s, err := c.statement(text)
	if err != nil {
		return 0, err
	}
	if s.readonly {
		return 0, c.query(context.Background(), text, args, func(func(...any) error) error { return nil })
	}
	named, err := bound(s, args)
	if err != nil {
		return 0, err
	}
	c.changed = true
	r, err := s.ExecContext(context.Background(), named)
	if err != nil {
		return 0, err
	}
	return r.RowsAffected()
}

// query runs a statement and calls row for each row, which must not use the connection. If ctx ends, the statement is
// interrupted.
func (c *conn) query(ctx context.Context, text string, args []any, row sqlstore.Row) (err error) {
	s, err := c.statement(text)
	if err != nil {
		return err
	}
	named, err := bound(s, args)
	if err != nil {
		return err
	}
	c.changed = c.changed || !s.readonly
	rows, err := s.QueryContext(ctx, named)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	if s.columns == nil {
		s.columns = make([]driver.Value, len(rows.Columns()))
	}
	scan := func(dest ...any) error { return assignAll(dest, s.columns) }
	for {
		switch err := rows.Next(s.columns); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := row(scan); err != nil {
			return err
		}
	}
}

// bound numbers a statement's arguments and converts them to the types that the driver takes.
func bound(s *statement, args []any) ([]driver.NamedValue, error) {
	if s.inputs != len(args) {
		return nil, fmt.Errorf("the statement has %d parameters, not %d", s.inputs, len(args))
	}
	named := make([]driver.NamedValue, len(args))
	for i, a := range args {
		switch a.(type) {
		case string, int64, bool, []byte, nil:
		default:
			value, err := driver.DefaultParameterConverter.ConvertValue(a)
			if err != nil {
				return nil, fmt.Errorf("converting the argument %d: %w", i+1, err)
			}
			a = value
		}
		named[i] = driver.NamedValue{Ordinal: i + 1, Value: a}
	}
	return named, nil
}

// assignAll scans a row.
func assignAll(dest []any, row []driver.Value) error {
	if len(dest) != len(row) {
		return fmt.Errorf("the row has %d columns, not %d", len(row), len(dest))
	}
	for i, d := range dest {
		if err := assign(d, row[i]); err != nil {
			return fmt.Errorf("scanning the column %d: %w", i+1, err)
		}
	}
	return nil
}

// assign sets what dest points to.
func assign(dest any, value driver.Value) error {
	switch d := dest.(type) {
	case sql.Scanner:
		return d.Scan(value)
	case *[]byte:
		switch v := value.(type) {
		case nil:
			*d = nil
			return nil
		case []byte: // the driver's own copy
			*d = v
			return nil
		}
	default:
		to := reflect.ValueOf(dest).Elem()
		switch v := value.(type) {
		case string:
			if to.Kind() == reflect.String {
				to.SetString(v)
				return nil
			}
		case int64:
			switch {
			case to.CanInt() && !to.OverflowInt(v):
				to.SetInt(v)
				return nil
			case to.Kind() == reflect.Bool && (v == 0 || v == 1):
				to.SetBool(v == 1)
				return nil
			}
		}
	}
	return fmt.Errorf("%T can't be stored in %T", value, dest)
}
