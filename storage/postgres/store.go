package postgres

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"

	"gatehouse/core"
)

var _ core.Store = (*Store)(nil)

// Options are what a store takes from outside. The zero Options are those of a real process.
type Options struct {
	NewID    func() string // invocation ids; UUIDv7 where nil
	Log      *slog.Logger
	Patience time.Duration   // how long one transaction may take, waiting included; 10 s where 0
	Trace    func(Statement) // called for every statement, from several goroutines; for tests and measurements
}

func (o Options) filled() Options {
	if o.NewID == nil {
		o.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Patience <= 0 {
		o.Patience = 10 * time.Second
	}
	return o
}

// Store is one process's view of a database. Any number of processes may have one.
type Store struct {
	options Options
	pool    *pgxpool.Pool
	once    sync.Once
}

// Open connects to the database and brings its schema up to date. A newer one is refused (store_newer), and so is a schema that
// holds another program's tables of our names (store_unreadable).
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	o = o.filled()
	if _, _, err := Migrate(ctx, url, o); err != nil {
		return nil, err
	}
	config, err := configure(url)
	if err != nil {
		return nil, err
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, translate(err)
	}
	return &Store{options: o, pool: pool}, nil
}

// Close lets running transactions end and closes all connections.
func (s *Store) Close() error {
	s.once.Do(s.pool.Close)
	return nil
}
