package sqlite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/storage/sqlite"
)

// TestPruneShrinksTheFile: what was pruned is neither in the file nor in its write-ahead log, and its space is given
// back.
func TestPruneShrinksTheFile(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	c := newClock()
	s := open(t, file, sqlite.Options{Now: c.Now})
	payload, _ := json.Marshal(strings.Repeat("secret word ", 1000))
	const events = 600 // more pages than shrink gives back in one step
	for n := range events {
		if _, err := s.Accept(ctx,
			core.Event{
				Platform: "p", ID: fmt.Sprint(n), Conversation: "p:c", Body: core.MessageEvent{}, Payload: payload,
			}); err != nil {
			t.Fatal(err)
		}
		claims, err := s.Claim(ctx, core.ClaimRequest{Owner: "o", Limit: 1, Scopes: []core.Scope{{Platform: "p"}}})
		if err != nil || len(claims) != 1 {
			t.Fatalf("%d claims, %v", len(claims), err)
		}
		if err := s.Finish(ctx, core.Finish{Claim: claims[0], End: core.End{Kind: core.EndReplied}}); err != nil {
			t.Fatal(err)
		}
	}
	c.Advance(48 * time.Hour)
	if n, err := s.Prune(ctx, 24*time.Hour); err != nil || n < events {
		t.Fatalf("pruned %d rows, %v", n, err)
	}
	for _, name := range []string{file, file + "-wal"} {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if len(content) > 1<<20 {
			t.Errorf("%s has %d bytes after the prune of %d", name, len(content), events*len(payload))
		}
		if bytes.Contains(content, []byte("secret word")) {
			t.Errorf("%s holds what was pruned", name)
		}
	}
}

// TestPruneBesideAReader: another process that reads delays the emptying of the log, and is no error.
func TestPruneBesideAReader(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	s := open(t, file, sqlite.Options{})
	reader := raw(t, file)
	must(t, reader, `begin`)
	must(t, reader, `create temp table seen as select * from kv`)
	if err := s.AddNote(ctx, "ann", "x"); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prune(ctx, time.Hour); err != nil {
		t.Errorf("pruning: %v", err)
	}
	must(t, reader, `commit`)
	if _, err := s.Prune(ctx, time.Hour); err != nil {
		t.Errorf("pruning: %v", err)
	}
	if info, err := os.Stat(file + "-wal"); err != nil || info.Size() > 0 {
		t.Errorf("the log is %v, %v", info, err)
	}
}
