package postgres_test

import (
	"context"
	"fmt"
	"gatehouse/storage/internal/sqlstore"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"gatehouse/storage/postgres"
	"gatehouse/storage/postgres/postgrestest"
	"gatehouse/storage/storagetest"
	"gatehouse/storage/storagetest/property"
)

func TestMain(m *testing.M) {
	code := m.Run()
	if model.drop != nil {
		if err := model.drop(); err != nil {
			fmt.Fprintln(os.Stderr, "dropping the tests' template:", err)
			code = 1
		}
	}
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// model is the template of the test databases: migrated, with a clock that tests can advance.
var model struct {
	once sync.Once
	url  string
	drop func() error
	err  error
}

// database returns the URL of a migrated database for one test, whose clock can be advanced.
func database(t testing.TB) string {
	t.Helper()
	postgrestest.Need(t)
	model.once.Do(func() {
		if model.url, model.drop, model.err = postgrestest.Make(""); model.err != nil {
			return
		}
		if _, _, model.err = postgres.Migrate(context.Background(), model.url, postgres.Options{}); model.err != nil {
			return
		}
		model.err = postgrestest.MovableClock(model.url)
	})
	if model.err != nil {
		t.Fatalf("making the tests' template: %v", model.err)
	}
	url, drop, err := postgrestest.Make(model.url)
	if err != nil {
		t.Fatalf("making a database: %v", err)
	}
	t.Cleanup(func() {
		if err := drop(); err != nil {
			t.Errorf("dropping the database: %v", err)
		}
	})
	run(t, url, postgrestest.PreferPublic(url))
	return url
}

func run(t testing.TB, url string, statements ...string) {
	t.Helper()
	if err := postgrestest.Run(url, statements...); err != nil {
		t.Fatal(err)
	}
}

// open opens a database and closes it after the test.
func open(t testing.TB, url string, o postgres.Options) *postgres.Store {
	t.Helper()
	s, err := postgres.OpenStore(context.Background(), url, o)
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// opener makes a database for the contract; through returns the URL that the stores use for it.
func opener(through func(url string) string, o postgres.Options) storagetest.Opener {
	return func(t testing.TB) storagetest.Database {
		url := database(t)
		mover := connect(t, url)
		return storagetest.Database{
			Open: func(t testing.TB) *sqlstore.Store { return open(t, through(url), o).Store },
			Advance: func(d time.Duration) {
				if _, err := mover.Exec(context.Background(), fmt.Sprintf(`update test_clock
					set moved = moved + interval '%d microseconds'`, d.Microseconds())); err != nil {
					t.Fatalf("moving the clock: %v", err)
				}
			},
			Orphans: true,
		}
	}
}

// connect returns a connection as of another program; it is closed after the test.
func connect(t testing.TB, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		t.Fatalf("connecting: %v", err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func straight(url string) string { return url }

func TestContract(t *testing.T) {
	postgrestest.Need(t)
	all := &statements{used: map[string]bool{}}
	t.Run("contract", func(t *testing.T) { storagetest.Run(t, opener(straight, postgres.Options{Trace: all.trace})) })
	t.Run("plans", func(t *testing.T) { plans(t, all.used) })
}

// TestProperty runs GATEHOUSE_PROPERTY_ROUNDS rounds.
func TestProperty(t *testing.T) {
	postgrestest.Need(t)
	rounds := 10
	if text := os.Getenv("GATEHOUSE_PROPERTY_ROUNDS"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil {
			t.Fatalf("GATEHOUSE_PROPERTY_ROUNDS: %v", err)
		}
		rounds = n
	}
	property.Run(t, opener(straight, postgres.Options{}), rounds)
}

func nameOf(url string) string { return postgrestest.Name(url) }
