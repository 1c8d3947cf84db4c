// Package postgrestest creates empty Postgres databases for tests, on the server in GATEHOUSE_TEST_POSTGRES.
package postgrestest

import (
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Key is the environment variable with the server's URL; its role must be allowed to create databases.
const Key = "GATEHOUSE_TEST_POSTGRES"

// Need skips the test if no server is set.
func Need(t testing.TB) {
	t.Helper()
	if os.Getenv(Key) == "" {
		t.Skipf("this test needs a Postgres server: run it with %s=postgres://postgres@127.0.0.1:5432/postgres, or "+
			"any other whose role may create databases", Key)
	}
}

// New creates an empty database, which is dropped when the test ends, and returns its URL.
func New(t testing.TB) string {
	t.Helper()
	Need(t)
	u, drop, err := Make("")
	if err != nil {
		t.Fatalf("making a database: %v", err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Errorf("dropping the database: %v", err)
		}
	})
	return u
}

// Make creates a database as a copy of the one at URL template ("": empty). It returns its URL and a function that
// drops it. The template must have no open connections.
func Make(template string) (made string, drop func() error, err error) {
	name := "gatehouse_test_" + strings.ToLower(rand.Text())
	create := "create database " + name
	if template != "" {
		create += " template " + Name(template)
	}
	if err := Run(os.Getenv(Key), create); err != nil {
		return "", nil, err
	}
	u, err := url.Parse(os.Getenv(Key))
	if err != nil {
		return "", nil, err
	}
	u.Path = "/" + name
	return u.String(), func() error { return Run(os.Getenv(Key), "drop database "+name+" with (force)") }, nil
}

// Name returns the name of the database in a URL that Make returned.
func Name(made string) string {
	u, err := url.Parse(made)
	if err != nil {
		return ""
	}
	return strings.TrimPrefix(u.Path, "/")
}

// Run runs statements on a database, each outside a transaction, as another program would.
func Run(database string, statements ...string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, database)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	for _, s := range statements {
		if _, err := conn.Exec(ctx, s); err != nil {
			return fmt.Errorf("%.80s: %w", s, err)
		}
	}
	return nil
}

// MovableClock gives a database a clock that tests can move: a function that its search path puts before Postgres's
// function of the same name. The program does not know it.
func MovableClock(database string) error {
	return Run(database,
		`create table test_clock (moved interval not null)`,
		`insert into test_clock values ('0')`,
		`create function clock_timestamp() returns timestamptz language sql volatile as $$
			select pg_catalog.clock_timestamp() + moved from public.test_clock $$`,
		PreferPublic(database))
}

// PreferPublic is the statement that makes a copy of a database with a movable clock use it: copies lose the setting.
func PreferPublic(database string) string {
	return `alter database ` + Name(database) + ` set search_path = public, pg_catalog`
}

// Restore runs a dump that pg_dump wrote with --inserts.
func Restore(database, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return Run(database, string(text))
}
