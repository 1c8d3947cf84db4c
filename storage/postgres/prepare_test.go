package postgres_test

import (
	"bytes"
	"context"
	"log/slog"
	"strings"
	"testing"

	"gatehouse/storage/postgres"
)

// prepared returns the number of prepared statements of each idle connection.
func prepared(t *testing.T, s *postgres.Store) []int {
	t.Helper()
	return left(t, s, `select count(*) from pg_prepared_statements where name <> ''`)
}

// TestStatementsArePrepared: by default, and not if the URL says so.
func TestStatementsArePrepared(t *testing.T) {
	url := database(t)
	s := open(t, url, postgres.Options{})
	turns(t, s)
	for _, n := range prepared(t, s) {
		if n < 10 {
			t.Errorf("%d statements are prepared", n)
		}
	}
	for _, mode := range []string{"exec", "cache_describe", "simple_protocol"} {
		s := open(t, inMode(t, url, mode), postgres.Options{})
		if err := s.AddNote(t.Context(), mode, "x"); err != nil {
			t.Errorf("with %s: %v", mode, err)
		}
		for _, n := range prepared(t, s) {
			if n != 0 {
				t.Errorf("with %s %d statements are prepared", mode, n)
			}
		}
	}
}

func inMode(t *testing.T, url, mode string) string {
	t.Helper()
	if !strings.Contains(url, "?") {
		return url + "?default_query_exec_mode=" + mode
	}
	return url + "&default_query_exec_mode=" + mode
}

// TestPreparedStatementsAreLost: what is prepared is gone from every connection, as if a pooler had chosen another one.
// Each call still succeeds, nothing is prepared from then on, and that is told once.
func TestPreparedStatementsAreLost(t *testing.T) {
	for name, call := range map[string]func(*postgres.Store) error{
		"a transaction": func(s *postgres.Store) error { return s.AddNote(t.Context(), "ann", "x") },
		"a read":        func(s *postgres.Store) error { _, err := s.Notes(t.Context(), "ann"); return err },
		"a beat":        func(s *postgres.Store) error { return s.Beat(t.Context(), "me") },
	} {
		t.Run(name, func(t *testing.T) {
			var told bytes.Buffer
			s := open(t, database(t), postgres.Options{Log: slog.New(slog.NewTextHandler(&told, nil))})
			if err := call(s); err != nil {
				t.Fatal(err)
			}
			for _, pool := range s.Pools() {
				for _, c := range pool.AcquireAllIdle(t.Context()) {
					if _, err := c.Exec(t.Context(), `deallocate all`); err != nil {
						t.Fatal(err)
					}
					c.Release()
				}
			}
			for range 3 {
				if err := call(s); err != nil {
					t.Fatal(err)
				}
			}
			if strings.Count(told.String(), "prepared statements") != 1 {
				t.Errorf("told: %s", told.String())
			}
			turns(t, s)
			for _, n := range prepared(t, s) {
				if n != 0 {
					t.Errorf("%d statements are prepared", n)
				}
			}
		})
	}
}

// TestSchemaChangesUnderAPreparedStatement: another process has migrated; reads and transactions go on.
func TestSchemaChangesUnderAPreparedStatement(t *testing.T) {
	ctx := context.Background()
	url := database(t)
	s := open(t, url, postgres.Options{})
	for _, kind := range []string{"varchar", "text"} {
		if err := s.AddNote(ctx, "ann", "x"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Notes(ctx, "ann"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Ask(ctx, `select text from notes limit 1`); err != nil {
			t.Fatal(err)
		}
		run(t, url, `alter table notes alter column text type `+kind)
		if notes, err := s.Notes(ctx, "ann"); err != nil || len(notes) == 0 {
			t.Errorf("%v, %v", notes, err)
		}
		if got, err := s.Ask(ctx, `select text from notes limit 1`); err != nil || got != "x" {
			t.Errorf("%q, %v", got, err)
		}
	}
}
