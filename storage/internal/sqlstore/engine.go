// Package sqlstore is the store: every method and its SQL, written once for both database engines.
//
//	claims, err := store.Claim(ctx, core.ClaimRequest{Owner: owner, Limit: 1, Scopes: scopes})
//	...                                           // the turn runs
//	err = store.Finish(ctx, core.Finish{Claim: claims[0], End: core.End{Kind: core.EndReplied}})
//
// The packages sqlite and postgres open a database and pass it to New as an Engine, which has the few things in which
// they differ.
//
// # Tables and their keys
//
//	owners        owner: the beat of a process that claims
//	queues        queue_key: its holder, fence and current event, and when it can next be claimed
//	events        seq; also unique (platform, id): what happened, how often it was tried, how it ended
//	sessions      session id: the state and the number of messages, so that nothing has to count them
//	messages      (invocation, n, session), n from 0; pos gives the order in the session
//	blobs         digest: the bytes of an image or an upload; message_blobs, event_blobs: the messages that
//	              refer to it, the events it came with
//	paused        invocation: a run that waits for a signal
//	approvals     approval id; votes by (approval, n); intents by approval: what became of its call
//	evidence      invocation: what it did, as input of a join check
//	audit         seq: the decisions, each entry's hash a MAC over it and the entry before;
//	              audit_head: the last entry, sealed
//	outbox        key: a post to deliver; destinations: when each destination's next post is due
//	mailboxes     mailbox: its last number; mail by (key, mailbox), also unique (mailbox, seq): a post that
//	              a client fetches
//	kv            name: a value, and when it expires
//	leases        name: its holder, and until when
//	rate_tokens   seq: one counted use of a rate-limited name
//	tasks, notes
//
// # Transactions and locks
//
// Each method is one transaction, so a crash leaves all of its work or none. Only Prune uses several. If the engine has
// row locks (Traits.RowLocks), they are always taken in this order: the owner, for an acceptance; queues, by key; a
// session; an approval; mailboxes, by name; blobs, by digest; outbox destinations, by name; the head of the audit log.
// A method that puts or takes mail locks only the mailbox; one that leases or rate-limits a name locks nothing else. A
// queue's row is the lock of the queue. Adding, ending or delaying an event takes it. So does every write of a turn,
// which also checks that the queue's owner, fence and event are unchanged. Outbox changes and audit entries are
// collected during a transaction and written at its end (Tx.addPost, Tx.audit). All their locks are then known at once
// and held briefly, and each destination is updated once.
//
// A statement sees what was committed before the statement began, not what was committed while it waited for a lock. So
// a decision under a lock reads its data in a later statement than the one that took the lock. The clock is read
// together with the lock, so times rise in the order of a queue's commits.
//
// What is not needed at once is asked together (Tx.ask, Tx.Do), since on Postgres it then shares a round trip: it is
// there after Tx.flush, or once the transaction is committed.
//
// # What can be claimed
//
// Every transaction that touches a queue updates queues.ready_at (Tx.updateReady). It is null if nothing waits or the
// queue is held, 0 if the first signal or first message is due, and otherwise the end of its delay. So a claim is a few
// index lookups, and a clock that is set back delays only what was delayed anyway. The table destinations does the same
// for the outbox.
//
// Ready queues are claimed by the rank of their next event (see rank), so that people take turns. A queue whose next
// event is a suspect, since processes died over it, is claimed apart.
//
// The queue's row holds the owner, the fence and the event; every write of a turn compares all three.
//
// Two claims are part of other transactions, which saves commits: an event whose queue is free is claimed with its
// acceptance (AcceptClaim), and a new post to an idle destination with the end of its turn (core.Handover). A post that
// needs nothing before it is sent is in doubt from its claim on.
//
// # Who is alive
//
// A process holds its claims until it ends or releases them. No claim runs out: each process that claims beats every
// second, in its row of the table owners, and looks at the others' rows. A process that is silent during several beats
// of another one is taken for dead, and its claims are released (Beat). That compares counts and no clocks. A claim
// whose answer was lost, so that its process does not know of it, is found and released at the next claim (claimed).
//
// # Times and texts
//
// What is delayed (queues and events, destinations and outbox, leases) is stored with its delay, so that it can be told
// when that began. If that is still to come, the clock was set back, and the delay is over: nothing waits longer than
// it was to wait. Deadlines, reminders and lifetimes are times of the calendar and stay.
//
// Times are nanoseconds since 1970. 0 is no time; a null ready_at means "never". They come from the store's own clock
// (Tx.Now) or the database's (Traits.Clock). JSON is kept as text, so it comes back byte for byte. Zero bytes and
// broken UTF-8, which a database text can't hold, are replaced in free text. In keys they are left alone,
// and the engine may refuse them.
//
// # Images
//
// A message's row holds an image's digest, media type and size; its bytes are a blob, stored once, whoever sent them. A
// blob is committed before a message refers to it, so it is kept while an unfinished event came with it (event_blobs)
// or a message refers to it (message_blobs, which goes with the message's row). Until event_blobs.at it is kept in any
// case: an upload is there before its message (PutBlobFor). DeleteSession removes what only that session had, Prune
// what ended events left.
//
// # Decision: one SQL over an Engine, no dialect layer (2026-11-22)
//
// Two separate stores shared 64 % of their lines. Each new feature was written, reviewed and tested twice, and the two
// drifted apart. SQLite accepts $1 placeholders, RETURNING, ON CONFLICT and string_agg as Postgres does, so the same
// SQL text works on both. SQLite numbers parameters by first appearance, so every statement must number them in the
// order in which they appear (a test of package sqlite checks this). The real differences are in Engine: how a
// transaction runs, row locks and the clock, and which queues a claim finds (arrays and SKIP LOCKED, or one query per
// scope). Rejected: a dialect layer that rewrites or assembles SQL, since the SQL that is sent could not be read in the
// source; an interface with all methods per engine, which is two stores again; a query builder or ORM.
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
