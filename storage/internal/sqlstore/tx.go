package sqlstore

import (
	"fmt"
	"log/slog"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
)

// Tx is one transaction, or one read. Arguments of its statements are plain values, times, and this package's types
// that say how a value is stored.
type Tx struct {
	// Now is the time of the transaction. With the database's clock it is set once a lock was taken or readClock was
	// called.
	Now time.Time

	run     Runner
	hooks   *Hooks
	newID   func() string
	trace   func(Statement)
	outbox  []outboxWrite // see writeOutbox
	audits  []audit.Entry // see writeAudit
	pruned  time.Time     // approvals that were decided before were removed; zero: none
	log     *slog.Logger
	keys    audit.Keys // sign the audit log
	allKeys audit.Keys // verify what any of the processes sealed, the database's key included

	// the approvals that were checked, and whether the audit log contradicted them; see checkBefore
	contradicted map[core.ApprovalID]bool

	keysLooked map[string]bool // whether posts with these keys exist; see askKeys
	keysAt     []string        // the destinations of those that do
	idle       map[string]bool // see isIdle
	// that this transaction has locked, and whether they may have changed; see lockDestinations
	destinations map[string]bool
	handover     *handover // of a Finish; nil: none
	clockAsked   bool      // no lock needs to read the clock: it was asked for, or is not needed
	repeatable   bool      // if it takes a single round trip, it may be run again although it was committed
	left         core.Left // what others can claim in the queues and destinations that it has released
}

// Statement is one executed SQL statement, for tests and measurements: the rows that a query returned, or that a change
// changed. Begin, commit and rollback are included.
type Statement struct {
	SQL     string
	Write   bool
	Rows    int
	Changed int64
}

// Exec runs a change and returns the number of rows it changed.
func (t *Tx) Exec(query string, args ...any) (changed int64, err error) {
	values, err := plain(args)
	if err != nil {
		return 0, err
	}
	if changed, err = t.run.Exec(query, values); err != nil {
		return 0, fmt.Errorf("running %.60q: %w", query, err)
	}
	t.trace(Statement{SQL: query, Write: true, Changed: changed})
	return changed, nil
}

// Do runs a change whose result nobody needs. It may be sent to the server together with the transaction's next
// statement, which then fails if it fails.
func (t *Tx) Do(query string, args ...any) error {
	if t.run.Later == nil {
		_, err := t.Exec(query, args...)
		return err
	}
	return t.later(query, args, nil, func(changed int64) {
		t.trace(Statement{SQL: query, Write: true, Changed: changed})
	})
}

func (t *Tx) later(query string, args []any, row func(scan func(...any) error) error, done func(rows int64)) error {
	values, err := plain(args)
	if err != nil {
		return err
	}
	if err := t.run.Later(query, values, row, done); err != nil {
		return fmt.Errorf("running %.60q: %w", query, err)
	}
	return nil
}

// learn sets any if the query, which selects a number, returns a row; at the latest when the transaction is committed.
// It costs no round trip of its own.
func (t *Tx) learn(any *bool, query string, args ...any) error {
	if t.run.Later == nil {
		found, err := t.exists(query, args...)
		*any = *any || found
		return err
	}
	return t.later(query, args, nil, func(rows int64) {
		*any = *any || rows > 0
		t.traceQuery(query, int(rows))
	})
}

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

// askEach is each, but visit may be called as late as by flush, or by the commit.
func (t *Tx) askEach(query string, args []any, visit func(scan func(...any) error) error) error {
	if t.run.Later == nil {
		return t.each(query, args, visit)
	}
	return t.later(query, args, visit, func(rows int64) { t.traceQuery(query, int(rows)) })
}

// flush waits for what was asked.
func (t *Tx) flush() error {
	if t.run.Flush == nil {
		return nil
	}
	return t.run.Flush()
}

// last announces the transaction's last statement, which is committed whatever it returns.
func (t *Tx) last() {
	if t.run.Last != nil {
		t.run.Last()
	}
}

// each calls visit for every row.
func (t *Tx) each(query string, args []any, visit func(scan func(...any) error) error) error {
	values, err := plain(args)
	if err != nil {
		return err
	}
	n := 0
	err = t.run.Query(query, values, func(scan func(...any) error) error {
		n++
		return visit(scan)
	})
	if err != nil {
		return fmt.Errorf("running %.60q: %w", query, err)
	}
	t.traceQuery(query, n)
	return nil
}

func (t *Tx) traceQuery(query string, rows int) {
	if strings.HasPrefix(strings.TrimSpace(query), "select") {
		t.trace(Statement{SQL: query, Rows: rows})
	} else { // a change that returns rows
		t.trace(Statement{SQL: query, Write: true, Changed: int64(rows)})
	}
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
	if t.hooks.Clock == "0" {
		return nil
	}
	_, err := t.Row([]any{Clock{t}}, `select `+t.hooks.Clock)
	return err
}

// lockRows locks rows and then reads the clock, even if there are none; rows is "TABLE where CONDITION".
func (t *Tx) lockRows(rows string, args ...any) (found bool, err error) {
	found, err = t.Row([]any{Clock{t}},
		`select `+t.hooks.Clock+` from (select 1 as one from `+rows+t.forUpdate()+`) locked`, args...)
	if err != nil || found {
		return found, err
	}
	return false, t.readClock()
}

// askLock is lockRows whose result is there after flush. If there are no rows, the clock is not read.
func (t *Tx) askLock(found *bool, rows string, args ...any) error {
	t.clockAsked = true
	return t.ask(found, []any{Clock{t}},
		`select `+t.hooks.Clock+` from (select 1 as one from `+rows+t.forUpdate()+`) locked`, args...)
}

// HasClock reports whether the transaction has read the clock, has asked for it, or does not need it.
func (t *Tx) HasClock() bool { return t.clockAsked || !t.Now.IsZero() }

// forUpdate returns the end of a query that locks its rows.
func (t *Tx) forUpdate() string {
	if t.hooks.RowLocks {
		return ` for update`
	}
	return ""
}

// forKeyShare returns the end of a query whose rows nobody may remove until the transaction ends.
func (t *Tx) forKeyShare() string {
	if t.hooks.RowLocks {
		return ` for key share`
	}
	return ""
}

// skipLocked returns the end of a query that locks its rows of one table and skips those that another transaction has
// locked.
func (t *Tx) skipLocked(table string) string {
	if t.hooks.RowLocks {
		return ` for update of ` + table + ` skip locked`
	}
	return ""
}
