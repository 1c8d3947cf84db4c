package postgres

import (
	"context"
	"net"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"gatehouse/storage/internal/sqlstore"
)

// Translate is translate.
var Translate = translate

// ConnectionDied is connectionDied.
var ConnectionDied = connectionDied

// ErrUnknown is errUnknown.
var ErrUnknown = errUnknown

// ErrEncoding is errEncoding.
var ErrEncoding = errEncoding

// Clock is the SQL expression of the clock, which the tests advance.
const Clock = clock

// Statement is what Options.Trace is called with.
type Statement = sqlstore.Statement

// Store is a store that gives access to its connections.
type Store struct {
	*sqlstore.Store
	db    *database
	trips *atomic.Int64
}

// OpenStore is Open.
func OpenStore(ctx context.Context, url string, o Options) (*Store, error) {
	o = o.Filled(timeout)
	if _, _, err := Migrate(ctx, url, o); err != nil {
		return nil, err
	}
	config, err := configure(url)
	if err != nil {
		return nil, err
	}
	s := &Store{trips: &atomic.Int64{}}
	dial := config.ConnConfig.DialFunc
	config.ConnConfig.DialFunc = func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		return counted{conn, s.trips}, err
	}
	if s.db, err = connect(ctx, config, o); err != nil {
		return nil, err
	}
	s.Store, err = s.db.store(ctx)
	return s, err
}

// counted is a connection that counts what is sent.
type counted struct {
	net.Conn
	n *atomic.Int64
}

func (c counted) Write(b []byte) (int, error) {
	c.n.Add(1)
	return c.Conn.Write(b)
}

// RoundTrips returns how often something was sent to the server.
func (s *Store) RoundTrips() int64 { return s.trips.Load() }

// Ask runs a query that returns one text inside a transaction that may write.
func (s *Store) Ask(ctx context.Context, query string) (answer string, err error) {
	err = s.db.Write(ctx, func(run sqlstore.Runner, _ time.Time) error {
		return run.Query(query, nil, func(scan func(...any) error) error { return scan(&answer) })
	})
	return answer, err
}

// Pool returns the connections.
func (s *Store) Pool() *pgxpool.Pool { return s.db.pool }

// Pools returns all pools of connections.
func (s *Store) Pools() []*pgxpool.Pool { return s.db.preparing.pools }

// Migrations are the package's.
var Migrations = migrations
