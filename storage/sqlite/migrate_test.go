package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/sqlite"
	"gatehouse/storage/storagetest"
)

func TestMigrate(t *testing.T) {
	ctx := context.Background()
	file := filepath.Join(t.TempDir(), "a b?c%20#d.db") // a name with special characters of URLs
	found, known, err := sqlite.Version(ctx, file, sqlite.Options{})
	if err != nil || found != 0 || known < 1 {
		t.Fatalf("before: found %d, known %d, %v", found, known, err)
	}
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("asking has made the file (%v)", err)
	}
	from, to, err := sqlite.Migrate(ctx, file, sqlite.Options{})
	if err != nil || from != 0 || to != known {
		t.Fatalf("migrating: from %d to %d, %v", from, to, err)
	}
	info, err := os.Stat(file)
	if err != nil {
		t.Fatalf("the file is elsewhere: %v", err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file may be read by others: %s", info.Mode())
	}
	if from, to, err = sqlite.Migrate(ctx, file, sqlite.Options{}); err != nil || from != known || to != known {
		t.Fatalf("again: from %d to %d, %v", from, to, err)
	}
	if found, _, err = sqlite.Version(ctx, file, sqlite.Options{}); err != nil || found != known {
		t.Fatalf("after: found %d, %v", found, err)
	}
}

func TestManyOpenANewFileAtOnce(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	storagetest.ManyOpen(t, func(ctx context.Context) (*sqlstore.Store, error) {
		return sqlite.Open(ctx, file, sqlite.Options{})
	})
}

// TestInterruptedMigrationOfAFile: a process crashed after it had created the version table, before the first
// migration.
func TestInterruptedMigrationOfAFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	db := raw(t, file)
	must(t, db,
		`create table goose_db_version (id integer primary key autoincrement, version_id integer not null,
			is_applied integer not null, tstamp timestamp default (datetime('now')))`)
	must(t, db, `insert into goose_db_version (version_id, is_applied) values (0, 1)`)
	db.Close()
	open(t, file, sqlite.Options{})
}
