package sqlite_test

import (
	"bytes"
	"context"
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
	want(t, s.AddNote(ctx, "ann", "removed"), core.StoreUnreadable, file)
	if err := os.WriteFile(file, read(t, file+".away"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := s.Accept(ctx, core.Event{Platform: "p", ID: "1", Conversation: "p:c", Body: core.MessageEvent{}})
	want(t, err, core.StoreUnreadable, file)
	rename(file+".away", file)
	if err := s.AddNote(ctx, "ann", "back"); err != nil {
		t.Fatal(err)
	}
	if got := notes(t, s, "ann"); got != 1 {
		t.Errorf("%d notes, want the one that was stored", got)
	}
}
