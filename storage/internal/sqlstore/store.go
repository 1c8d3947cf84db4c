package sqlstore

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"gatehouse/core"
	"gatehouse/core/audit"
)

var (
	_ core.Queue     = (*Store)(nil)
	_ core.Sessions  = (*Store)(nil)
	_ core.Approvals = (*Store)(nil)
	_ core.Outbox    = (*Store)(nil)
	_ core.KV        = (*Store)(nil)
	_ core.Mailboxes = (*Store)(nil)
)

// Store is one process's connection to a database. It implements core's store interfaces, and the queries and changes
// that the command line needs.
type Store struct {
	engine  Engine
	sql     Traits // of the engine
	options Options

	unretired *sync.Map // the names of sessions that could not be removed in this round of PruneSessions
	signer    *core.Signer
	keys      audit.Keys // of the audit log, made from the signer's
	allKeys   audit.Keys // keys, and the ones of the key in the database
	ownKey    bool       // the signer's key is the one in the database
	beats     *beats
	claimed   *claimed
	health    *health
	limits    core.Limits
}

// Options configure a store of either engine. The zero value is right for production.
type Options struct {
	Now    func() time.Time // the clock; only SQLite uses it, Postgres uses the server's
	Signer *core.Signer     // signs the audit log; nil: by a key that is kept in the database
	NewID  func() string    // makes invocation ids; nil: UUIDv7
	Log    *slog.Logger     // nil: logs are discarded
	Trace  func(Statement)  // called for every statement, from several goroutines, for tests and measurements
	// SQLite: how long to wait for another process's transaction (0: 5 s). Postgres: how long a transaction may take,
	// waiting included (0: 10 s)
	Timeout time.Duration
	// SQLite: how many copies of the file from before migrations are kept; 0: none is made
	Snapshots int
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

// New returns a store on a database whose schema is up to date; the options are filled. If it fails, the caller closes
// the database.
func New(ctx context.Context, e Engine, o Options) (*Store, error) {
	s := &Store{
		engine: e, sql: e.Traits(), options: o, unretired: &sync.Map{},
		beats: newBeats(), claimed: newClaimed(), health: &health{},
	}
	return s, s.useKey(ctx, o.Signer, o.Log)
}

// WithLimits returns a copy of the store whose Accept applies limits to each actor.
func (s *Store) WithLimits(l core.Limits) *Store {
	limited := *s
	limited.limits = l
	return &limited
}

// WithEngine returns a copy of the store with a wrapped engine: one that counts, or one of a test in which a
// transaction fails, or a process is stopped around it.
func (s *Store) WithEngine(wrap func(Engine) Engine) *Store {
	wrapped := *s
	wrapped.engine = wrap(s.engine)
	return &wrapped
}

// Close waits for running transactions and closes the database. It may be called twice.
func (s *Store) Close() error {
	s.beats.stop()
	s.beats.loops.Wait()
	return s.engine.Close()
}

// Faults returns what the engine finds wrong with the database's file, a line each. It reads all of the file.
func (s *Store) Faults(ctx context.Context) ([]string, error) {
	return read(ctx, s, s.engine.Faults)
}

// Register returns an owner name for this process's claims, and beats for it until the store is closed: often enough
// for other processes to find out about its death within the heartbeat. Without one the caller beats.
func (s *Store) Register(ctx context.Context, instance string, heartbeat time.Duration) (owner string, err error) {
	safe := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, cmp.Or(instance, "gatehouse"))
	owner, err = s.engine.Register(safe[:min(len(safe), 60)], func(owner string) error {
		return s.write(ctx, func(t *Tx) error { return t.releaseOwner(owner) })
	})
	if err != nil {
		return "", err
	}
	if err := s.Beat(ctx, owner); err != nil {
		return "", err
	}
	if heartbeat > 0 {
		s.keepBeating(owner, heartbeat/(missedBeats+1))
	}
	return owner, nil
}

// write runs do in one transaction, then writes the outbox changes and audit entries that do collected. do may run more
// than once.
func (s *Store) write(ctx context.Context, do func(*Tx) error) error {
	return s.writeBy(s.engine.Write, ctx, do)
}

func (s *Store) writeBy(
	commit func(context.Context, Work) error, ctx context.Context, do func(*Tx) error,
) error {
	err := commit(ctx, func(run Runner, now time.Time) error {
		t := s.tx(run, now)
		if err := do(t); err != nil {
			return err
		}
		if err := t.writeOutbox(); err != nil {
			return err
		}
		if err := t.writeAudit(); err != nil {
			return err
		}
		if t.repeatable {
			t.run.Last()
		}
		return nil
	})
	s.health.note(err)
	return err
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
	err = s.engine.Read(ctx, func(run Runner, now time.Time) (err error) {
		result, err = do(s.tx(run, now))
		return err
	})
	if core.CategoryOf(err) == core.StoreUnreadable {
		s.health.note(err)
	}
	return result, err
}

// readAll returns all rows of a query, each scanned by scan.
func readAll[T any](
	ctx context.Context, s *Store, scan func(func(...any) error) (T, error), query string, args ...any,
) ([]T, error) {
	return read(ctx, s, func(t *Tx) ([]T, error) { return List(t, scan, query, args...) })
}

func (s *Store) tx(run Runner, now time.Time) *Tx {
	return &Tx{
		Now: now, run: run, store: s, sql: &s.sql,
		outbox:  outboxChanges{destinations: map[string]bool{}, idle: map[string]bool{}},
		audited: auditChanges{contradicted: map[core.ApprovalID]bool{}},
	}
}

// Damage is the cause of an error that says that what is stored is damaged. It does not heal, and commits of other data
// may succeed all the same.
type Damage struct{ Err error }

// Error is the cause.
func (d Damage) Error() string { return d.Err.Error() }

// Unwrap gives the cause.
func (d Damage) Unwrap() error { return d.Err }

// health remembers the last fault of the database.
type health struct {
	mu      sync.Mutex
	err     error // guarded by mu, as what follows
	damaged bool  // err is for good
}

// note takes the result of a commit, or a failed read. A write that the store itself refused, and so undid, tells
// nothing; nor does a success: what was committed may have been nothing.
func (h *health) note(err error) {
	if !core.IsStoreFailure(err) {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.damaged {
		h.err, h.damaged = err, errors.As(err, new(Damage))
	}
}

// last returns the fault, and whether it may be over.
func (h *health) last() (err error, mayPass bool) { //nolint:revive // the fault is the result
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.err, !h.damaged
}

func (h *health) over() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.damaged {
		h.err = nil
	}
}

// probe is the name of the value that Health writes.
const probe = "health"

// Health reports whether the database can be read and takes commits. It fails with store_full if the disk is nearly
// full, with store_gone if the file is not there any more, and with the last fault of the database: until Health itself
// has committed something after it, or, if data is damaged, until the process ends. Register has something committed
// every second or so, so what it knows is fresh.
func (s *Store) Health(ctx context.Context) error {
	began := time.Now()
	err := s.engine.Ready()
	if err == nil {
		err = s.healed(ctx)
	}
	if err == nil {
		_, err = read(ctx, s, func(t *Tx) (bool, error) { return t.exists(`select 1 from kv where name = 'paused'`) })
	}
	if errors.Is(err, context.DeadlineExceeded) && core.MessageOf(err) == "" {
		err = core.Wrap(core.StoreBusy, err, "The database answers slowly: not within %s. %s",
			time.Since(began).Round(time.Second/10), core.LookWhySlow)
	}
	return err
}

// Gone fails with store_gone if the database's file, or its log, is not there any more: nothing can be stored then, now
// or later.
func (s *Store) Gone() error {
	if err := s.engine.Ready(); core.CategoryOf(err) == core.StoreGone {
		return err
	}
	return nil
}

// healed returns the last fault of the database unless it is over, which a commit shows.
func (s *Store) healed(ctx context.Context) error {
	fault, mayPass := s.health.last()
	if fault == nil || !mayPass {
		return fault
	}
	if err := s.Put(ctx, probe, rand.Text()); err != nil {
		return err
	}
	s.health.over()
	return nil
}

// Waiting returns how many conversations wait for their next turn, and are held by no process: due ones and those in
// backoff.
func (s *Store) Waiting(ctx context.Context) (conversations int, err error) {
	return read(ctx, s, func(t *Tx) (n int, err error) {
		_, err = t.Row([]any{&n}, `select count(*) from queues where ready_at >= 0 and controls = false`)
		return n, err
	})
}

// Overdue reports whether a turn of one of the platforms is due, and was for longer than the limit, and nobody holds
// its queue; not while turns are paused. Suspects don't count: they wait for each other.
func (s *Store) Overdue(ctx context.Context, platforms []string, limit time.Duration) (bool, error) {
	return read(ctx, s, func(t *Tx) (bool, error) {
		if err := t.readClock(); err != nil {
			return false, err
		}
		for _, platform := range platforms {
			overdue, err := t.exists(`
				select 1 from queues q join events e on e.seq = q.head
				where q.ready_at >= 0 and q.ready_at <= $1 and q.platform = $2 and q.suspect is not true
					and e.accepted_at < $1 and e.not_before < $1
				and (q.controls = true or not exists (select 1 from kv where name = 'paused'))
				limit 1`, t.Now.Add(-limit), platform)
			if err != nil || overdue {
				return overdue, err
			}
		}
		return false, nil
	})
}
