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
	"gatehouse/storage/internal/sqlstore"
)

//go:embed migrations/*.sql
var migrations embed.FS

// applicationID marks a file as gatehouse's ("gate"); the first migration writes it.
const applicationID = 1734440037

// Version returns a file's schema version (0: none yet) and the version that this build knows. It changes nothing and creates no
// file.
func Version(ctx context.Context, file string, o Options) (found, known int64, err error) {
	if err := checkPath(file); err != nil {
		return 0, 0, err
	}
	found, known, err = version(ctx, file, o.Filled(busyTimeout))
	return found, known, translate(file, err)
}

func version(ctx context.Context, file string, o Options) (found, known int64, err error) {
	if err := checkLog(ctx, file, o); err != nil {
		return 0, 0, err
	}
	db := open(file, o, "_query_only=true")
	defer db.Close()
	if _, known, err = sqlstore.Migrations(goose.DialectSQLite3, db, migrations); err != nil {
		return 0, 0, err
	}
	if info, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
		return 0, known, nil
	}
	// One snapshot: another process may be migrating.
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, 0, fmt.Errorf("beginning to read: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after a commit it does nothing
	var id, foreign, versions int64
	err = tx.QueryRowContext(ctx, `
		select (select application_id from pragma_application_id),
			(select count(*) from sqlite_master where name not like 'goose_db_version%' and name not like 'sqlite_%'),
			(select count(*) from sqlite_master where name = 'goose_db_version')`).Scan(&id, &foreign, &versions)
	switch {
	case err != nil:
		return 0, 0, fmt.Errorf("reading the file's mark: %w", err)
	case foreign > 0 && id != applicationID:
		return 0, 0, core.Errorf(core.StoreUnreadable, "The database %s belongs to another program. Name another file.", file)
	case versions == 0:
		return 0, known, nil
	}
	if err := tx.QueryRowContext(ctx, `select coalesce(max(version_id), 0) from goose_db_version where is_applied = 1`).Scan(&found); err != nil {
		return 0, 0, fmt.Errorf("reading the schema's version: %w", err)
	}
	if found > known {
		return found, known, core.Errorf(core.StoreNewer, "A newer gatehouse wrote the database %s: its schema is %d, this build knows %d. Use the newer gatehouse, or a backup from before.", file, found, known)
	}
	return found, known, nil
}

// Migrate brings a file's schema up to the version that this build knows, and returns the versions before and after. Processes that
// start together take turns by a lock on DATABASE.migrate.lock. Each migration is a transaction, so after a crash the next call does
// the rest.
func Migrate(ctx context.Context, file string, o Options) (from, to int64, err error) {
	if err := checkPath(file); err != nil {
		return 0, 0, err
	}
	from, known, err := version(ctx, file, o.Filled(busyTimeout))
	if err != nil || from == known {
		return from, from, translate(file, err)
	}
	lock, err := flock(file+".migrate.lock", unix.LOCK_EX)
	if err != nil {
		return from, from, core.Wrap(core.StoreUnreadable, err, "Can't create the lock file of the database %s. Check that gatehouse can write in its folder.", file)
	}
	defer lock.Close()
	if err := createPrivate(file); err != nil {
		return from, from, core.Wrap(core.StoreUnreadable, err, "Can't create the database %s. Check that gatehouse can write in its folder.", file)
	}
	db := open(file, o.Filled(busyTimeout), "_txlock=immediate")
	defer db.Close()
	if err := format(ctx, db); err != nil {
		return from, from, translate(file, err)
	}
	p, _, err := sqlstore.Migrations(goose.DialectSQLite3, db, migrations)
	if err != nil {
		return from, from, translate(file, err)
	}
	if _, err := p.Up(ctx); err != nil {
		return from, from, translate(file, fmt.Errorf("migrating: %w", err))
	}
	return from, known, nil
}

// pageSize is the size of a new file's pages, in bytes. A commit writes whole pages, and a turn changes few bytes of many: with half the usual
// size it writes half as much, and takes less processor time; with a quarter, more again.
const pageSize = 2048

// format sets what a file has from its creation; the size of its pages comes first. In a file that is not empty it changes nothing.
func format(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return fmt.Errorf("connecting: %w", err)
	}
	defer conn.Close()
	for _, query := range []string{fmt.Sprintf(`pragma page_size = %d`, pageSize), `pragma auto_vacuum = incremental`, `pragma journal_mode = wal`} {
		if _, err := conn.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("running %q: %w", query, err)
		}
	}
	return nil
}

// createPrivate creates the file if it is missing, readable only by its owner, since it holds messages. SQLite gives the files that
// it creates next to it the same permissions.
func createPrivate(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
