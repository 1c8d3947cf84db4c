// Package storage opens a database by its URL. What is kept and how is written in internal/sqlstore; each engine's own package says
// how it runs transactions, locks and claims.
//
//	sqlite:PATH                               one file, on one machine; several processes may use it at once
//	postgres://USER:PASSWORD@HOST/DATABASE    a Postgres server, or what speaks like one; any number of processes on any machines
//
// postgresql:// is the same. A URL may hold a password: it is in no error.
package storage

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/postgres"
	"gatehouse/storage/sqlite"
)

// Store is a database that was opened; both engines give the same one.
type Store = sqlstore.Store

// Options are what a store takes from outside; the zero Options are those of a real process.
type Options struct {
	Now   func() time.Time // the store's clock, where the engine has none of its own; Postgres goes by the server's
	NewID func() string    // invocation ids; UUIDv7 where nil
	Log   *slog.Logger     // nil discards
	Trace func(Statement)  // every statement that is run, for tests and measurements; see Meter
}

// Statement is one SQL statement that was run.
type Statement = sqlstore.Statement

// Meter counts statements and rows, of either engine; give its Trace in Options.
type Meter = sqlstore.Meter

func (o Options) sqlite() sqlite.Options {
	return sqlite.Options{Now: o.Now, NewID: o.NewID, Log: o.Log, Trace: o.Trace}
}

func (o Options) postgres() postgres.Options {
	return postgres.Options{NewID: o.NewID, Log: o.Log, Trace: o.Trace}
}

// Open opens the database and brings its schema up to date. A database that a newer gatehouse wrote is refused (store_newer).
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	if isPostgres(url) {
		return postgres.Open(ctx, url, o.postgres())
	}
	file, err := sqliteFile(url)
	if err != nil {
		return nil, err
	}
	return sqlite.Open(ctx, file, o.sqlite())
}

// Version tells which schema the database has (0: none yet) and which one this build knows. It changes nothing.
func Version(ctx context.Context, url string) (found, known int64, err error) {
	if isPostgres(url) {
		return postgres.Version(ctx, url, postgres.Options{})
	}
	file, err := sqliteFile(url)
	if err != nil {
		return 0, 0, err
	}
	return sqlite.Version(ctx, file, sqlite.Options{})
}

// Migrate brings the database's schema up to date, as Open does, and tells the versions before and after.
func Migrate(ctx context.Context, url string) (from, to int64, err error) {
	if isPostgres(url) {
		return postgres.Migrate(ctx, url, postgres.Options{})
	}
	file, err := sqliteFile(url)
	if err != nil {
		return 0, 0, err
	}
	return sqlite.Migrate(ctx, file, sqlite.Options{})
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

func sqliteFile(url string) (string, error) {
	if scheme, rest, ok := strings.Cut(url, ":"); ok && scheme == "sqlite" {
		return strings.TrimPrefix(rest, "//"), nil
	}
	// The URL itself may hold a password; it is not repeated.
	return "", core.Errorf(core.Invalid, "The database must be given as sqlite:PATH, such as sqlite:gatehouse.db, or as postgres://USER:PASSWORD@HOST/DATABASE.")
}
