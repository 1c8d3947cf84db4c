package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/postgres"
	"gatehouse/storage/sqlite"
)

// Moved is what a database that was copied into another one says of it.
type Moved = sqlstore.Moved

// Move is the copy of a whole SQLite database into an empty Postgres database, from which on that one is used.
//
//	moved, err := storage.Move{From: "sqlite:gatehouse.db", To: "postgres://…", Name: "postgres://…", …}.Run(ctx)
//
// Everything goes along: the numbers, so that what is new continues them, and the secret key that is kept in the
// database. The target's part is one transaction, so it has all or nothing, whenever the process is killed.
//
// In order: both are locked; all rows are copied, counted and verified; the source says that it is being moved, with
// the id of the copy; the target, which has the id, too, is committed; the source says that it was moved. If the
// process dies between the last two, the next run finds the id in the target and does the rest. In the source nothing
// else changes.
type Move struct {
	From, To string // URLs
	Name     string // the target as the source names it: without its password
	Options  Options

	// Again: the source may say that it was moved before.
	Again bool
	// Quiet is how long an owner at the target must not have beaten to be taken for dead.
	Quiet time.Duration
	Watch Watcher
}

// Watcher is whoever has a database moved.
type Watcher interface {
	// Begin is told how many rows there are, Copied how many of them are copied.
	Begin(rows int64)
	Copied(rows int64)
	// Verify checks the copy before it is committed.
	Verify(ctx context.Context, copied *Store) error
}

// Copied is what a move did.
type Copied struct {
	Moved
	Rows   map[string]int64 // by table
	Before bool             // an earlier run had copied all, and this one only noted that
}

// Run moves the database. Errors: invalid (the URLs, a target that is not empty, a source that was moved before, a text
// that Postgres can't store), not_found, store_busy (a gateway runs on one of them); nothing is changed then.
func (m Move) Run(ctx context.Context) (c Copied, err error) {
	if isPostgres(m.From) || !isPostgres(m.To) {
		return c, core.Errorf(core.Invalid, "gatehouse moves a SQLite database to Postgres, not the other way and not "+
			"to another file: --from sqlite:PATH --to postgres://USER:PASSWORD@HOST/DATABASE. A file is copied with "+
			"cp while gatehouse is stopped, a server's database with pg_dump and pg_restore.")
	}
	source, err := sqlite.OpenSource(ctx, sqliteFile(m.From), m.Options)
	if err != nil {
		return c, err
	}
	defer func() { err = errors.Join(err, source.Close()) }()
	target, err := postgres.OpenTarget(ctx, m.To, m.Options, m.Quiet)
	if err != nil {
		return c, err
	}
	defer target.Close()
	earlier, err := source.Moved(ctx)
	if err != nil {
		return c, err
	}
	if earlier != nil {
		arrived, err := target.Arrived(ctx)
		switch {
		case err != nil:
			return c, err
		case arrived == earlier.ID:
			earlier.Done = true
			return Copied{Moved: *earlier, Before: true}, source.Mark(ctx, earlier)
		case m.Again, !earlier.Done && earlier.To == m.Name:
		case earlier.Done:
			return c, core.Errorf(core.Invalid, "The database was moved to %s at %s. What it has may be out of date. "+
				"To copy it again all the same, add --moved-anyway.", earlier.To, earlier.At.Format(time.RFC3339))
		default:
			return c, core.Errorf(core.Invalid, "A move of the database to %s was begun at %s, and it is not known "+
				"whether it was completed. Run it again with that target. To copy it to another one all the same, "+
				"add --moved-anyway.", earlier.To, earlier.At.Format(time.RFC3339))
		}
	}
	c.Moved = Moved{ID: uuid.NewString(), To: m.Name, At: time.Now().UTC()}
	if c.Rows, err = m.copy(ctx, source, target); err != nil {
		return c, err
	}
	copied, err := target.Store(ctx)
	if err == nil {
		err = m.Watch.Verify(ctx, copied)
	}
	if err == nil {
		err = source.Mark(ctx, &c.Moved)
	}
	if err != nil {
		return c, err
	}
	last := context.WithoutCancel(ctx) // from here on it is carried through
	unknown, err := target.Commit(last, c.ID)
	switch {
	case unknown:
		return c, fmt.Errorf("committing the copy; run the same command again, it finds out whether the copy is "+
			"there: %w", err)
	case err != nil:
		return c, errors.Join(err, source.Mark(last, earlier))
	}
	c.Done = true
	return c, source.Mark(last, &c.Moved)
}

// copy copies all rows and returns their numbers, by the table.
func (m Move) copy(ctx context.Context, source *sqlite.Source, target *postgres.Target) (map[string]int64, error) {
	if err := target.Clear(ctx); err != nil {
		return nil, err
	}
	rows, all := map[string]int64{}, int64(0)
	for _, table := range target.Tables() {
		n, err := source.Count(ctx, table)
		if err != nil {
			return nil, err
		}
		rows[table] = n
		all += n
	}
	m.Watch.Begin(all)
	copied := int64(0)
	for _, table := range target.Tables() {
		one := func() { copied++; m.Watch.Copied(copied) }
		if err := copyTable(ctx, source, target, table, rows[table], one); err != nil {
			return nil, err
		}
	}
	for _, c := range target.Counting() {
		n, err := source.Last(ctx, c[0], c[1])
		if err == nil {
			err = target.Continue(ctx, c[0], c[1], n)
		}
		if err != nil {
			return nil, err
		}
	}
	return rows, nil
}

// copyTable copies a table, and checks that as many rows arrived as there are.
func copyTable(
	ctx context.Context, source *sqlite.Source, target *postgres.Target, table string, want int64, copied func(),
) (err error) {
	rows, err := source.Rows(ctx, table, target.Columns(table))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	n, err := target.Copy(ctx, table, func() ([]any, error) {
		row, err := rows.Next()
		if row != nil {
			copied()
		}
		return row, err
	})
	if err != nil {
		return err
	}
	found, err := target.Count(ctx, table)
	if err == nil && (n != want || found != want) {
		err = core.Errorf(core.Internal, "The table %s has %d rows, %d were copied and %d arrived. Nothing was moved.",
			table, want, n, found)
	}
	return err
}
