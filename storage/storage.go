// Package storage opens a database by its URL. Package internal/sqlstore documents the tables and the store's methods.
// The packages sqlite and postgres document how each engine runs transactions, locks rows and claims work.
//
//	sqlite:PATH                               one file, on one machine; several processes may use it at once
//	postgres://USER:PASSWORD@HOST/DATABASE    a Postgres-compatible server; any number of processes on any machines
//
// postgresql:// is the same as postgres://. A URL may hold a password, so no error contains it.
package storage

import (
	"context"
	"strings"

	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/postgres"
	"gatehouse/storage/sqlite"
)

// Store is an open database. Both engines return this type.
type Store = sqlstore.Store

// Person, Erasing and Erasure are what is kept of a person, how they are erased, and what that did.
type (
	Person  = sqlstore.Person
	Erasing = sqlstore.Erasing
	Erasure = sqlstore.Erasure
)

// Options configure a store. The zero value is right for production.
type Options = sqlstore.Options

// Engine and Work are what tests wrap to make transactions fail.
type (
	Engine = sqlstore.Engine
	Work   = sqlstore.Work
)

// Statement is one SQL statement that was run.
type Statement = sqlstore.Statement

// Open opens the database and brings its schema up to date. It fails with store_newer if a newer gatehouse wrote the
// database.
func Open(ctx context.Context, url string, o Options) (*Store, error) {
	if isPostgres(url) {
		return postgres.Open(ctx, url, o)
	}
	return sqlite.Open(ctx, sqliteFile(url), o)
}

// Version returns the database's schema version (0: none yet) and the version that this build knows. It changes
// nothing.
func Version(ctx context.Context, url string) (found, known int64, err error) {
	if isPostgres(url) {
		return postgres.Version(ctx, url, Options{})
	}
	return sqlite.Version(ctx, sqliteFile(url), Options{})
}

// Migrate brings the database's schema up to date, as Open does, and returns the versions before and after.
func Migrate(ctx context.Context, url string, o Options) (from, to int64, err error) {
	if isPostgres(url) {
		return postgres.Migrate(ctx, url, o)
	}
	return sqlite.Migrate(ctx, sqliteFile(url), o)
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// sqliteFile returns the file of a URL; "", which no engine accepts, if it is none of SQLite's.
func sqliteFile(url string) string {
	path, ok := strings.CutPrefix(url, "sqlite:")
	if !ok {
		return ""
	}
	return strings.TrimPrefix(path, "//")
}
