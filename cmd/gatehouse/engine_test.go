package main

import (
	"context"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/storage"
	"gatehouse/storage/postgres/postgrestest"
)

// engine is a kind of database that processes are tested on.
type engine struct {
	make func(t *testing.T) string // an empty database's URL
	env  []string                  // of the processes
}

var sqliteFile = engine{make: func(t *testing.T) string {
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	empty, err := emptyDatabase()
	if err == nil {
		err = os.WriteFile(file, empty, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	return "sqlite:" + file
}}

// emptyDatabase is the file of a database on which nothing has happened yet. To copy it is faster than to migrate each test's.
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
	if err := store.Close(); err != nil { // which puts all into the one file
		return nil, err
	}
	return os.ReadFile(file)
})

// postgresServer can't prove a death, so what a killed process held must soon be over.
var postgresServer = engine{make: func(t *testing.T) string { return postgrestest.New(t) }, env: []string{"GATEHOUSE_LEASE=1s"}}

// workbench is one on an empty database of the engine.
func (e engine) workbench(t *testing.T, env ...string) *workbench {
	t.Helper()
	w := &workbench{t: t, url: e.make(t), env: append(env, e.env...)}
	store, err := storage.Open(t.Context(), w.url, storage.Options{NewID: cli.NewID})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	w.store = store
	return w
}

// onEachEngine runs a test on both; on Postgres only where a server is named.
func onEachEngine(t *testing.T, test func(t *testing.T, e engine)) {
	t.Parallel() // it waits most of the time
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
