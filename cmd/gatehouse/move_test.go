package main

import (
	"context"
	"database/sql"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	_ "github.com/jackc/pgx/v5/stdlib"

	"gatehouse/core"
	"gatehouse/storage"
	"gatehouse/storage/postgres/postgrestest"
)

// serveOn has the next processes run on another database, and the test look into that one.
func (w *workbench) serveOn(url string) {
	w.t.Helper()
	store, err := storage.Open(w.t.Context(), url, storage.Options{})
	noErr(w.t, err)
	w.t.Cleanup(func() { _ = store.Close() })
	w.url, w.store = url, store
}

// TestMoveFromSQLiteToPostgres: an approval that is open when the database is moved is decided on Postgres by the
// button that was posted before, and its turn goes on. The old database is refused, in words without a password.
func TestMoveFromSQLiteToPostgres(t *testing.T) {
	t.Parallel()
	to := postgrestest.New(t)
	p := newSlackProcess(t)
	from := p.url
	p.open()
	thread := p.ann.Posts("C1", p.slack.MentionOfBot()+" note add milk").TS
	card := p.card("C1", thread, "Asked by")
	early := p.workbench.start(nil, "migrate", "--from", from, "--to", to)
	early.quit(t)
	if code := early.cmd.ProcessState.ExitCode(); code != 1 ||
		!strings.Contains(early.out.String(), "The process serve-0 uses") {
		t.Errorf("while it is served: %d, %s", code, early.out)
	}
	p.signal(syscall.SIGTERM)
	<-p.app.done
	noErr(t, p.store.Close())
	to = strings.Replace(to, "@", ":hush@", 1)
	moved := p.workbench.start(nil, "migrate", "--from", from, "--to", to, "--json")
	moved.ok(t)
	if !strings.Contains(moved.out.String(), `"rows"`) || strings.Contains(moved.out.String(), "hush") {
		t.Errorf("it prints %s", moved.out)
	}

	for _, args := range [][]string{nil, {"serve"}, {"chat"}} {
		c := p.workbench.start([]string{"GATEHOUSE_DATABASE_URL=" + from}, args...)
		c.quit(t)
		if code := c.cmd.ProcessState.ExitCode(); code != 2 ||
			!strings.Contains(c.out.String(), "This database was moved to postgres://") ||
			!strings.Contains(c.out.String(), "--moved-anyway") || strings.Contains(c.out.String(), "hush") {
			t.Errorf("%q on the old one: %d, %s", args, code, c.out)
		}
	}
	c := p.workbench.start([]string{"GATEHOUSE_DATABASE_URL=" + from}, "chat", "--moved-anyway")
	c.ok(t)
	c = p.workbench.start([]string{"GATEHOUSE_DATABASE_URL=" + from}, "sessions", "list")
	c.ok(t)
	if !strings.Contains(c.out.String(), "was moved to") {
		t.Errorf("a command on the old one prints %s", c.out)
	}

	p.serveOn(to)
	p.open()
	p.bob.Clicks("C1", card.TS, "approve")
	p.reads("C1", thread, "is in the note book")
	verify := p.workbench.start(nil, "approvals", "log", "--verify")
	verify.ok(t)
	p.signal(syscall.SIGTERM)
	<-p.app.done
}

// TestMoveKilled: a move that is killed while it copies, or at its commit, leaves a target that is empty or complete;
// the same command, run again, does what is left. Until then the old database is not served.
func TestMoveKilled(t *testing.T) {
	t.Parallel()
	const atCommit = `create trigger noted before insert on events for each row execute function noted();
		create constraint trigger blocked after insert on noted deferrable initially deferred
			for each row execute function blocked()`
	for name, c := range map[string]struct {
		trigger string // blocks the move
		ends    string // what becomes of the transaction that the killed process has left: "" = it is carried through
		marked  bool   // the old database says that a move was begun
		again   string // what the second run says
	}{
		"while it copies": {
			`create trigger blocked before insert on events for each row execute function blocked()`,
			`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
				and pid <> pg_backend_pid() and wait_event_type = 'Lock'`, false, "rows were copied",
		},
		"at the commit, which is lost": {
			atCommit,
			`select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()
				and pid <> pg_backend_pid() and wait_event_type = 'Lock'`, true, "rows were copied",
		},
		"at the commit, which goes through": {
			atCommit, "", true, "An earlier run had copied everything",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			to := postgrestest.New(t)
			w := newWorkbench(t)
			file := filepath.Join(t.TempDir(), "moved.db")
			noErr(t, seed(file))
			from := "sqlite:" + file
			_, _, err := storage.Migrate(t.Context(), to, storage.Options{})
			noErr(t, err)
			db, err := sql.Open("pgx", to)
			noErr(t, err)
			t.Cleanup(func() { _ = db.Close() })
			lock, err := db.Conn(t.Context())
			noErr(t, err)
			do := func(query string) {
				t.Helper()
				_, err := lock.ExecContext(context.WithoutCancel(t.Context()), query)
				noErr(t, err)
			}
			do(`select pg_advisory_lock(43)`)
			do(`create function blocked() returns trigger language plpgsql as $$ begin
				perform pg_advisory_xact_lock(43); return new; end $$`)
			do(`create table noted (at bigint)`)
			do(`create function noted() returns trigger language plpgsql as $$ begin
				insert into noted values (new.seq); return new; end $$`)
			do(c.trigger)
			blocked := func() (n int) {
				noErr(t, lock.QueryRowContext(t.Context(), `select count(*) from pg_stat_activity
					where datname = current_database() and wait_event_type = 'Lock'`).Scan(&n))
				return n
			}

			m := w.start(nil, "migrate", "--from", from, "--to", to)
			w.until("the move is blocked", m, func() bool {
				if m.gone() {
					t.Fatalf("it ended: %s", m.out)
				}
				return blocked() == 1
			})
			m.kill()
			if c.ends != "" {
				do(c.ends)
			}
			do(`select pg_advisory_unlock(43)`)
			w.until("its transaction ends", nil, func() bool {
				var n int
				noErr(t, lock.QueryRowContext(t.Context(), `select count(*) from pg_stat_activity
					where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`).Scan(&n))
				return n == 0
			})
			serve := w.start([]string{"GATEHOUSE_DATABASE_URL=" + from, "GATEHOUSE_LISTEN=127.0.0.1:0"}, "chat")
			serve.quit(t)
			says := "it is not known whether it was completed"
			if code := serve.cmd.ProcessState.ExitCode(); (code == 2) != c.marked ||
				c.marked != strings.Contains(serve.out.String(), says) {
				t.Errorf("the old one is served with %d: %s", code, serve.out)
			}
			again := w.start(nil, "migrate", "--from", from, "--to", to)
			again.ok(t)
			if !strings.Contains(again.out.String(), c.again) {
				t.Errorf("again, it prints %s", again.out)
			}
			s, err := storage.Open(t.Context(), to, storage.Options{})
			noErr(t, err)
			defer s.Close()
			open, err := s.ListApprovals(t.Context(), core.ApprovalFilter{States: []core.ApprovalState{core.Open}})
			if err != nil || len(open) == 0 {
				t.Errorf("open at the target: %d, %v", len(open), err)
			}
		})
	}
}
