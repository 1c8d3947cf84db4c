package sqlite

import (
	"context"
	"database/sql/driver"
	"time"

	"gatehouse/storage/internal/sqlstore"
)

// Translate is translate.
var Translate = translate

// Store is a store that gives access to its writer.
type Store struct {
	*sqlstore.Store
	db *database
}

// OpenStore is Open.
func OpenStore(ctx context.Context, file string, o Options) (*Store, error) {
	db, err := openDatabase(ctx, file, o)
	if err != nil {
		return nil, err
	}
	store, err := db.store(ctx)
	return &Store{Store: store, db: db}, err
}

// Writing opens connections to an existing file as the store's writer does.
func Writing(file string) driver.Connector { return writing(file, Options{}.Filled(busyTimeout)) }

// Unit runs statements as one unit of the writer.
func (s *Store) Unit(ctx context.Context, do func(exec func(query string, args ...any) error) error) error {
	return s.db.Write(ctx, func(run sqlstore.Runner, _ time.Time) error {
		return do(func(query string, args ...any) error {
			_, err := run.Exec(query, args)
			return err
		})
	})
}

// WarnOfLog changes from which length on a log is warned of.
func (s *Store) WarnOfLog(from int64) { s.db.writer.long.from = from }

// Waiting returns the number of units that wait for the writer.
func (s *Store) Waiting() int {
	s.db.writer.mu.Lock()
	defer s.db.writer.mu.Unlock()
	return len(s.db.writer.queue)
}

// Migrations are the package's.
var Migrations = migrations
