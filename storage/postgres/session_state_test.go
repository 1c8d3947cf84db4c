package postgres_test

import (
	"context"
	"testing"

	"gatehouse/core"
	"gatehouse/storage/postgres"
	"gatehouse/storage/storagetest/cost"
)

// TestNoSessionStateIsLeftOnAConnection: after turns of every kind, no connection of the pool has a prepared statement, a lock, a
// channel, a temporary table or a setting that was not given when it was opened.
func TestNoSessionStateIsLeftOnAConnection(t *testing.T) {
	ctx := context.Background()
	s := open(t, database(t), postgres.Options{})
	owner, err := s.Register(ctx, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	for n := range 3 {
		cost.Turn(t, s.Store, owner, n, 2)
	}
	if _, err := s.Queue(ctx); err != nil {
		t.Error(err)
	}
	if _, err := s.Prune(ctx, 0); err != nil {
		t.Error(err)
	}
	if _, err := s.Decide(ctx, core.Decision{Approval: "none"}); core.CategoryOf(err) != core.NotFound {
		t.Error(err)
	}
	conns := s.Pool().AcquireAllIdle(ctx)
	if len(conns) == 0 {
		t.Fatal("no connection was looked at")
	}
	for _, c := range conns {
		var left int
		err := c.QueryRow(ctx, `
			select (select count(*) from pg_prepared_statements where name <> '')
				+ (select count(*) from pg_listening_channels())
				+ (select count(*) from pg_locks where pid = pg_backend_pid() and locktype = 'advisory')
				+ (select count(*) from pg_settings where source = 'session')
				+ (select count(*) from pg_class where relpersistence = 't')
				+ (select count(*) from pg_cursors where is_holdable)`).Scan(&left)
		if err != nil || left != 0 {
			t.Errorf("%d things are left, %v", left, err)
		}
		c.Release()
	}
}
