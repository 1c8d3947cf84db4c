package storagetest

import (
	"database/sql"
	"errors"
	"strings"
	"sync"
	"testing"

	"gatehouse/core"
)

// Refused tests what is said of a database whose schema is none that landed, or was changed by hand.
func (l Landed) Refused(t *testing.T) {
	const unreleased = "An unreleased build wrote this database; open it with that build, or start a new one."
	const byHand = " was changed by hand. These tables, or their indexes, are not as gatehouse made them: "
	for name, c := range map[string]struct {
		stored  string
		changes []string
		want    string // "" = it is opened
	}{
		"an earlier one, before 1e77b5d": {
			"1e77b5d", []string{`drop index events_dead`, `create index events_end on events (end_kind, seq)
				where end_kind <> ''`}, unreleased,
		},
		"an earlier one, before e7d6217": {
			"e7d6217", []string{`alter table outbox drop column arrived`}, unreleased,
		},
		"an earlier one, with more migrations": {
			"e7d6217", []string{`alter table events rename column rank to place`, `update VERSIONS set version_id = 4
				where version_id = 2`}, unreleased,
		},
		"e7d6217 says more migrations": {"e7d6217", []string{`update VERSIONS set version_id = 4
			where version_id = 2`}, unreleased},
		"an unreleased one": {"00003", []string{`update fingerprints
			set fingerprint = 'events:00000000'`}, unreleased},
		"a newer one": {"00003", []string{`insert into VERSIONS (version_id, is_applied)
			values (9999, true)`}, "its schema is 9999"},
		"a column is missing": {
			"00003", []string{`alter table outbox drop column arrived`}, byHand + "outbox.",
		},
		"a column is added": {
			"00003", []string{`alter table events add column theirs text`, `drop index events_rate`},
			byHand + "events.",
		},
		"tables are missing": {
			"00003", []string{`drop table mail`, `drop table notes`}, byHand + "mail, notes.",
		},
		"an index that queries name is gone": {"00003", []string{`drop index queues_scoped`}, byHand + "queues."},
		"a unique index is added": {
			"00003", []string{`create unique index theirs on kv (value)`}, byHand + "kv.",
		},
		"an index and a table are added": {
			"00003", []string{`create index theirs on kv (value)`, `create table their_table (x integer)`}, "",
		},
		"an index is added to an earlier one": {"e7d6217", []string{`create index theirs on messages (body)`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			url := l.Restore(t, c.stored)
			db := l.Connect(t, url)
			for _, change := range c.changes {
				if _, err := db.ExecContext(t.Context(),
					strings.ReplaceAll(change, "VERSIONS", l.Versions)); err != nil {
					t.Fatal(err)
				}
			}
			before := l.fingerprint(t, db)
			_, _, err := l.Migrate(t.Context(), url)
			category := core.CategoryOf(err)
			switch {
			case c.want == "":
				if err != nil {
					t.Error(err)
				}
				return
			case category != core.StoreUnreadable && category != core.StoreNewer ||
				!strings.Contains(core.MessageOf(err), c.want):
				t.Errorf("got %v, want %q", err, c.want)
			}
			if after := l.fingerprint(t, db); after != before {
				t.Errorf("it was changed: %s", after)
			}
		})
	}
}

// CutOff tests that an upgrade from an earlier build that fails at its end has changed nothing, and that the next one
// does all.
func (l Landed) CutOff(t *testing.T) {
	url := l.Restore(t, "e7d6217")
	db := l.Connect(t, url)
	before := l.fingerprint(t, db)
	rows, _ := l.contents(t, db, nil)
	exec(t, db, `create table mail (x integer)`) // the last table that it creates
	if _, _, err := l.Migrate(t.Context(), url); err == nil {
		t.Fatal("it did not fail")
	}
	exec(t, db, `drop table mail`)
	if got := l.fingerprint(t, db); got != before {
		t.Errorf("the schema was changed:\n got %s\nwant %s", got, before)
	}
	if after, _ := l.contents(t, db, nil); len(after["messages"]) != len(rows["messages"]) {
		t.Errorf("%d messages of %d", len(after["messages"]), len(rows["messages"]))
	}
	if _, to, err := l.Migrate(t.Context(), url); err != nil || to != l.Migrations.Known {
		t.Errorf("again: to %d, %v", to, err)
	}
}

func exec(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.ExecContext(t.Context(), query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

// AtOnce tests that processes which start together on an earlier build's database take turns.
func (l Landed) AtOnce(t *testing.T) {
	url := l.Restore(t, "e7d6217")
	failed := make([]error, 8)
	var all sync.WaitGroup
	for i := range failed {
		all.Go(func() { _, _, failed[i] = l.Migrate(t.Context(), url) })
	}
	all.Wait()
	if err := errors.Join(failed...); err != nil {
		t.Error(err)
	}
}
