package sqlstore

import (
	"cmp"
	"context"
	"log/slog"
	"strings"
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

// Store is one process's connection to a database. It implements core's store interfaces, and the queries and changes that the
// command line needs.
type Store struct {
	hooks Hooks
	newID func() string
	trace func(Statement)
}

// Runner runs SQL in the transaction, or on the connection, that the engine chose. It returns the driver's errors untranslated.
type Runner struct {
	// Exec runs a change and returns the number of rows it changed.
	Exec func(query string, args []any) (changed int64, err error)
	// Query calls row for every row.
	Query func(query string, args []any, row func(scan func(...any) error) error) error
}

// Options configure a store of either engine. The zero value is right for production.
type Options struct {
	Now     func() time.Time // the clock; only SQLite uses it, Postgres uses the server's
	NewID   func() string    // makes invocation ids; nil: UUIDv7
	Log     *slog.Logger     // nil: logs are discarded
	Trace   func(Statement)  // called for every statement, from several goroutines, for tests and measurements
	Timeout time.Duration    // SQLite: how long to wait for another process's transaction (0: 5 s). Postgres: how long a transaction may take, waiting included (0: 10 s)
}

// Filled returns the options with defaults for what is missing.
func (o Options) Filled(timeout time.Duration) Options {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.NewID == nil {
		o.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Trace == nil {
		o.Trace = func(Statement) {}
	}
	if o.Timeout <= 0 {
		o.Timeout = timeout
	}
	return o
}

// Work is a function that runs in a transaction. now is the time by the store's own clock, or zero if the database's clock is used.
type Work func(run Runner, now time.Time) error

// Hooks are the parts in which the engines differ. Write and Read return errors that the engine has translated to core
// errors.
type Hooks struct {
	// Write runs work in one transaction and commits it if work succeeds. It may run work again from the start.
	Write func(ctx context.Context, work Work) error
	// Read runs work, which reads with a single statement.
	Read func(ctx context.Context, work Work) error
	// Register returns a new owner name for a process, which begins with instance and is safe in a file name. It calls free to release
	// what a dead process of that name had leased.
	Register func(instance string, free func(owner string) error) (owner string, err error)
	// Close ends running transactions and closes the database. It may be called twice.
	Close func() error

	// RowLocks is set if transactions run concurrently, so that rows must be locked (for update) and may be skipped (skip locked).
	RowLocks bool
	// Clock is the SQL expression of the database's clock in nanoseconds, or "0" if the store's own clock is used.
	Clock string

	// LockQueue locks a queue's row, adding it if it is missing, and reads the clock.
	LockQueue func(t *Tx, key core.QueueKey, platform string, conversation core.ConversationID) error
	// LockDestinations locks outbox destinations, which are passed in order, and reads the clock. It is only called if RowLocks is
	// set.
	LockDestinations func(t *Tx, destinations []string) error
	// LockRateLimit locks a rate-limited name and reads the clock. It is only called if RowLocks is set.
	LockRateLimit func(t *Tx, name string, window time.Duration) error
	// ReadyQueues returns the keys of queues that can be claimed, the longest waiting first. If take is set, it locks them. If not,
	// one key is enough.
	ReadyQueues func(t *Tx, r core.ClaimRequest, take bool) ([]string, error)
	// DueDestinations returns the destinations that have a post to deliver. take works as in ReadyQueues.
	DueDestinations func(t *Tx, r core.PostRequest, take bool) ([]string, error)
	// PruneLocks are statements of Prune for tables that only this engine has; $1 is the maximum number of rows to remove.
	PruneLocks []string
}

// New returns a store; the options are filled.
func New(h Hooks, o Options) *Store { return &Store{hooks: h, newID: o.NewID, trace: o.Trace} }

// WithHooks returns a copy of the store with wrapped hooks, for tests that stop a process around a transaction.
func (s *Store) WithHooks(wrap func(Hooks) Hooks) *Store {
	wrapped := *s
	wrapped.hooks = wrap(s.hooks)
	return &wrapped
}

// Close waits for running transactions and closes the database. It may be called twice.
func (s *Store) Close() error { return s.hooks.Close() }

// Register returns an owner name for this process's claims.
func (s *Store) Register(ctx context.Context, instance string) (owner string, err error) {
	safe := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, cmp.Or(instance, "gatehouse"))
	return s.hooks.Register(safe[:min(len(safe), 60)], func(owner string) error {
		return s.write(ctx, func(t *Tx) error { return t.releaseOwner(owner) })
	})
}

// write runs do in one transaction, then writes the outbox changes and audit entries that do collected. do may run more than once.
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

// fenced runs do in one transaction, or fails with lease_lost if the claim no longer holds its queue.
func (s *Store) fenced(ctx context.Context, c core.Claim, do func(*Tx) error) error {
	return s.write(ctx, func(t *Tx) error {
		if err := t.fence(c); err != nil {
			return err
		}
		return do(t)
	})
}

// write is Store.write for a do that has a result. The result is empty if anything fails.
func write[T any](ctx context.Context, s *Store, do func(*Tx) (T, error)) (T, error) {
	var result, none T
	err := s.write(ctx, func(t *Tx) (err error) {
		result, err = do(t)
		return err
	})
	if err != nil {
		return none, err
	}
	return result, nil
}

// read runs do, which reads with a single statement, and returns its result.
func read[T any](ctx context.Context, s *Store, do func(*Tx) (T, error)) (result T, err error) {
	err = s.hooks.Read(ctx, func(run Runner, now time.Time) (err error) {
		result, err = do(s.tx(run, now))
		return err
	})
	return result, err
}

// readAll returns all rows of a query, each scanned by scan.
func readAll[T any](ctx context.Context, s *Store, scan func(func(...any) error) (T, error), query string, args ...any) ([]T, error) {
	return read(ctx, s, func(t *Tx) ([]T, error) { return List(t, scan, query, args...) })
}

func (s *Store) tx(run Runner, now time.Time) *Tx {
	return &Tx{Now: now, run: run, hooks: &s.hooks, newID: s.newID, trace: s.trace, destinations: map[string]bool{}}
}
