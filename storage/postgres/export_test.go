package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"gatehouse/storage/internal/sqlstore"
)

// Translate is translate.
var Translate = translate

// ErrUnknown is errUnknown.
var ErrUnknown = errUnknown

// Clock is the SQL expression of the clock, which the tests advance.
const Clock = clock

// Store is a store that gives access to its connections.
type Store struct {
	*sqlstore.Store
	db *database
}

// OpenStore is Open.
func OpenStore(ctx context.Context, url string, o Options) (*Store, error) {
	db, err := openDatabase(ctx, url, o)
	if err != nil {
		return nil, err
	}
	store, err := db.store(ctx)
	return &Store{Store: store, db: db}, err
}

// Ask runs a query that returns one text inside a transaction that may write.
func (s *Store) Ask(ctx context.Context, query string) (answer string, err error) {
	err = s.db.write(ctx, func(run sqlstore.Runner, _ time.Time) error {
		return run.Query(query, nil, func(scan func(...any) error) error { return scan(&answer) })
	})
	return answer, err
}

// Pool returns the connections.
func (s *Store) Pool() *pgxpool.Pool { return s.db.pool }
