package postgres_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"gatehouse/core"
	"gatehouse/storage/postgres"
)

// waiting polls until one of the store's connections waits for a lock, and returns its process id.
func waiting(t *testing.T, ctx context.Context, look *pgx.Conn) int {
	t.Helper()
	for ctx.Err() == nil {
		var pid int
		err := look.QueryRow(ctx, `
			select coalesce(max(pid), 0) from pg_stat_activity
			where datname = current_database() and application_name = 'gatehouse'
				and wait_event_type = 'Lock'`).Scan(&pid)
		if err != nil {
			t.Fatal(err)
		}
		if pid != 0 {
			return pid
		}
	}
	t.Fatal("nobody waits for a lock")
	return 0
}

// fault is one store, and two more connections: one to block it, one to observe.
type fault struct {
	t     *testing.T
	ctx   context.Context
	url   string
	store *postgres.Store
	block *pgx.Conn
	look  *pgx.Conn
	owner string
}

func newFault(t *testing.T, o postgres.Options) *fault {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	url := database(t)
	f := &fault{t: t, ctx: ctx, url: url, store: open(t, url, o), block: connect(t, url), look: connect(t, url)}
	var err error
	if f.owner, err = f.store.Register(ctx, "fault", 0); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *fault) exec(on *pgx.Conn, query string) {
	f.t.Helper()
	if _, err := on.Exec(f.ctx, query); err != nil {
		f.t.Fatalf("%s: %v", query, err)
	}
}

// claim accepts a conversation's message and claims it.
func (f *fault) claim(conversation int) core.Claim {
	f.t.Helper()
	if _, err := f.store.Accept(f.ctx, said(conversation, 0)); err != nil {
		f.t.Fatal(err)
	}
	claims, err := f.store.Claim(f.ctx, core.ClaimRequest{Owner: f.owner, Limit: 1, Scopes: served})
	if err != nil || len(claims) != 1 {
		f.t.Fatalf("claiming: %v, %v", claims, err)
	}
	return claims[0]
}

func (f *fault) want(err error, c core.Category) {
	f.t.Helper()
	if core.CategoryOf(err) != c {
		f.t.Fatalf("got %v, want %q", err, c)
	}
}

// TestKilledBackend: the transaction on it fails as store_busy and stores nothing, and the next call succeeds.
func TestKilledBackend(t *testing.T) {
	f := newFault(t, postgres.Options{})
	c := f.claim(0)
	f.exec(f.block, `begin; select 1 from queues for update`)
	came := make(chan error)
	go func() { came <- f.store.Finish(f.ctx, core.Finish{Claim: c, End: core.End{Kind: core.EndReplied}}) }()
	pid := waiting(t, f.ctx, f.look)
	if _, err := f.look.Exec(f.ctx, `select pg_terminate_backend($1)`, pid); err != nil {
		t.Fatal(err)
	}
	f.want(<-came, core.StoreBusy)
	f.exec(f.block, `rollback`)
	f.want(f.store.Finish(f.ctx, core.Finish{Claim: c, End: core.End{Kind: core.EndReplied}}), "")
}

// TestServerRestart: all connections are dead, and calls succeed on new ones.
func TestServerRestart(t *testing.T) {
	f := newFault(t, postgres.Options{})
	c := f.claim(0)
	for range 3 {
		var all sync.WaitGroup
		for range 4 { // several connections
			all.Go(func() {
				if _, err := f.store.Ask(f.ctx, `select pg_sleep(0)::text`); err != nil {
					t.Errorf("asking: %v", err)
				}
			})
		}
		all.Wait()
		f.exec(f.look, `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
			and application_name = 'gatehouse'`)
		f.want(f.store.Beat(f.ctx, f.owner), "")
		f.exec(f.look, `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
			and application_name = 'gatehouse'`)
		_, err := f.store.StopRequested(f.ctx, c)
		f.want(err, "")
	}
}

// TestDeadlockIsRepeated: the server aborts the store's transaction, and the store runs it again.
func TestDeadlockIsRepeated(t *testing.T) {
	f := newFault(t, postgres.Options{})
	c := f.claim(0)
	f.exec(f.block, `set deadlock_timeout = '1min'`) // so that the server aborts the other transaction
	f.exec(f.block, `begin; select 1 from audit_head for update`)
	came := make(chan error)
	go func() {
		came <- f.store.Finish(f.ctx, core.Finish{
			Claim: c, End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{Approval: &core.Approval{
				ID: "a", Invocation: c.Event.Invocation, Conversation: c.Event.Conversation, Address: c.Event.Address,
			}},
		})
	}()
	waiting(t, f.ctx, f.look)
	f.exec(f.block, `select 1 from queues for update`)
	f.exec(f.block, `commit`)
	f.want(<-came, "")
	if a, err := f.store.LoadApproval(f.ctx, "a"); err != nil || a.State != core.Open {
		t.Errorf("got %+v, %v", a, err)
	}
	log, err := f.store.AuditLog(f.ctx, 0, 0)
	if err != nil || len(log) != 1 {
		t.Errorf("got %+v, %v", log, err)
	}
}

// TestWaitsAreLimited: a transaction that waits too long for another one fails as store_busy and stores nothing.
func TestWaitsAreLimited(t *testing.T) {
	f := newFault(t, postgres.Options{})
	if _, err := f.store.Accept(f.ctx, said(0, 0)); err != nil {
		t.Fatal(err)
	}
	hasty := open(t, f.url, postgres.Options{Timeout: time.Second})
	f.exec(f.block, `begin; select 1 from queues for update`)
	_, err := hasty.Accept(f.ctx, said(0, 1))
	f.want(err, core.StoreBusy)
	f.exec(f.block, `rollback`)
	events, err := f.store.Events(f.ctx, core.EventFilter{})
	if err != nil || len(events) != 1 {
		t.Errorf("%d events, %v", len(events), err)
	}
}

// TestLaw1_AnsweredCommitIsOnDisk checks synchronous_commit with other defaults of the database and the role.
func TestLaw1_AnsweredCommitIsOnDisk(t *testing.T) {
	url := database(t)
	for _, lazy := range []string{"off", "local", "remote_write"} {
		run(t, url, `alter database `+nameOf(url)+` set synchronous_commit = `+lazy)
		s := open(t, url, postgres.Options{})
		got, err := s.Ask(context.Background(), `select current_setting('synchronous_commit')`)
		if err != nil || got != "on" {
			t.Errorf("with %s as default it is %q, %v", lazy, got, err)
		}
		s.Close()
	}
}
