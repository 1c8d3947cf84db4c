package storage_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/storage"
)

func TestOpen(t *testing.T) {
	ctx := context.Background()
	url := "sqlite:" + filepath.Join(t.TempDir(), "gatehouse.db")
	if found, known, err := storage.Version(ctx, url); err != nil || found != 0 || known < 1 {
		t.Fatalf("before: found %d, known %d, %v", found, known, err)
	}
	var m storage.Meter
	for _, same := range []string{url, strings.Replace(url, "sqlite:", "sqlite://", 1)} {
		s, err := storage.Open(ctx, same, storage.Options{Trace: m.Trace, NewID: func() string { return "the-id" }})
		if err != nil {
			t.Fatalf("opening: %v", err)
		}
		defer s.Close()
		r, err := s.Accept(ctx, core.Event{Platform: "p", ID: "1", Lane: "p:l", Kind: core.KindMessage})
		if err != nil || r.Seq != 1 {
			t.Fatalf("accepting: %+v, %v", r, err)
		}
		events, err := s.Events(ctx, core.EventFilter{Seq: r.Seq})
		if err != nil || len(events) != 1 || events[0].Invocation != "the-id" {
			t.Fatalf("got %+v, %v", events, err)
		}
	}
	if c := m.Cost(); c.Commits == 0 {
		t.Errorf("nothing was counted: %+v", c)
	}
	if from, to, err := storage.Migrate(ctx, url); err != nil || from != to {
		t.Errorf("migrating from %d to %d: %v", from, to, err)
	}
}

func TestURLs(t *testing.T) {
	for url, says := range map[string]string{
		"postgres://u:secret@host/db":   "not in this build",
		"postgresql://u:secret@host/db": "not in this build",
		"mysql://u:secret@host/db":      "sqlite:",
		"gatehouse.db":                  "sqlite:",
		"":                              "sqlite:",
		"sqlite:":                       "needs a file",
		"sqlite::memory:":               "needs a file",
	} {
		s, err := storage.Open(context.Background(), url, storage.Options{})
		if s != nil || core.CategoryOf(err) != core.Invalid || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q gave %v", url, err)
		}
		if _, _, err := storage.Migrate(context.Background(), url); core.CategoryOf(err) != core.Invalid {
			t.Errorf("migrating %q gave %v", url, err)
		}
	}
}
