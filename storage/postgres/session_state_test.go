package postgres_test

import (
	"bytes"
	"context"
	"testing"

	"gatehouse/core"
	"gatehouse/storage/postgres"
	"gatehouse/storage/storagetest/cost"
)

// turns runs turns of every kind.
func turns(t *testing.T, s *postgres.Store) {
	t.Helper()
	ctx := context.Background()
	owner, err := s.Register(ctx, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		cost.Turn(t, s.Store, owner, n, 2)
	}
	if _, err := s.Queue(ctx, 0); err != nil {
		t.Error(err)
	}
	if _, err := s.Prune(ctx, 0); err != nil {
		t.Error(err)
	}
	if _, err := s.Decide(ctx, core.Decision{Approval: "none"}); core.CategoryOf(err) != core.NotFound {
		t.Error(err)
	}
}

// left asks each idle connection for a number.
func left(t *testing.T, s *postgres.Store, query string) (numbers []int) {
	t.Helper()
	conns := s.Pool().AcquireAllIdle(context.Background())
	if len(conns) == 0 {
		t.Fatal("no connection was looked at")
	}
	for _, c := range conns {
		var n int
		if err := c.QueryRow(context.Background(), query).Scan(&n); err != nil {
			t.Error(err)
		}
		numbers = append(numbers, n)
		c.Release()
	}
	return numbers
}

// TestSessionStateOfAConnection: after turns of every kind, a connection to the server has its settings and prepared
// statements, and no lock, channel, temporary table or cursor.
func TestSessionStateOfAConnection(t *testing.T) {
	s := open(t, database(t), postgres.Options{})
	turns(t, s)
	for _, n := range left(t, s, `
		select (select count(*) from pg_listening_channels())
			+ (select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory')
			+ (select count(*) from pg_class where relpersistence = 't')
			+ (select count(*) from pg_cursors where is_holdable)`) {
		if n != 0 {
			t.Errorf("%d things are left", n)
		}
	}
	for _, n := range left(t, s, `select count(*) from pg_settings where source = 'session'`) {
		if n != 6 {
			t.Errorf("a connection has %d settings", n)
		}
	}
}

// TestNoSessionStateBehindAPooler: where the process at the other end of the connection is not the server's, no setting
// is left, and no prepared statement if the URL says so. The settings of a transaction hold in each one.
func TestNoSessionStateBehindAPooler(t *testing.T) {
	url := database(t)
	run(t, url, `alter database `+nameOf(url)+` set synchronous_commit = off`)
	s := open(t, feigned(t, url), postgres.Options{})
	turns(t, s)
	for _, n := range left(t, s, `select (select count(*) from pg_settings where source = 'session') + (select count(*)
		from pg_prepared_statements where name <> '')`) {
		if n != 0 {
			t.Errorf("%d things are left", n)
		}
	}
	for setting, want := range map[string]string{
		"synchronous_commit": "on", "lock_timeout": "5s", "idle_in_transaction_session_timeout": "15s",
	} {
		if got, err := s.Ask(context.Background(), `select current_setting('`+setting+`')`); err != nil || got != want {
			t.Errorf("%s is %q, %v", setting, got, err)
		}
	}
}

// feigned returns a URL through a proxy that tells the client the number of another process, as a pooler does. It also
// says that nothing is to be prepared.
func feigned(t *testing.T, url string) string {
	t.Helper()
	l, through := newLine(t, url)
	l.alter = func(said []byte) {
		if at := bytes.Index(said, []byte{'K', 0, 0, 0, 12}); said[0] == 'R' && at >= 0 {
			said[at+8] ^= 1
		}
	}
	return through
}
