package storage_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/storage"
	"gatehouse/storage/postgres/postgrestest"
	"gatehouse/storage/storagetest/cost"
)

func TestOpen(t *testing.T) {
	for name, engine := range map[string]struct {
		url  func(t *testing.T) string
		same func(url string) string
	}{
		"sqlite": {
			url:  func(t *testing.T) string { return "sqlite:" + filepath.Join(t.TempDir(), "gatehouse.db") },
			same: func(url string) string { return strings.Replace(url, "sqlite:", "sqlite://", 1) },
		},
		"postgres": {
			url:  func(t *testing.T) string { return postgrestest.New(t) },
			same: func(url string) string { return strings.Replace(url, "postgres://", "postgresql://", 1) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			url := engine.url(t)
			opens(t, url, engine.same(url))
		})
	}
}

// opens opens an empty database under both of its names and uses it.
func opens(t *testing.T, url, same string) {
	ctx := context.Background()
	if found, known, err := storage.Version(ctx, url); err != nil || found != 0 || known < 1 {
		t.Fatalf("before: found %d, known %d, %v", found, known, err)
	}
	var m cost.Meter
	for _, url := range []string{url, same} {
		s, err := storage.Open(ctx, url, storage.Options{Trace: m.Trace, NewID: func() string { return "the-id" }})
		if err != nil {
			t.Fatalf("opening: %v", err)
		}
		defer s.Close()
		r, err := s.Accept(ctx, core.Event{Platform: "p", ID: "1", Conversation: "p:l", Body: core.MessageEvent{}})
		if err != nil || r.Seq != 1 {
			t.Fatalf("accepting: %+v, %v", r, err)
		}
		events, err := s.Events(ctx, core.EventFilter{Seq: r.Seq})
		if err != nil || len(events) != 1 || events[0].Invocation != "the-id" {
			t.Fatalf("got %+v, %v", events, err)
		}
	}
	if c := m.Work(); c.Commits == 0 || c.Read == 0 || c.Written == 0 {
		t.Errorf("nothing was counted: %+v", c)
	}
	if from, to, err := storage.Migrate(ctx, url, storage.Options{}); err != nil || from != to || from < 1 {
		t.Errorf("migrating from %d to %d: %v", from, to, err)
	}
}

func TestURLs(t *testing.T) {
	for url, says := range map[string]string{
		"postgres://u:secret@host:port/db":       "postgres://",
		"postgresql://u:secret@h/db?sslmode=odd": "postgres://",
		"postgres://u:sec ret@h/db":              "postgres://",
		"mysql://u:secret@host/db":               "sqlite:",
		"gatehouse.db":                           "sqlite:",
		"":                                       "sqlite:",
		"sqlite:":                                "needs a file",
		"sqlite::memory:":                        "needs a file",
	} {
		s, err := storage.Open(context.Background(), url, storage.Options{})
		if s != nil || core.CategoryOf(err) != core.Invalid || !strings.Contains(err.Error(), says) ||
			strings.Contains(err.Error(), "ret@") {
			t.Errorf("%q gave %v", url, err)
		}
		_, _, err = storage.Migrate(context.Background(), url, storage.Options{})
		if core.CategoryOf(err) != core.Invalid {
			t.Errorf("migrating %q gave %v", url, err)
		}
		if _, _, err := storage.Version(context.Background(), url); core.CategoryOf(err) != core.Invalid {
			t.Errorf("the version of %q gave %v", url, err)
		}
	}
}

// TestUnreachable: an unreachable server has its category, and the error contains nothing of the URL.
func TestUnreachable(t *testing.T) {
	_, err := storage.Open(context.Background(), "postgres://somebody:secret@127.0.0.1:1/hidden", storage.Options{})
	if core.CategoryOf(err) != core.StoreBusy {
		t.Fatalf("got %v", err)
	}
	for _, word := range []string{"secret", "somebody", "hidden", "127.0.0.1"} {
		if strings.Contains(core.MessageOf(err), word) {
			t.Errorf("%q says %q", core.MessageOf(err), word)
		}
	}
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the password is in %v", err)
	}
}
