package storage

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"gatehouse/core"
	"gatehouse/storage/sqlite"
)

// Copying is how a database is copied.
type Copying = sqlite.Copying

// Snapshot is a copy of a database that was made before a migration.
type Snapshot = sqlite.Snapshot

// Since is what a database has got since a snapshot.
type Since = sqlite.Since

// IsServer reports whether a URL is that of a server, which has its own tools for backups.
func IsServer(url string) bool { return isPostgres(url) }

// FileOf is the file of a URL that names one.
func FileOf(url string) string { return sqliteFile(url) }

// Backup copies the database that a URL names into a new file; see sqlite.Copy. Its schema must be up to date.
func Backup(ctx context.Context, url, to string, o Options, c Copying) error {
	if err := onlyFiles(url); err != nil {
		return err
	}
	return sqlite.Copy(ctx, sqliteFile(url), to, o, c)
}

// Restore makes the database that a URL names of a copy. Errors: invalid if something is in its place, those of Version
// for what is no database of gatehouse, and those of sqlite.Copy.
func Restore(ctx context.Context, from, url string, o Options, c Copying) error {
	if err := onlyFiles(url); err != nil {
		return err
	}
	file := sqliteFile(url)
	for _, there := range []string{file, file + "-wal", file + "-journal"} {
		if _, err := os.Lstat(there); err == nil {
			return core.Errorf(core.Invalid, "%s is there already. Stop gatehouse and move it away, or set "+
				"GATEHOUSE_DATABASE_URL to a file in an empty place.", there)
		}
	}
	found, _, err := sqlite.Version(ctx, from, o)
	switch {
	case err != nil:
		return err
	case found == 0:
		return core.Errorf(core.NotFound, "There is no gatehouse database at %s.", from)
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return core.Wrap(core.StoreUnreadable, err, "Can't create the folder of the database %s.", file)
	}
	return sqlite.Copy(ctx, from, file, o, c)
}

// TakenAt returns when a copy was made; zero if it does not say so.
func TakenAt(ctx context.Context, file string) (time.Time, error) {
	return sqlite.TakenAt(ctx, file, Options{})
}

// NewestBefore returns the newest snapshot of a database that has an older schema than it has now. Error: not_found.
func NewestBefore(url string, schema int64) (Snapshot, error) {
	if err := onlyFiles(url); err != nil {
		return Snapshot{}, err
	}
	return sqlite.NewestBefore(sqliteFile(url), schema)
}

// SinceSnapshot returns what a database has got since a snapshot of it.
func SinceSnapshot(ctx context.Context, url string, s Snapshot) (Since, error) {
	return sqlite.SinceSnapshot(ctx, sqliteFile(url), s, Options{})
}

// MoveBack puts a snapshot, which settle settles, in the place of a database; see sqlite.MoveBack.
func MoveBack(
	ctx context.Context, url string, s Snapshot, since Since, o Options, settle func(*Store) error,
) (kept string, err error) {
	return sqlite.MoveBack(ctx, sqliteFile(url), s, since, o, settle)
}

func onlyFiles(url string) error {
	if isPostgres(url) {
		return core.Errorf(core.Unsupported, "A database on a server is copied with the server's own tools.")
	}
	return nil
}
