package sqlstore

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"gatehouse/core"
)

// Tx is one transaction, or one read. Arguments of its statements are plain values, times, and this package's types
// that say how a value is stored.
type Tx struct {
	// Now is the time of the transaction. With the database's clock it is set once a lock was taken or readClock was
	// called.
	Now time.Time

	run        Runner
	store      *Store
	sql        *Traits // of the engine
	outbox     outboxChanges
	audited    auditChanges
	clockAsked bool      // no lock needs to read the clock: it was asked for, or is not needed
	repeatable bool      // if it takes a single round trip, it may be run again although it was committed
	left       core.Left // what others can claim in the queues and destinations that it has released
}

// Exec runs a change and returns the number of rows it changed.
func (t *Tx) Exec(query string, args ...any) (changed int64, err error) {
	values, err := plain(args)
	if err != nil {
		return 0, err
	}
	changed, err = t.run.Exec(query, values)
	return changed, running(query, err)
}

// Do runs a change whose result nobody needs. It may be sent to the server together with the transaction's next
// statement, which then fails if it fails.
func (t *Tx) Do(query string, args ...any) error { return t.askEach(query, args, nil) }

// ask is Row whose result is there after flush, or once the transaction is committed. found may be nil. What is asked
// together costs one round trip to the server. What is asked with the commit must not fail in its scan: the transaction
// would be committed all the same.
func (t *Tx) ask(found *bool, dest []any, query string, args ...any) error {
	return t.askEach(query, args, func(scan func(...any) error) error {
		if found != nil {
			*found = true
		}
		return scan(dest...)
	})
}

// askExists sets found if the query, which selects a number, returns a row; its result is there as late as ask's.
func (t *Tx) askExists(found *bool, query string, args ...any) error {
	return t.ask(found, []any{new(int64)}, query, args...)
}

// askEach is each, but visit may be called as late as by flush, or by the commit.
func (t *Tx) askEach(query string, args []any, visit Row) error {
	values, err := plain(args)
	if err != nil {
		return err
	}
	return running(query, t.run.Later(query, values, visit))
}

// flush waits for what was asked.
func (t *Tx) flush() error { return t.run.Flush() }

// flushed waits for what was asked, unless asking failed.
func (t *Tx) flushed(asking error) error {
	if asking != nil {
		return asking
	}
	return t.flush()
}

// each calls visit for every row.
func (t *Tx) each(query string, args []any, visit Row) error {
	values, err := plain(args)
	if err != nil {
		return err
	}
	return running(query, t.run.Query(query, values, visit))
}

// Row reads one row into dest; found is false if there is none.
func (t *Tx) Row(dest []any, query string, args ...any) (found bool, err error) {
	err = t.each(query, args, func(scan func(...any) error) error {
		found = true
		return scan(dest...)
	})
	return found, err
}

// exists reports whether the query, which selects a number, returns a row.
func (t *Tx) exists(query string, args ...any) (bool, error) {
	return t.Row([]any{new(int64)}, query, args...)
}

// List returns all rows of a query, each scanned by read.
func List[T any](t *Tx, read func(scan func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	var all []T
	err := t.each(query, args, func(scan func(...any) error) error {
		one, err := read(scan)
		all = append(all, one)
		return err
	})
	return all, err
}

// one returns the first row of a query, scanned by read; found is false if there is none.
func one[T any](
	t *Tx, read func(scan func(...any) error) (T, error), query string, args ...any,
) (row T, found bool, err error) {
	all, err := List(t, read, query, args...)
	if err != nil || len(all) == 0 {
		return row, false, err
	}
	return all[0], true, nil
}

// Texts returns a column of texts.
func (t *Tx) Texts(query string, args ...any) ([]string, error) {
	return List(t, func(scan func(...any) error) (s string, err error) { return s, scan(&s) }, query, args...)
}

// SetBack is how far ahead the beginning of a delay must be to show that the clock was set back, since when the delay
// counts as over. It may be a little ahead of a transaction that read the clock before.
const SetBack = 5 * time.Second

// delayed returns the end of a delay, as it is stored: none for a delay that is over at once, so that it does not
// depend on the clock.
func (t *Tx) delayed(wait time.Duration) time.Time {
	if wait <= 0 {
		return time.Time{}
	}
	return t.Now.Add(wait)
}

// readClock sets Now from the database's clock, in a transaction that has locked no row.
func (t *Tx) readClock() error {
	if t.sql.Clock == "0" {
		return nil
	}
	_, err := t.Row([]any{Clock{t}}, `select `+t.sql.Clock)
	return err
}

// lockRows locks rows and then reads the clock, even if there are none; rows is "TABLE where CONDITION".
func (t *Tx) lockRows(rows string, args ...any) (found bool, err error) {
	found, err = t.Row([]any{Clock{t}},
		`select `+t.sql.Clock+` from (select 1 as one from `+rows+t.sql.forUpdate()+`) locked`, args...)
	if err != nil || found {
		return found, err
	}
	return false, t.readClock()
}

// askLock is lockRows whose result is there after flush. If there are no rows, the clock is not read.
func (t *Tx) askLock(found *bool, rows string, args ...any) error {
	t.clockAsked = true
	return t.ask(found, []any{Clock{t}},
		`select `+t.sql.Clock+` from (select 1 as one from `+rows+t.sql.forUpdate()+`) locked`, args...)
}

// HasClock reports whether the transaction has read the clock, has asked for it, or does not need it.
func (t *Tx) HasClock() bool { return t.clockAsked || !t.Now.IsZero() }

// conditions are the where clause of a listing, joined by "and".
type conditions struct {
	parts []string
	args  []any
}

// arg adds an argument and returns its placeholder.
func (c *conditions) arg(v any) string {
	c.args = append(c.args, v)
	return "$" + strconv.Itoa(len(c.args))
}

// and adds a condition; its arguments come from arg.
func (c *conditions) and(part string) { c.parts = append(c.parts, part) }

// all joins the conditions.
func (c *conditions) all() string { return strings.Join(c.parts, " and ") }

// is adds column = value, unless value is empty.
func (c *conditions) is(column, value string) {
	if value != "" {
		c.and(column + " = " + c.arg(value))
	}
}

// in adds that the column is one of values, unless values is nil.
func in[T ~string | ~int64](c *conditions, column string, values []T) {
	switch {
	case values == nil:
	case len(values) == 0:
		c.and("false")
	default:
		args := make([]string, len(values))
		for i, v := range values {
			args[i] = c.arg(v)
		}
		c.and(column + " in (" + strings.Join(args, ", ") + ")")
	}
}

// list returns the rows of a query that meet the conditions: those with the highest values of column first, at most n
// (0: all). The condition on the column makes even an unfiltered listing use the column's index.
func list[T any](
	ctx context.Context, s *Store, scan func(func(...any) error) (T, error), query string, where conditions,
	column string, n int,
) ([]T, error) {
	where.and(column + " > 0")
	query += " where " + where.all() + " order by " + column + " desc limit " + where.arg(limit(n))
	return readAll(ctx, s, scan, query, where.args...)
}

// limit returns n, or the largest limit if n is "no limit".
func limit(n int) int {
	if n <= 0 {
		return math.MaxInt32
	}
	return n
}

// asJSON is an argument that is stored as JSON text.
type asJSON struct{ v any }

// free is an argument that holds free text; what a database text can't hold is replaced. Keys are not treated so, since
// two of them could become equal.
type free string

// plain converts arguments to types that the drivers know.
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
			out[i] = nanoseconds(a)
		case time.Duration:
			out[i] = a.Nanoseconds()
		default:
			out[i] = a
		}
	}
	return out, nil
}

// clean replaces what a database text can't hold.
func clean(s string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(s, "\ufffd"), "\x00", "\ufffd")
}

func encode(v any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return "", core.Wrap(core.Internal, err, "A %T can't be stored.", v)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte("\n"))), nil
}

// fromJSON is a scan destination for JSON text.
type fromJSON struct{ v any }

// Scan decodes the JSON.
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

// sessionJSON is a scan destination for JSON that a conversation is made of: its session, its messages, its paused
// turns. Error: session_load_failed.
type sessionJSON struct{ v any }

// Scan decodes the JSON.
func (j sessionJSON) Scan(src any) error {
	if err := fromJSON(j).Scan(src); err != nil {
		return unreadable(err)
	}
	return nil
}

func unreadable(err error) error {
	return core.Wrap(core.SessionLoadFailed, err, "What is stored of this conversation can't be read.")
}

// lenient scans what can be decoded, and sets fault to the first error of JSON that can't: so that one broken row does
// not hide the others.
func lenient(scan func(...any) error, fault *error) func(...any) error {
	return func(destinations ...any) error {
		for i, d := range destinations {
			if j, ok := d.(fromJSON); ok {
				destinations[i] = maybeJSON{j, fault}
			}
		}
		return scan(destinations...)
	}
}

// maybeJSON is a scan destination for text that may be JSON.
type maybeJSON struct {
	sql.Scanner
	fault *error
}

// Scan decodes the JSON, or sets the fault.
func (j maybeJSON) Scan(src any) error {
	if err := j.Scanner.Scan(src); err != nil && *j.fault == nil {
		*j.fault = err
	}
	return nil
}

// latest is the latest time that can be stored; a later one means "never".
var latest = time.Unix(0, math.MaxInt64)

// nanoseconds returns the stored form of a time; 0 is the zero time.
func nanoseconds(t time.Time) int64 {
	switch {
	case t.IsZero():
		return 0
	case t.After(latest):
		return math.MaxInt64
	}
	return t.UnixNano()
}

// timestamp is a scan destination for a stored time; null is the zero time, too.
type timestamp struct{ t *time.Time }

// Scan sets the time, in UTC.
func (s timestamp) Scan(src any) error {
	*s.t = time.Time{}
	switch n := src.(type) {
	case nil:
	case int64:
		if n != 0 {
			*s.t = time.Unix(0, n).UTC()
		}
	default:
		return fmt.Errorf("a time is stored as %T", src)
	}
	return nil
}

// Clock is a scan destination for Traits.Clock. It sets the transaction's Now if the database's clock is used.
type Clock struct{ Tx *Tx }

// Scan sets the transaction's Now, in UTC.
func (c Clock) Scan(src any) error {
	if n, ok := src.(int64); ok && n != 0 {
		c.Tx.Now = time.Unix(0, n).UTC()
	}
	return nil
}
