package sqlstore

import (
	"context"
	"fmt"
	"strings"
	"time"

	"gatehouse/core"
)

// Engine is a database, with what SQLite and Postgres do in different ways. Write, Beat and Read return errors that the
// engine has translated to core errors.
type Engine interface {
	// Write runs work in one transaction and commits it if work succeeds. It may run work again from the start.
	Write(ctx context.Context, work Work) error
	// Beat is Write for one short statement that must not wait behind other work.
	Beat(ctx context.Context, work Work) error
	// Read runs work, which reads with a single statement.
	Read(ctx context.Context, work Work) error
	// Register returns a new owner name for a process, which begins with instance and is safe in a file name. It calls
	// free to release what a dead process of that name held.
	Register(instance string, free func(owner string) error) (owner string, err error)
	// Close ends running transactions and closes the database. It may be called twice.
	Close() error

	// Ready fails with store_full if there is hardly any space left for the database, and with store_gone if what was
	// opened is not there any more, as far as this process can tell without asking the database.
	Ready() error
	// Shrink gives some of the free space back to the system after data was deleted, in a short transaction, and
	// reports whether there is more. It may be called again after a crash.
	Shrink(ctx context.Context) (more bool, err error)
	// Faults returns what the engine finds wrong with its file, a line each; none if it has no such check.
	Faults(t *Tx) ([]string, error)

	// FileBytes are the sizes of the engine's own file and of its log of writes; 0 where it has none.
	FileBytes() (database, log int64)
	// Traits returns how the engine's SQL differs. They never change.
	Traits() Traits
	// LockQueue locks a queue's row, adding it if it is missing, and reads the clock.
	LockQueue(t *Tx, key core.QueueKey, platform string, conversation core.ConversationID) error
	// LockDestinations locks outbox destinations, which are passed in order, and reads the clock.
	LockDestinations(t *Tx, destinations []string) error
	// LockRateLimit locks a rate-limited name and reads the clock.
	LockRateLimit(t *Tx, name string, window time.Duration) error
	// ReadyQueues returns the keys of queues that can be claimed, the longest waiting first. If take is set, it locks
	// them. If not, one key is enough.
	ReadyQueues(t *Tx, r core.ClaimRequest, take bool) ([]string, error)
	// DueDestinations returns the destinations that have a post to deliver. take works as in ReadyQueues.
	DueDestinations(t *Tx, r core.PostRequest, take bool) ([]string, error)
}

// Traits are the differences of an engine's SQL.
type Traits struct {
	// RowLocks is set if transactions run concurrently, so that rows must be locked (for update) and may be skipped
	// (skip locked). Otherwise the methods that lock have nothing to lock.
	RowLocks bool
	// Clock is the SQL expression of the database's clock in nanoseconds, or "0" if the store's own clock is used.
	Clock string
	// Size is the SQL expression of the database's size in bytes, or "0" if it is that of a file.
	Size string
	// PruneLocks are statements of Prune for tables that only this engine has; $1 is the maximum number of rows to
	// remove.
	PruneLocks []string
	// Leaps are statements that move the numbers of events and posts on by Leap.
	Leaps []string
}

// forUpdate returns the end of a query that locks its rows.
func (t Traits) forUpdate() string {
	if t.RowLocks {
		return ` for update`
	}
	return ""
}

// forKeyShare returns the end of a query whose rows nobody may remove until the transaction ends.
func (t Traits) forKeyShare() string {
	if t.RowLocks {
		return ` for key share`
	}
	return ""
}

// skipLocked returns the end of a query that locks its rows of one table and skips those that another transaction has
// locked.
func (t Traits) skipLocked(table string) string {
	if t.RowLocks {
		return ` for update of ` + table + ` skip locked`
	}
	return ""
}

// Work is a function that runs in a transaction. now is the time by the store's own clock, or zero if the database's
// clock is used.
type Work func(run Runner, now time.Time) error

// Runner runs SQL in the transaction, or on the connection, that the engine chose. It returns the driver's errors
// untranslated, and calls Options.Trace for each statement that succeeded.
type Runner interface {
	Statements
	// Later is an Exec, or a Query if row is not nil, that may run only just before the transaction's next Exec, Query
	// or Flush, or its commit, which then fails if it fails.
	Later(query string, args []any, row Row) error
	// Flush runs what Later has left.
	Flush() error
	// Last makes the next Exec or Query the transaction's last: it may be committed with it, whatever it returns. If
	// the transaction takes a single round trip, it may be run again although it was committed.
	Last()
}

// Statements runs statements one by one.
type Statements interface {
	// Exec runs a change and returns the number of rows it changed.
	Exec(query string, args []any) (changed int64, err error)
	// Query calls row for every row.
	Query(query string, args []any, row Row) error
}

// Row is called for a row of a query; scan reads its columns.
type Row = func(scan func(...any) error) error

// AtOnce makes a Runner of statements that gain nothing from being sent together: it runs each when it is asked for.
type AtOnce struct{ Statements }

var _ Runner = AtOnce{}

// Later runs the statement now.
func (a AtOnce) Later(query string, args []any, row Row) error {
	if row != nil {
		return a.Query(query, args, row)
	}
	_, err := a.Exec(query, args)
	return err
}

// Flush has nothing to run.
func (a AtOnce) Flush() error { return nil }

// Last does nothing: the transaction is committed later.
func (a AtOnce) Last() {}

// Statement is one executed SQL statement, for tests and measurements: the rows that a query returned, or that a change
// changed. Begin, commit and rollback are included.
type Statement struct {
	SQL     string
	Write   bool
	Rows    int
	Changed int64
}

// Executed describes a statement that was run, and returned or changed so many rows.
func Executed(query string, rows int64) Statement {
	if strings.HasPrefix(strings.TrimSpace(query), "select") {
		return Statement{SQL: query, Rows: int(rows)}
	}
	return Statement{SQL: query, Write: true, Changed: rows}
}

// running adds to an error which statement failed.
func running(query string, err error) error {
	if err != nil {
		return fmt.Errorf("running %.60q: %w", query, err)
	}
	return nil
}
