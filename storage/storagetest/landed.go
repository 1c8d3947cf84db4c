package storagetest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pressly/goose/v3"

	"gatehouse/core"
	"gatehouse/storage/internal/migration"
)

var update = flag.Bool("update", false,
	"write the fingerprint, the checksum and the database of a new migration; see storage/testdata/README.md")

// Landed is an engine's landed schemas, for the tests of those. The working directory has its migrations, and its
// databases in testdata.
type Landed struct {
	Migrations *migration.Set
	Dialect    goose.Dialect
	Versions   string                                         // the table of the migrations that are done
	Suffix     string                                         // of a stored database's name
	New        func(t *testing.T) (url string)                // an empty database
	Restore    func(t *testing.T, stored string) (url string) // a copy of a stored one
	Store      func(t *testing.T, url, stored string)         // stores it
	Connect    func(t *testing.T, url string) *sql.DB         // as another program would
	Migrate    func(ctx context.Context, url string) (from, to int64, err error)
}

// Databases returns the names of the stored databases, the oldest first; the last one has the schema of the latest
// migration.
func (l Landed) Databases(t *testing.T) []string {
	t.Helper()
	numbered, err := filepath.Glob("testdata/0*" + l.Suffix)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"e7d6217", "1e77b5d"}
	for _, file := range numbered {
		names = append(names, strings.TrimSuffix(filepath.Base(file), l.Suffix))
	}
	return names
}

// fingerprint returns that of the database's schema.
func (l Landed) fingerprint(t *testing.T, db *sql.DB) string {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }()
	found, err := l.Migrations.Fingerprint(t.Context(), tx)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

var fingerprints = regexp.MustCompile(`\((\d+), '[^']*'\)`)

// Unchanged tests that the landed migrations are as they landed, by testdata/landed.txt, and that each one says the
// fingerprint of its schema.
func (l Landed) Unchanged(t *testing.T) {
	list, err := os.ReadFile("testdata/landed.txt")
	if err != nil && !*update {
		t.Fatal(err)
	}
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	db := l.Connect(t, l.New(t))
	known := map[string]string{}
	for _, file := range files {
		version, err := goose.NumericComponent(file)
		if err != nil {
			t.Fatal(err)
		}
		l.upTo(t, db, version)
		known[fmt.Sprint(version)] = l.fingerprint(t, db)
	}
	earlier, err := filepath.Glob("earlier/*.sql")
	if err != nil {
		t.Fatal(err)
	}
	var now []string
	for _, file := range append(files, earlier...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := string(text)
		if filepath.Dir(file) == "migrations" {
			want = fingerprints.ReplaceAllStringFunc(want, func(found string) string {
				version := fingerprints.FindStringSubmatch(found)[1]
				return fmt.Sprintf("(%s, '%s')", version, known[version])
			})
		}
		landed := strings.Contains(string(list), " "+file+"\n")
		if *update && !landed && want != string(text) {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			t.Fatalf("%s has its fingerprint now: run this again", file)
		}
		if want != string(text) {
			t.Errorf("%s does not say the fingerprint of its schema; see storage/testdata/README.md", file)
		}
		line := fmt.Sprintf("%x %s\n", sha256.Sum256(text), file)
		now = append(now, line)
		if landed && !strings.Contains(string(list), line) {
			t.Errorf("%s has landed and was changed: write a new migration", file)
		}
	}
	if t.Failed() {
		return
	}
	text := strings.Join(now, "")
	if *update {
		if err := os.WriteFile("testdata/landed.txt", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		l.storeLatest(t)
	} else if text != string(list) {
		t.Errorf("testdata/landed.txt does not list these migrations; see storage/testdata/README.md:\n%s", text)
	}
}

func (l Landed) upTo(t *testing.T, db *sql.DB, version int64) {
	t.Helper()
	p, err := goose.NewProvider(l.Dialect, db, os.DirFS("migrations"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.UpTo(t.Context(), version); err != nil {
		t.Fatal(err)
	}
}

// storeLatest stores a database with the schema of the latest migration: the one before, brought up to date.
func (l Landed) storeLatest(t *testing.T) {
	t.Helper()
	name := fmt.Sprintf("%05d", l.Migrations.Known)
	all := l.Databases(t)
	if slices.Contains(all, name) {
		return
	}
	url := l.Restore(t, all[len(all)-1])
	if _, _, err := l.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	l.Store(t, url, name)
}

// Upgraded tests that each stored database is brought up to date with all its rows, and then has the schema of a new
// one.
func (l Landed) Upgraded(t *testing.T) {
	if all := l.Databases(t); all[len(all)-1] != fmt.Sprintf("%05d", l.Migrations.Known) {
		t.Errorf("no database of the latest migration is stored; see storage/testdata/README.md")
	}
	fresh := l.New(t)
	if _, _, err := l.Migrate(t.Context(), fresh); err != nil {
		t.Fatal(err)
	}
	want := l.fingerprint(t, l.Connect(t, fresh))
	for _, stored := range l.Databases(t) {
		t.Run(stored, func(t *testing.T) {
			url := l.Restore(t, stored)
			db := l.Connect(t, url)
			before, columns := l.contents(t, db, nil)
			if _, to, err := l.Migrate(t.Context(), url); err != nil || to != l.Migrations.Known {
				t.Fatalf("to %d, %v", to, err)
			}
			if got := l.fingerprint(t, db); got != want {
				t.Errorf("the schema differs from a new one's:\n got %s\nwant %s", got, want)
			}
			after, _ := l.contents(t, db, columns)
			for table, rows := range before {
				if got := after[table]; !slices.Equal(got, rows) {
					t.Errorf("%s changed:\n got %q\nwant %q", table, got, rows)
				}
			}
		})
	}
}

// contents returns the rows of our tables, by the table; of each row its columns with their names, both in order, and
// which columns each table has. of: only of these; nil = of all. The number that SQLite gives each message is none of
// an earlier build.
func (l Landed) contents(t *testing.T, db *sql.DB, of map[string][]string) (all, has map[string][]string) {
	t.Helper()
	all, has = map[string][]string{}, map[string][]string{}
	for _, part := range strings.Fields(l.fingerprint(t, db)) {
		table, _, _ := strings.Cut(part, ":")
		if table == "fingerprints" {
			continue
		}
		rows, err := db.QueryContext(t.Context(), "select * from "+table)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		columns, err := rows.Columns()
		if err != nil {
			t.Fatal(err)
		}
		has[table] = columns
		for rows.Next() {
			values, into := make([]any, len(columns)), make([]any, len(columns))
			for i := range values {
				into[i] = &values[i]
			}
			if err := rows.Scan(into...); err != nil {
				t.Fatal(err)
			}
			var row []string
			for i, column := range columns {
				if (table != "messages" || column != "seq") && (of == nil || slices.Contains(of[table], column)) {
					row = append(row, fmt.Sprintf("%s %v", column, values[i]))
				}
			}
			slices.Sort(row)
			all[table] = append(all[table], strings.Join(row, ", "))
		}
		if err := rows.Err(); err != nil || len(all[table]) == 0 && table != "mail" && table != "mailboxes" {
			t.Errorf("%s has no rows (%v): what is tested of it?", table, err)
		}
		slices.Sort(all[table])
	}
	return all, has
}

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
