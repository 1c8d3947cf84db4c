package sqlite_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/storage/sqlite"
)

// crashed returns what a process leaves behind that is killed after a checkpoint and a further commit: the file, and
// its log.
func crashed(t *testing.T) (database, log []byte) {
	t.Helper()
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, file, sqlite.Options{})
	for range 2 {
		if err := s.AddNote(ctx, "ann", "x"); err != nil {
			t.Fatal(err)
		}
		if database == nil {
			if _, err := s.Prune(ctx, time.Hour); err != nil { // checkpoints
				t.Fatal(err)
			}
		}
		database, log = read(t, file), read(t, file+"-wal")
	}
	return database, log
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// TestFileWithoutItsLog: a file that was removed or replaced, beside the log of the right one, is refused, and the log
// stays as it is.
func TestFileWithoutItsLog(t *testing.T) {
	ctx := context.Background()
	database, log := crashed(t)
	other := filepath.Join(t.TempDir(), "other.db")
	must(t, raw(t, other), `create table goose_db (x)`)
	must(t, raw(t, other), `drop table goose_db`)
	for name, test := range map[string]struct {
		content []byte // nil: the file is missing
		says    string
	}{
		"missing": {nil, "is missing"}, "empty": {[]byte{}, "is empty"},
		"without tables": {read(t, other), "has no tables of gatehouse"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "gatehouse.db")
			write := func(name string, content []byte) {
				if err := os.WriteFile(name, content, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if write(file+"-wal", log); test.content != nil {
				write(file, test.content)
			}
			for range 2 {
				_, err := sqlite.Open(ctx, file, sqlite.Options{})
				want(t, err, core.StoreUnreadable, file)
				if text := core.MessageOf(err); !strings.Contains(text, test.says) ||
					!strings.Contains(text, "move the log away") {
					t.Errorf("it says %q", text)
				}
				_, _, err = sqlite.Version(ctx, file, sqlite.Options{})
				want(t, err, core.StoreUnreadable, file)
				if !bytes.Equal(read(t, file+"-wal"), log) {
					t.Fatal("the log was changed")
				}
			}
			write(file, database)
			if got := notes(t, open(t, file, sqlite.Options{}), "ann"); got != 2 {
				t.Errorf("with the right file there are %d notes, want 2", got)
			}
		})
	}
}

// TestFileReplacedWhileRunning: nothing is committed to a file that is no longer there, nor to another one in its
// place.
func TestFileReplacedWhileRunning(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, file, sqlite.Options{})
	rename := func(from, to string) {
		t.Helper()
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	rename(file, file+".away")
	want(t, s.AddNote(ctx, "ann", "removed"), core.StoreGone, file)
	if err := os.WriteFile(file, read(t, file+".away"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s.Accept(ctx, core.Event{Platform: "p", ID: "1", Conversation: "p:c", Body: core.MessageEvent{}})
	want(t, err, core.StoreGone, file)
	rename(file+".away", file)
	if err := s.AddNote(ctx, "ann", "back"); err != nil {
		t.Fatal(err)
	}
	if got := notes(t, s, "ann"); got != 1 {
		t.Errorf("%d notes, want the one that was stored", got)
	}
}

// TestLaw1_LogRemovedWhileRunning: nothing is committed to a log that is no longer there, which is told at once, and
// what was committed before is not lost with the process.
func TestLaw1_LogRemovedWhileRunning(t *testing.T) {
	ctx := context.Background()
	for name, remove := range map[string]func(log string) error{
		"removed": os.Remove,
		"replaced": func(log string) error {
			if err := os.Rename(log, log+".away"); err != nil {
				return err
			}
			return os.WriteFile(log, []byte("another log"), 0o600)
		},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "gatehouse.db")
			s := open(t, file, sqlite.Options{})
			if err := s.AddNote(ctx, "ann", "stored"); err != nil {
				t.Fatal(err)
			}
			if err := s.Health(ctx); err != nil {
				t.Fatal(err)
			}
			if err := remove(file + "-wal"); err != nil {
				t.Fatal(err)
			}
			want(t, s.Health(ctx), core.StoreGone, file+"-wal")
			want(t, s.Gone(), core.StoreGone, file+"-wal")
			_, err := s.Accept(ctx, core.Event{Platform: "p", ID: "1", Conversation: "p:c", Body: core.MessageEvent{}})
			want(t, err, core.StoreGone, file+"-wal")
			want(t, s.Health(ctx), core.StoreGone, file+"-wal")
			if name == "replaced" {
				return
			}
			killed := filepath.Join(t.TempDir(), "killed.db") // what the process leaves behind if it is killed now
			if err := os.WriteFile(killed, read(t, file), 0o600); err != nil {
				t.Fatal(err)
			}
			if got := notes(t, open(t, killed, sqlite.Options{}), "ann"); got != 1 {
				t.Errorf("the file has %d notes, want the one that was stored", got)
			}
		})
	}
}

// TestLogMovedAwayAndBack: it is the same log.
func TestLogMovedAwayAndBack(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, file, sqlite.Options{})
	for _, move := range [][2]string{{"-wal", "-away"}, {"-away", "-wal"}} {
		if err := os.Rename(file+move[0], file+move[1]); err != nil {
			t.Fatal(err)
		}
		if back := move[1] == "-wal"; (s.AddNote(ctx, "ann", "x") == nil) != back || (s.Health(ctx) == nil) != back {
			t.Errorf("after %v it is %v", move, s.Health(ctx))
		}
	}
}

// TestALongLogIsToldAndCut: a reader that reads for long keeps the log from being emptied.
func TestALongLogIsToldAndCut(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	var log bytes.Buffer
	s := open(t, file, sqlite.Options{Log: slog.New(slog.NewTextHandler(&log, nil))})
	s.WarnOfLog(40 << 20)
	reader := raw(t, file)
	must(t, reader, `begin`)
	if err := reader.QueryRow(`select count(*) from notes`).Scan(new(int)); err != nil {
		t.Fatal(err)
	}
	size := func() int64 {
		info, err := os.Stat(file + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	write := func(text string) {
		t.Helper()
		if err := s.AddNote(ctx, "ann", text); err != nil {
			t.Fatal(err)
		}
	}
	text := strings.Repeat("x", 1<<20)
	for size() < 44<<20 {
		write(text)
	}
	if n := strings.Count(log.String(), "has grown to"); n != 1 {
		t.Errorf("it is told %d times:\n%s", n, log.String())
	}
	must(t, reader, `rollback`)
	for range 3 { // the first one moves the log into the file, the next one begins it again
		write("x")
	}
	if got := size(); got > 33<<20 {
		t.Errorf("the log has %d bytes once nobody reads", got)
	}
	if !strings.Contains(log.String(), "is short again") {
		t.Errorf("the log says\n%s", log.String())
	}
}

// TestABackupCanBeOpened: a copy that SQLite has made of the database, which has no write-ahead log yet.
func TestABackupCanBeOpened(t *testing.T) {
	dir := t.TempDir()
	file, backup := filepath.Join(dir, "gatehouse.db"), filepath.Join(dir, "backup.db")
	if err := open(t, file, sqlite.Options{}).AddNote(t.Context(), "ann", "milk"); err != nil {
		t.Fatal(err)
	}
	must(t, raw(t, file), "vacuum into '"+backup+"'")
	if notes, err := open(t, backup, sqlite.Options{}).Notes(t.Context(), "ann"); err != nil || len(notes) != 1 {
		t.Errorf("notes %q, %v", notes, err)
	}
}
