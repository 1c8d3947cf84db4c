// Package migration brings a database's schema up to date, or refuses one that gatehouse did not make.
//
//	version, earlier, err := migrations.Find(ctx, tx, "gatehouse.db") // 31, "", nil
//	err = migrations.Up(ctx, db, earlier)                             // applies 00032_… and what follows
//
// A migration that has landed never changes, and each one stores the fingerprint of the schema that it leaves behind
// (00003 does it for those before it). A file of the folder earlier changes the schema of a build from before that into
// the one that the first two migrations make now; in such a database both are done.
//
// A fingerprint names each of our tables, with a digest of its columns, constraints and indexes. Tables with other
// names do not count, and neither do indexes with other names that are not unique: an administrator may add both. So a
// database tells by its fingerprint which build wrote it, and by the stored one whether its schema was changed since.
package migration

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"

	"gatehouse/core"
)

// Set are the migrations of an engine: the files of its folders migrations and earlier.
type Set struct {
	Known int64 // the version of the latest one

	dialect goose.Dialect
	table   string // of the migrations that are done
	parts   string // a query of the parts of a schema: the table, the name and the text of each
	landed  []*goose.Migration
	text    string          // of all of them
	earlier []string        // the text of each
	names   map[string]bool // of our tables and indexes, and of those of earlier builds
}

// New returns the migrations of an engine.
func New(dialect goose.Dialect, files embed.FS, table, parts string) *Set {
	m := &Set{dialect: dialect, table: table, parts: parts, names: map[string]bool{}}
	names, _ := fs.Glob(files, "*/*.sql")
	for _, name := range names {
		text, _ := files.ReadFile(name) // it is part of the program
		for _, created := range creates.FindAllSubmatch(text, -1) {
			m.names[string(created[1])] = true
		}
		if strings.HasPrefix(name, "earlier/") {
			m.earlier = append(m.earlier, string(text))
			continue
		}
		m.text += string(text)
		m.Known, _ = goose.NumericComponent(name) // the names are in order
		m.landed = append(m.landed, goose.NewGoMigration(m.Known, apply(string(text)), nil))
	}
	return m
}

var creates = regexp.MustCompile(`(?m)^(?:create|drop)(?: unique)? (?:table|index) (\w+)`)

// Names returns the names of all tables and indexes that any build has created.
func (m *Set) Names() []string { return slices.Collect(maps.Keys(m.names)) }

// Find returns the version of the database's schema, 0 if there is none yet, and the statements that a database of an
// earlier build needs before its next migration. tx must read one snapshot, since another process may be migrating.
// Errors: store_newer, and store_unreadable if no landed build wrote the database, or its schema was changed since;
// name is what they call the database.
func (m *Set) Find(ctx context.Context, tx *sql.Tx, name string) (version int64, earlier string, err error) {
	query := `select coalesce(max(version_id), 0) from ` + m.table + ` where is_applied`
	if err := tx.QueryRowContext(ctx, query).Scan(&version); err != nil {
		return 0, "", fmt.Errorf("reading the schema's version: %w", err)
	}
	if version == 0 {
		return 0, "", nil
	}
	actual, err := m.Fingerprint(ctx, tx)
	stored := ""
	if err == nil && strings.Contains(actual, "fingerprints:") {
		err = tx.QueryRowContext(ctx, `select fingerprint from fingerprints order by version desc
			limit 1`).Scan(&stored)
	}
	if err != nil {
		return 0, "", fmt.Errorf("reading the schema: %w", err)
	}
	earlier, err = m.judge(name, version, stored, actual)
	return version, earlier, err
}

func (m *Set) judge(name string, version int64, stored, actual string) (earlier string, err error) {
	holds := func(text, fingerprint string) bool {
		return strings.Contains(text, fmt.Sprintf("(%d, '%s')", version, fingerprint))
	}
	i := slices.IndexFunc(m.earlier, func(text string) bool { return holds(text, actual) })
	switch {
	case stored == "" && i >= 0:
		return m.earlier[i], nil
	case stored == "" && holds(m.text, actual), stored == actual && holds(m.text, stored):
		return "", nil
	case stored != "" && version > m.Known:
		return "", core.Errorf(core.StoreNewer, "A newer gatehouse wrote %s: its schema is %d, this build knows %d. "+
			"Use the newer gatehouse, or a backup from before.", name, version, m.Known)
	case stored == "" || !holds(m.text, stored):
		return "", core.Errorf(core.StoreUnreadable, "An unreleased build wrote this database; open it with that "+
			"build, or start a new one.")
	}
	return "", core.Errorf(core.StoreUnreadable, "The schema of %s was changed by hand. These tables, or their "+
		"indexes, are not as gatehouse made them: %s. Undo the change, or restore a backup. Tables may be added, and "+
		"indexes that are not unique.", name, changes(stored, actual))
}

// Fingerprint returns the fingerprint of the schema that the database has.
func (m *Set) Fingerprint(ctx context.Context, tx *sql.Tx) (string, error) {
	rows, err := tx.QueryContext(ctx, m.parts)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	tables := map[string][]string{}
	for rows.Next() {
		var table, name, text string
		if err := rows.Scan(&table, &name, &text); err != nil {
			return "", err
		}
		if m.names[table] && (m.names[name] || strings.Contains(strings.ToLower(text), "unique index")) {
			tables[table] = append(tables[table], name+" "+normal(text))
		}
	}
	var all []string
	for _, table := range slices.Sorted(maps.Keys(tables)) {
		slices.Sort(tables[table])
		sum := sha256.Sum256([]byte(strings.Join(tables[table], "\n")))
		all = append(all, fmt.Sprintf("%s:%x", table, sum[:4]))
	}
	return strings.Join(all, " "), rows.Err()
}

var unimportant = regexp.MustCompile(`::\w+|["()\s]+`)

// normal removes from a part's text what engines and their versions write in several ways.
func normal(text string) string {
	return strings.ToLower(unimportant.ReplaceAllString(text, " "))
}

// changes returns the tables of which two fingerprints differ.
func changes(one, other string) string {
	ones, others := strings.Fields(one), strings.Fields(other)
	var tables []string
	for _, part := range append(ones, others...) {
		if !slices.Contains(ones, part) || !slices.Contains(others, part) {
			table, _, _ := strings.Cut(part, ":")
			tables = append(tables, table)
		}
	}
	slices.Sort(tables)
	return strings.Join(slices.Compact(tables), ", ")
}

// Up brings a database up to date, after the statements that Find returned. These are one transaction, and so is each
// migration, so after a crash the next call does the rest.
func (m *Set) Up(ctx context.Context, db *sql.DB, earlier string) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	if _, err := tx.ExecContext(ctx, earlier); err != nil {
		return err
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	p, err := goose.NewProvider(m.dialect, db, nil, goose.WithTableName(m.table), goose.WithGoMigrations(m.landed...))
	if err == nil {
		_, err = p.Up(ctx)
	}
	return err
}

// apply returns what a migration does: all of a file's statements at once, so that goose need not take them apart.
func apply(statements string) *goose.GoFunc {
	return &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, statements)
		return err
	}}
}
