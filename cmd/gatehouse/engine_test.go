package main

import (
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/storage"
	"gatehouse/storage/postgres/postgrestest"
)

// engine is a database engine that processes are tested on.
type engine struct {
	make func(t *testing.T) string // makes an empty database and returns its URL
	env  []string                  // added to the environment of the processes

	copyOf func(t *testing.T, url string) string // copies a database and returns the copy's URL; nil: not possible
}

// startingWith is the engine with copies of a database, as it is now, in place of empty ones.
func (e engine) startingWith(t *testing.T, url string) engine {
	t.Helper()
	url = e.copyOf(t, url)
	e.make = func(t *testing.T) string { return e.copyOf(t, url) }
	return e
}

var sqliteFile = engine{make: func(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	empty, err := emptyDatabase()
	if err == nil {
		err = os.WriteFile(file, empty, 0o600)
	}
	noErr(t, err)
	return "sqlite:" + file
}, copyOf: func(t *testing.T, url string) string {
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	db, err := sql.Open("sqlite3", strings.TrimPrefix(url, "sqlite:"))
	if err == nil {
		_, err = db.Exec("vacuum into ?", file)
		_ = db.Close()
	}
	noErr(t, err)
	return "sqlite:" + file
}}

// emptyDatabase is the file of a migrated, empty database. Copying it is faster than migrating one for each test.
var emptyDatabase = sync.OnceValues(func() ([]byte, error) {
	folder, err := os.MkdirTemp("", "gatehouse")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, "gatehouse.db")
	store, err := storage.Open(context.Background(), "sqlite:"+file, storage.Options{})
	if err != nil {
		return nil, err
	}
	if err := store.Close(); err != nil { // moves the write-ahead log into the file
		return nil, err
	}
	return os.ReadFile(file)
})

// postgresServer makes copies of a migrated, empty database. Its heartbeats are short, because on Postgres a process
// can't know that another one is dead.
var postgresServer = engine{make: func(t *testing.T) string {
	t.Helper()
	postgrestest.Need(t)
	template, err := emptyPostgres()
	noErr(t, err)
	url, drop, err := postgrestest.Make(template)
	noErr(t, err)
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Error(err)
		}
	})
	return url
}, env: []string{"GATEHOUSE_LEASE=1s"}}

// emptyPostgres makes the template of the databases on Postgres. Under the race detector a migration allocates hundreds
// of megabytes: goose takes a buffer of four for each line from a pool, which the detector empties at random.
var emptyPostgres = sync.OnceValues(func() (string, error) {
	url, drop, err := postgrestest.Make("")
	if err != nil {
		return "", err
	}
	dropEmptyPostgres = drop
	store, err := storage.Open(context.Background(), url, storage.Options{})
	if err != nil {
		return "", err
	}
	return url, store.Close()
})

// dropEmptyPostgres removes the template; nil: there is none.
var dropEmptyPostgres func() error

// workbench makes a workbench on an empty database of the engine.
func (e engine) workbench(t *testing.T, env ...string) *workbench {
	t.Helper()
	w := &workbench{t: t, url: e.make(t), env: append(env, e.env...)}
	store, err := storage.Open(t.Context(), w.url, storage.Options{NewID: cli.NewID})
	noErr(t, err)
	t.Cleanup(func() { _ = store.Close() })
	w.store = store
	return w
}

// onEachEngine runs a test on SQLite and, if a server is configured, on Postgres.
func onEachEngine(t *testing.T, test func(t *testing.T, e engine)) {
	t.Parallel()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, sqliteFile)
	})
	t.Run("postgres", func(t *testing.T) {
		postgrestest.Need(t)
		t.Parallel()
		test(t, postgresServer)
	})
}
