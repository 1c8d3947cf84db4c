// Package postgrestest makes empty Postgres databases for tests, on the server that GATEHOUSE_TEST_POSTGRES names.
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

// Need skips the test, out loud, where no server is named.
func Need(t testing.TB) {
	t.Helper()
	if os.Getenv(Key) == "" {
		t.Skipf("this test needs a Postgres server: run it with %s=postgres://postgres@127.0.0.1:5432/postgres, or any other whose role may create databases", Key)
	}
}

// New makes an empty database that is dropped when the test ends, and gives its URL.
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

// Make makes a database, as a copy of the one that template's URL names ("" = an empty one), and gives its URL and what drops it.
// Nobody may be connected to the template.
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

// Name is the database's name in a URL that Make gave.
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
