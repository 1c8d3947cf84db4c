package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"gatehouse/storage/internal/sqlstore"
)

// Translate is for the table of codes.
var Translate = translate

// ErrUnknown is for the same.
var ErrUnknown = errUnknown

// Clock is the expression of the clock that the tests move.
const Clock = clock

// Store is a store with a look at its connections.
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
	return &Store{Store: db.store(), db: db}, nil
}

// Ask runs a query that returns one text inside a transaction that may write.
func (s *Store) Ask(ctx context.Context, query string) (answer string, err error) {
	err = s.db.write(ctx, func(run sqlstore.Runner, _ time.Time) error {
		return run.Query(query, nil, func(scan func(...any) error) error { return scan(&answer) })
	})
	return answer, err
}

// Pool is for looking at the connections.
func (s *Store) Pool() *pgxpool.Pool { return s.db.pool }
