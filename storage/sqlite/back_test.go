package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/sqlite"
)

// settle settles a snapshot, and counts what it cancelled.
func settle(ctx context.Context, into *core.Settled) func(*sqlstore.Store) error {
	return func(s *sqlstore.Store) error {
		for more := true; more; {
			var err error
			if more, err = s.Settle(ctx); err != nil {
				return err
			}
		}
		if err := s.EndRestore(ctx); err != nil {
			return err
		}
		r, err := s.LastRestore(ctx)
		if err == nil {
			*into = r.Settled
		}
		return err
	}
}

// moveBack puts a snapshot back, whatever is lost.
func moveBack(
	t *testing.T, file string, s sqlite.Snapshot, settle func(*sqlstore.Store) error,
) (kept string, err error) {
	t.Helper()
	since, err := sqlite.SinceSnapshot(t.Context(), file, s, sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return sqlite.MoveBack(t.Context(), file, s, since, sqlite.Options{}, settle)
}

// marked reports whether a file is marked as restored.
func marked(t *testing.T, file string) (is bool) {
	t.Helper()
	db := raw(t, file)
	defer db.Close()
	if err := db.QueryRow(`select count(*) > 0 from kv where name = 'restored'`).Scan(&is); err != nil {
		t.Fatal(err)
	}
	return is
}

// TestADatabaseInUseIsNotMovedBack: nor is one that has got more than was said; and neither is marked, so that nothing
// is cancelled when it is served again.
func TestADatabaseInUseIsNotMovedBack(t *testing.T) {
	file := restore(t, "00010")
	if _, _, err := sqlite.Migrate(t.Context(), file, sqlite.Options{Snapshots: 1}); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	snapshot, err := sqlite.NewestBefore(file, 11)
	if err != nil {
		t.Fatal(err)
	}
	var got core.Settled
	s := open(t, file, sqlite.Options{Timeout: time.Millisecond}).Store
	_, err = moveBack(t, file, snapshot, settle(t.Context(), &got))
	if core.CategoryOf(err) != core.StoreBusy {
		t.Errorf("while it is in use: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if marked(t, file) {
		t.Error("the database in use was marked")
	}
	said := sqlite.Since{Events: 1 << 40}
	_, err = sqlite.MoveBack(t.Context(), file, snapshot, said, sqlite.Options{}, settle(t.Context(), &got))
	if core.CategoryOf(err) != core.Invalid || marked(t, file) {
		t.Errorf("with more than was said: %v, marked %v", err, marked(t, file))
	}
	kept, err := moveBack(t, file, snapshot, settle(t.Context(), &got))
	if err != nil || !marked(t, kept) {
		t.Errorf("once it is closed: %v, marked %v", err, marked(t, kept))
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("%v, %v", info, err)
	}
}

// TestASnapshotOfEachLandedSchemaIsPutBack: it has its schema again, to the letter, and nothing in it waits.
func TestASnapshotOfEachLandedSchemaIsPutBack(t *testing.T) {
	files, err := filepath.Glob("testdata/0*.db.gz")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, stored := range files {
		name := filepath.Base(stored)[:5]
		t.Run(name, func(t *testing.T) {
			file := restore(t, name)
			before, known, err := sqlite.Version(t.Context(), file, sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if before == known {
				return // the newest schema: there is nothing to migrate
			}
			if _, _, err := sqlite.Migrate(t.Context(), file, sqlite.Options{Snapshots: 1}); err != nil {
				t.Fatal(err)
			}
			snapshot, err := sqlite.NewestBefore(file, known)
			if err != nil || snapshot.Schema != before {
				t.Fatal(snapshot, err)
			}
			if about, err := os.Stat(snapshot.File); err != nil || about.Mode() != 0o600 {
				t.Errorf("%v, %v", about, err)
			}
			var got core.Settled
			kept, err := moveBack(t, file, snapshot, settle(t.Context(), &got))
			if err != nil {
				t.Fatal(err)
			}
			if after, _, err := sqlite.Version(t.Context(), file, sqlite.Options{}); err != nil || after != before {
				t.Errorf("schema %d, %v", after, err)
			}
			if after, _, err := sqlite.Version(t.Context(), kept, sqlite.Options{}); err != nil || after != known {
				t.Errorf("what was in place has schema %d, %v", after, err)
			}
			var open int
			err = raw(t, file).QueryRow(`select (select count(*) from approvals where state = 'open')
				+ (select count(*) from events where ended_at = 0) + (select count(*) from paused)
				+ (select count(*) from kv where name = 'restored')`).Scan(&open)
			if err != nil || open > 0 {
				t.Errorf("%d things wait, %v", open, err)
			}
		})
	}
}

// TestWhatCanNotBeReadIsSettled: broken rows of a database that was put back end, too, so that it can be served.
func TestWhatCanNotBeReadIsSettled(t *testing.T) {
	file := restore(t, "00010")
	s := open(t, file, sqlite.Options{}).Store
	if err := s.MarkRestored(t.Context(), core.RestoreMark{}); err != nil {
		t.Fatal(err)
	}
	db := raw(t, file)
	for _, query := range []string{
		`update approvals set body = '{'`, `update outbox set post = '{'`, `update paused set record = '{'`,
		`update events set ended_at = 0, end_kind = '', address = '{'`,
	} {
		must(t, db, query)
	}
	var got core.Settled
	if err := settle(t.Context(), &got)(s); err != nil {
		t.Fatal(err)
	}
	if got.Approvals == 0 || got.Events == 0 || got.Posts == 0 {
		t.Errorf("settled %+v", got)
	}
	var open int
	err := db.QueryRow(`select (select count(*) from approvals where state = 'open')
		+ (select count(*) from events where ended_at = 0) + (select count(*) from paused)
		+ (select count(*) from outbox where state = 'waiting' and post = '{')
		+ (select count(*) from readers where open = true)`).Scan(&open)
	if err != nil || open > 0 {
		t.Errorf("%d things wait, %v", open, err)
	}
}

// TestOnlyTheNewestSnapshotsAreKept: the oldest go.
func TestOnlyTheNewestSnapshotsAreKept(t *testing.T) {
	file := restore(t, "00010")
	for _, at := range []string{"20260101T000000Z", "20260102T000000Z"} {
		if err := os.WriteFile(file+".v9-"+at+".snapshot", nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, _, err := sqlite.Migrate(t.Context(), file, sqlite.Options{Snapshots: 2}); err != nil {
		t.Fatal(err)
	}
	all, err := sqlite.Snapshots(file)
	if err != nil || len(all) != 2 || all[0].Schema != 10 || all[1].At.Day() != 2 {
		t.Errorf("%+v, %v", all, err)
	}
}

// TestMovingBackWithAThousandOpenApprovals measures how long that takes.
func TestMovingBackWithAThousandOpenApprovals(t *testing.T) {
	file := restore(t, "00010")
	db := raw(t, file)
	multiply(t, db, 1000)
	db.Close() // nobody may use the file
	if _, _, err := sqlite.Migrate(t.Context(), file, sqlite.Options{Snapshots: 1}); err != nil {
		t.Fatal(err)
	}
	snapshot, err := sqlite.NewestBefore(file, 11)
	if err != nil {
		t.Fatal(err)
	}
	var got core.Settled
	began := time.Now()
	_, err = moveBack(t, file, snapshot, settle(t.Context(), &got))
	took := time.Since(began)
	t.Logf("migrate --back with %d approvals cancelled took %s", got.Approvals, took)
	if err != nil || got.Approvals < 1000 || took > time.Minute {
		t.Errorf("%+v in %s, %v", got, took, err)
	}
}

// multiply adds copies of an open approval, with its card and its paused turn.
func multiply(t *testing.T, db *sql.DB, n int) {
	t.Helper()
	var id, invocation string
	err := db.QueryRow(`select a.id, a.invocation from approvals a join paused p on p.invocation = a.invocation
		where a.state = 'open' limit 1`).Scan(&id, &invocation)
	if err != nil {
		t.Fatal(err)
	}
	must(t, db, "pragma synchronous = off")
	for i := range n {
		for _, query := range []string{
			`insert into approvals (id, invocation, session, conversation, body, state, reason, decided_by, decided_at,
				created_at, deadline, begun, changed, requester)
			select id || '-%[1]d', invocation || '-%[1]d', session, conversation, body, state, reason, decided_by,
				decided_at, created_at, deadline, begun, changed, requester from approvals where id = '%[2]s'`,
			`insert into paused (invocation, session, signal, record, created_at)
			select invocation || '-%[1]d', session, signal || '-%[1]d', record, created_at from paused
			where invocation = '%[3]s'`,
			`insert into outbox (key, destination, platform, conversation, kind, approval, post, state, wanted, shown,
				parts, attempts, next_at, cause, created_at)
			select key || '-%[1]d', destination, platform, conversation, kind, '%[2]s-%[1]d', post, 'waiting', 1, 0,
				'[]', 0, 0, '', created_at from outbox where kind = 'card' limit 1`,
		} {
			must(t, db, fmt.Sprintf(query, i, id, invocation))
		}
	}
}

// TestACopyIsOneWholeMoment: what was committed before it began is in it, and it is complete, whatever is written
// meanwhile.
func TestACopyIsOneWholeMoment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, file, sqlite.Options{}).Store
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() {
		for n := 0; ; n++ {
			err := s.AddNote(context.WithoutCancel(ctx), "ann", fmt.Sprint("note ", n))
			if err != nil || ctx.Err() != nil {
				done <- err
				return
			}
		}
	}()
	for len(notesOf(t, s)) < 20 {
		time.Sleep(time.Millisecond)
	}
	before := len(notesOf(t, s))
	copied := filepath.Join(t.TempDir(), "copy.db")
	err := sqlite.Copy(t.Context(), file, copied, sqlite.Options{}, sqlite.Copying{
		Check: func(c *sqlstore.Store) error {
			if n := len(notesOf(t, c)); n < before {
				t.Errorf("%d notes of %d", n, before)
			}
			return nil
		},
	})
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	c := open(t, copied, sqlite.Options{}).Store
	if m, err := c.RestoreMark(t.Context()); err != nil || m == nil {
		t.Errorf("the mark is %+v, %v", m, err)
	}
	err = sqlite.Copy(t.Context(), file, copied, sqlite.Options{}, sqlite.Copying{})
	if core.CategoryOf(err) != core.Invalid {
		t.Errorf("overwriting: %v", err)
	}
}

// TestTwoCopiesOfOneName: the second one does not take the first one's file away.
func TestTwoCopiesOfOneName(t *testing.T) {
	file := restore(t, "00010")
	copied := filepath.Join(t.TempDir(), "copy.db")
	if err := os.WriteFile(copied+".part", []byte("left by a crash"), 0o600); err != nil {
		t.Fatal(err)
	}
	var second error
	err := sqlite.Copy(t.Context(), file, copied, sqlite.Options{}, sqlite.Copying{Progress: func(int64, int64) {
		second = sqlite.Copy(t.Context(), file, copied, sqlite.Options{}, sqlite.Copying{})
	}})
	if err != nil || core.CategoryOf(second) != core.StoreBusy {
		t.Errorf("the first: %v; the second: %v", err, second)
	}
	if !marked(t, copied) {
		t.Error("the copy is not marked")
	}
	if _, err := os.Lstat(copied + ".part"); err == nil {
		t.Error("the file of the copy is left")
	}
}

func notesOf(t *testing.T, s *sqlstore.Store) []string {
	t.Helper()
	all, err := s.Notes(t.Context(), "ann")
	if err != nil {
		t.Fatal(err)
	}
	return all
}
