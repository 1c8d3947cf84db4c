package sqlstore

import (
	"context"
	"time"

	"github.com/google/uuid"

	"gatehouse/core"
)

var (
	_ core.Queue     = (*Store)(nil)
	_ core.Sessions  = (*Store)(nil)
	_ core.Approvals = (*Store)(nil)
	_ core.Outbox    = (*Store)(nil)
	_ core.KV        = (*Store)(nil)
)

// Store is one process's opening of a database. Its methods are those of core's store interfaces, and what else the program's
// commands read and change.
type Store struct {
	hooks Hooks
	newID func() string
	trace func(Statement)
}

// Runner runs SQL, inside the transaction or on the connection that the engine chose. Its errors are the driver's.
type Runner struct {
	// Exec runs a change and gives the number of rows it changed.
	Exec func(query string, args []any) (changed int64, err error)
	// Query calls row for every row.
	Query func(query string, args []any, row func(scan func(...any) error) error) error
}

// Work is what runs in a transaction: with its Runner, and the time by the store's own clock (zero where the database's counts).
type Work func(run Runner, now time.Time) error

// Hooks are what the engines do differently. Errors that Write, Read and Snapshot give are the engine's translation.
type Hooks struct {
	// Write runs work in one transaction that is committed when it succeeds. Work may be run again from the start.
	Write func(ctx context.Context, work Work) error
	// Read runs work that reads with a single statement, or in a snapshot.
	Read func(ctx context.Context, work Work) error
	// Snapshot runs work whose reads all see the same.
	Snapshot func(ctx context.Context, work Work) error
	// Register makes up the owner name of a process. free releases what a dead process of that name had leased.
	Register func(ctx context.Context, instance string, free func(owner string) error) (owner string, err error)
	// Close ends running transactions and closes the database. It may be called twice.
	Close func() error

	// RowLocks says that transactions run beside each other, so that rows are locked (for update) and may be passed over (skip locked).
	RowLocks bool
	// Clock is the SQL expression of the database's clock in nanoseconds; "0" where the store's own clock counts.
	Clock string

	// LockQueue adds a queue's row where there is none, locks it and reads the clock.
	LockQueue func(t *Tx, key core.QueueKey, platform string, conversation core.ConversationID) error
	// LockDestinations locks destinations of the outbox, given in order, and reads the clock. It is called where RowLocks is set.
	LockDestinations func(t *Tx, destinations []string) error
	// LockRateLimit locks a rate-limited name and reads the clock.
	LockRateLimit func(t *Tx, name string, window time.Duration) error
	// ReadyQueues are the keys of the queues that can be claimed, those that wait longest first. With take they are locked; without, it
	// is enough to give one if there is any.
	ReadyQueues func(t *Tx, r core.ClaimRequest, take bool) ([]string, error)
	// DueDestinations are the destinations with a post to deliver, likewise.
	DueDestinations func(t *Tx, r core.PostRequest, take bool) ([]string, error)
	// PruneLocks are statements of Prune for tables that this engine alone has; $1 is the most rows to remove.
	PruneLocks []string
}

// New makes a store. newID makes invocation ids (UUIDv7 where nil); trace, if not nil, is called for every statement.
func New(h Hooks, newID func() string, trace func(Statement)) *Store {
	if newID == nil {
		newID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if trace == nil {
		trace = func(Statement) {}
	}
	return &Store{hooks: h, newID: newID, trace: trace}
}

// WithHooks is the same store with its engine wrapped: for tests that stop a process around a transaction.
func (s *Store) WithHooks(wrap func(Hooks) Hooks) *Store {
	wrapped := *s
	wrapped.hooks = wrap(s.hooks)
	return &wrapped
}

// Close lets running transactions end and closes the database. It may be called twice.
func (s *Store) Close() error { return s.hooks.Close() }

// Register gives this process an owner name for its claims.
func (s *Store) Register(ctx context.Context, instance string) (owner string, err error) {
	return s.hooks.Register(ctx, instance, func(owner string) error {
		return s.write(ctx, func(t *Tx) error { return t.releaseOwner(owner) })
	})
}

// write runs do in one transaction, and writes what it collected for the outbox and the audit log. do must set all of its results
// each time, since it may be run again.
func (s *Store) write(ctx context.Context, do func(*Tx) error) error {
	return s.hooks.Write(ctx, func(run Runner, now time.Time) error {
		t := s.tx(run, now)
		if err := do(t); err != nil {
			return err
		}
		if err := t.writeOutbox(); err != nil {
			return err
		}
		return t.writeAudit()
	})
}

// fenced runs do in one transaction, if the claim still holds its queue.
func (s *Store) fenced(ctx context.Context, c core.Claim, do func(*Tx) error) error {
	return s.write(ctx, func(t *Tx) error {
		if err := t.fence(c); err != nil {
			return err
		}
		return do(t)
	})
}

// read runs do, which reads with a single statement.
func (s *Store) read(ctx context.Context, do func(*Tx) error) error {
	return s.hooks.Read(ctx, func(run Runner, now time.Time) error { return do(s.tx(run, now)) })
}

// snapshot runs do, whose reads all see the same.
func (s *Store) snapshot(ctx context.Context, do func(*Tx) error) error {
	return s.hooks.Snapshot(ctx, func(run Runner, now time.Time) error { return do(s.tx(run, now)) })
}

func (s *Store) tx(run Runner, now time.Time) *Tx {
	return &Tx{Now: now, run: run, hooks: &s.hooks, newID: s.newID, trace: s.trace}
}
