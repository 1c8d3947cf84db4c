package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/pressly/goose/v3"
	"golang.org/x/sys/unix"

	"gatehouse/core"
	"gatehouse/storage/internal/migration"
)

//go:embed migrations/*.sql earlier/*.sql
var files embed.FS

var migrations = migration.New(goose.DialectSQLite3, files, "goose_db_version", `
	select tbl_name, name, sql from sqlite_master where type in ('table', 'index') and sql is not null`)

// applicationID marks a file as gatehouse's ("gate"); the first migration writes it.
const applicationID = 1734440037

// Version returns a file's schema version (0: none yet) and the version that this build knows. It changes nothing and
// creates no file.
func Version(ctx context.Context, file string, o Options) (found, known int64, err error) {
	if err := checkPath(file); err != nil {
		return 0, 0, err
	}
	found, _, err = version(ctx, file, o.Filled(busyTimeout))
	return found, migrations.Known, translate(file, err)
}

// version also returns what migration.Set.Find does.
func version(ctx context.Context, file string, o Options) (found int64, earlier string, err error) {
	if err := checkLog(ctx, file, o); err != nil {
		return 0, "", err
	}
	if info, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return 0, "", nil
	}
	db := open(file, o, "_query_only=true")
	defer db.Close()
	// One snapshot: another process may be migrating.
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, "", fmt.Errorf("beginning to read: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // it has only read
	var id, foreign, versions int64
	err = tx.QueryRowContext(ctx, `
		select (select application_id from pragma_application_id),
			(select count(*) from sqlite_master where name not like 'goose_db_version%' and name not like 'sqlite_%'),
			(select count(*) from sqlite_master where name = 'goose_db_version')`).Scan(&id, &foreign, &versions)
	switch {
	case err != nil:
		return 0, "", fmt.Errorf("reading the file's mark: %w", err)
	case foreign > 0 && id != applicationID:
		return 0,
			"",
			core.Errorf(core.StoreUnreadable, "The database %s belongs to another program. Name another file.", file)
	case versions == 0:
		return 0, "", nil
	}
	return migrations.Find(ctx, tx, "the database "+file)
}

// Migrate brings a file's schema up to the version that this build knows, and returns the versions before and after.
// Processes that start together take turns by a lock on DATABASE.migrate.lock. After a crash the next call does the
// rest. A database that has a schema is copied before, unless Options.Snapshots is 0.
func Migrate(ctx context.Context, file string, o Options) (from, to int64, err error) {
	if err := checkPath(file); err != nil {
		return 0, 0, err
	}
	from, _, err = version(ctx, file, o.Filled(busyTimeout))
	if err != nil || from == migrations.Known {
		return from, from, translate(file, err)
	}
	lock, err := flock(file+".migrate.lock", unix.LOCK_EX)
	if err != nil {
		return from, from, core.Wrap(core.StoreUnreadable, err, "Can't create the lock file of the database %s. "+
			"Check that gatehouse can write in its folder.", file)
	}
	defer lock.Close()
	if err := createPrivate(file); err != nil {
		return from, from, core.Wrap(core.StoreUnreadable, err, "Can't create the database %s. Check that gatehouse "+
			"can write in its folder.", file)
	}
	db := open(file, o.Filled(busyTimeout), "_txlock=immediate")
	defer db.Close()
	if err := format(ctx, db); err != nil {
		return from, from, translate(file, err)
	}
	now, earlier, err := version(ctx, file, o.Filled(busyTimeout)) // another process may have migrated meanwhile
	if err != nil {
		return from, from, translate(file, fmt.Errorf("migrating: %w", err))
	}
	var copied string
	if 0 < now && now < migrations.Known {
		if copied, err = snapshot(ctx, file, now, o.Filled(busyTimeout)); err != nil {
			return from, from, translate(file, fmt.Errorf("migrating: %w", err))
		}
	}
	if err := migrations.Up(ctx, db, earlier); err != nil {
		// with the schema that it had, a database needs no snapshot; each attempt would add one
		if is, _, unknown := version(ctx, file, o.Filled(busyTimeout)); unknown == nil && is == now && copied != "" {
			_ = os.Remove(copied) // the error of the migration counts
		}
		return from, from, translate(file, fmt.Errorf("migrating: %w", err))
	}
	if copied != "" {
		err = prune(file, o.Snapshots)
	}
	return from, migrations.Known, err
}

// pageSize is the size of a new file's pages, in bytes. A commit writes whole pages, and a turn changes few bytes of
// many: with half the usual size it writes half as much, and takes less processor time; with a quarter, more again.
const pageSize = 2048

// format sets what a file has from its creation; the size of its pages comes first. In a file that is not empty it
// changes nothing.
func format(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer conn.Close()
	for _, query := range []string{
		fmt.Sprintf(`pragma page_size = %d`, pageSize), `pragma auto_vacuum = incremental`, `pragma journal_mode = wal`,
	} {
		if _, err := conn.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("running %q: %w", query, err)
		}
	}
	return nil
}

// createPrivate creates the file if it is missing, readable only by its owner, since it holds messages. SQLite gives
// the files that it creates next to it the same permissions.
func createPrivate(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
