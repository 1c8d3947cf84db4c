package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mattn/go-sqlite3"

	"gatehouse/core"
	"gatehouse/storage/sqlite"
)

// raw opens a file as another program would.
func raw(t *testing.T, file string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite3", file)
	if err != nil {
		t.Fatalf("opening: %v", err)
	}
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { db.Close() })
	return db
}

func must(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// want checks the category, and that the message names the file.
func want(t *testing.T, err error, category core.Category, file string) {
	t.Helper()
	if core.CategoryOf(err) != category {
		t.Fatalf("got %v, want category %s", err, category)
	}
	if !strings.Contains(core.MessageOf(err), file) {
		t.Errorf("%q does not name %s", core.MessageOf(err), file)
	}
}

func TestCodes(t *testing.T) {
	for code, category := range map[sqlite3.ErrNo]core.Category{
		sqlite3.ErrBusy: core.StoreBusy, sqlite3.ErrLocked: core.StoreBusy, sqlite3.ErrFull: core.StoreFull,
		sqlite3.ErrNotADB: core.StoreUnreadable, sqlite3.ErrCorrupt: core.StoreUnreadable,
		sqlite3.ErrCantOpen: core.StoreUnreadable,
		sqlite3.ErrPerm:     core.StoreUnreadable, sqlite3.ErrReadonly: core.StoreUnreadable,
		sqlite3.ErrIoErr:      core.StoreUnreadable,
		sqlite3.ErrConstraint: core.Internal,
	} {
		want(t, sqlite.Translate("my.db", errors.Join(sqlite3.Error{Code: code})), category, "my.db")
	}
	ours := core.Errorf(core.ClaimLost, "x")
	for _, err := range []error{nil, ours, context.Canceled, context.DeadlineExceeded} {
		if got := sqlite.Translate("my.db", err); !errors.Is(got, err) {
			t.Errorf("%v became %v", err, got)
		}
	}
	want(t, sqlite.Translate("my.db", errors.New("other")), core.Internal, "my.db")
}

func TestLockedByAnother(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, file, sqlite.Options{Timeout: time.Millisecond})
	other := raw(t, file)
	must(t, other, `begin immediate`)
	for range 2 {
		want(t, s.AddNote(context.Background(), "ann", "x"), core.StoreBusy, file)
	}
	if got := notes(t, s, "ann"); got != 0 { // reads still work
		t.Errorf("%d notes", got)
	}
	must(t, other, `commit`)
	if err := s.AddNote(context.Background(), "ann", "x"); err != nil {
		t.Errorf("after the lock: %v", err)
	}
}

func TestFileOfAnotherProgram(t *testing.T) {
	ctx := context.Background()
	dir := t.TempDir()
	garbage := filepath.Join(dir, "garbage.db")
	if err := os.WriteFile(garbage, bytes.Repeat([]byte("no database "), 1000), 0o600); err != nil {
		t.Fatal(err)
	}
	foreign := filepath.Join(dir, "foreign.db")
	must(t, raw(t, foreign), `create table theirs (x)`)
	before, err := os.ReadFile(foreign)
	if err != nil {
		t.Fatal(err)
	}
	missing := filepath.Join(dir, "none", "gatehouse.db")
	for _, file := range []string{garbage, foreign, dir, missing} {
		_, err := sqlite.Open(ctx, file, sqlite.Options{})
		want(t, err, core.StoreUnreadable, file)
		_, _, err = sqlite.Version(ctx, file, sqlite.Options{})
		want(t, err, core.StoreUnreadable, file)
	}
	if after, err := os.ReadFile(foreign); err != nil || !bytes.Equal(before, after) {
		t.Errorf("another program's file was changed (%v)", err)
	}
	for _, file := range []string{"", ":memory:"} {
		_, err := sqlite.Open(ctx, file, sqlite.Options{})
		if core.CategoryOf(err) != core.Invalid {
			t.Errorf("%q gave %v", file, err)
		}
	}
}

func TestDamaged(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, file, sqlite.Options{})
	if err := s.AddNote(context.Background(), "ann", strings.Repeat("x", 100_000)); err != nil {
		t.Fatal(err)
	}
	s.Close()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := 8192; i < len(data); i++ { // damages the tables, not the schema
		data[i] = 0xff
	}
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s, err = sqlite.OpenStore(context.Background(), file, sqlite.Options{})
	if err == nil {
		defer s.Close()
		_, err = s.Notes(context.Background(), "ann")
	}
	want(t, err, core.StoreUnreadable, file)
}

func TestNewer(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	open(t, file, sqlite.Options{}).Close()
	must(t, raw(t, file), `insert into goose_db_version (version_id, is_applied) values (999, 1)`)
	_, err := sqlite.Open(context.Background(), file, sqlite.Options{})
	want(t, err, core.StoreNewer, file)
	found, known, err := sqlite.Version(context.Background(), file, sqlite.Options{})
	want(t, err, core.StoreNewer, file)
	if found != 999 || known >= found {
		t.Errorf("found %d, known %d", found, known)
	}
}

func TestMissingWritePermission(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, file, sqlite.Options{})
	if err := s.Unit(context.Background(), func(run exec) error {
		return run(`pragma query_only = true`)
	}); err != nil {
		t.Fatal(err)
	}
	want(t, s.AddNote(context.Background(), "ann", "x"), core.StoreUnreadable, file)
}

func TestReadOnlyFile(t *testing.T) {
	if os.Getuid() == 0 { // root may write everywhere, so the test runs again as another user
		asNobody(t)
		return
	}
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	open(t, file, sqlite.Options{}).Close()
	if err := os.Chmod(file, 0o400); err != nil {
		t.Fatal(err)
	}
	s, err := sqlite.Open(context.Background(), file, sqlite.Options{})
	if err == nil {
		defer s.Close()
		err = s.AddNote(context.Background(), "ann", "x")
	}
	want(t, err, core.StoreUnreadable, file)
}

// asNobody runs the calling test in a process of an unprivileged user.
func asNobody(t *testing.T) {
	t.Helper()
	const nobody = 65534
	dir, err := os.MkdirTemp("/tmp", "as-nobody") // other users may not enter the parent of t.TempDir
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	program, err := os.ReadFile(os.Args[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chmod(dir, 0o777), os.WriteFile(filepath.Join(dir, "test"), program, 0o755)); err != nil {
		t.Fatal(err)
	}
	cmd := osexec.Command(filepath.Join(dir, "test"), "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "TMPDIR="+dir, "HOME="+dir)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS: "+t.Name()) {
		t.Errorf("as nobody: %v\n%s", err, out)
	}
}

// TestDiskFull: the unit that does not fit fails, stored data stays, and writes succeed again once there is space.
func TestDiskFull(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, file, sqlite.Options{})
	limit := func(pages string) {
		t.Helper()
		if err := s.Unit(ctx, func(run exec) error { return run(`pragma max_page_count = ` + pages) }); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.AddNote(ctx, "ann", "before"); err != nil {
		t.Fatal(err)
	}
	limit("1") // no more pages than now
	big := strings.Repeat("x", 1<<20)
	_, err := s.Accept(ctx,
		core.Event{Platform: "p", ID: "1", Conversation: "p:l", Body: core.MessageEvent{}, Payload: []byte(big)})
	want(t, err, core.StoreFull, file)
	limit("1000000")
	if err := s.AddNote(ctx, "ann", big); err != nil {
		t.Fatalf("with space: %v", err)
	}
	events, err := s.Events(ctx, core.EventFilter{})
	if err != nil || len(events) != 0 {
		t.Errorf("%d events (%v), want none", len(events), err)
	}
	if got := notes(t, s, "ann"); got != 2 {
		t.Errorf("%d notes, want 2", got)
	}
}
