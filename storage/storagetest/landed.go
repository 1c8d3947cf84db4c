package storagetest

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pressly/goose/v3"

	"gatehouse/storage/internal/sqlstore"
)

var update = flag.Bool("update", false,
	"write the fingerprint, the checksum and the database of a new migration; see storage/testdata/README.md")

// Landed is an engine's landed schemas, for the tests of those. The working directory has its migrations, and its
// databases in testdata.
type Landed struct {
	Migrations *sqlstore.Migrations
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
