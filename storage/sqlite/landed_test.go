package sqlite_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/pressly/goose/v3"

	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/sqlite"
	"gatehouse/storage/storagetest"
)

var landed = storagetest.Landed{
	Migrations: sqlite.Migrations,
	Dialect:    goose.DialectSQLite3,
	Versions:   "goose_db_version",
	Suffix:     ".db.gz",
	New:        func(t *testing.T) string { return filepath.Join(t.TempDir(), "gatehouse.db") },
	Restore:    restore,
	Store:      storeLanded,
	Connect:    raw,
	Migrate: func(ctx context.Context, file string) (from, to int64, err error) {
		return sqlite.Migrate(ctx, file, sqlite.Options{})
	},
}

// restore unpacks a stored database.
func restore(t *testing.T, stored string) string {
	t.Helper()
	packed, err := os.Open("testdata/" + stored + ".db.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	if err := os.WriteFile(file, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

func storeLanded(t *testing.T, file, stored string) {
	t.Helper()
	small := file + ".small"
	must(t, raw(t, file), "vacuum into '"+small+"'")
	content, err := os.ReadFile(small)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // a valid level
	_, err = z.Write(content)
	if err == nil {
		err = z.Close()
	}
	if err == nil {
		err = os.WriteFile("testdata/"+stored+".db.gz", packed.Bytes(), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestLaw12_ALandedMigrationOfAFileNeverChanges(t *testing.T) { landed.Unchanged(t) }

func TestLaw12_AFileOfEachLandedSchemaIsBroughtUpToDate(t *testing.T) { landed.Upgraded(t) }

func TestLaw12_ApprovalsOfAnEarlierFileAreListedForTheirReaders(t *testing.T) {
	landed.Readers(t, func(file string) (*sqlstore.Store, error) {
		return sqlite.Open(t.Context(), file, sqlite.Options{})
	})
}

func TestLaw12_AFileOfAnotherSchemaIsRefused(t *testing.T) { landed.Refused(t) }

func TestLaw12_AnUpgradeOfAFileThatIsCutOffLeavesTheOldOne(t *testing.T) { landed.CutOff(t) }

func TestLaw12_ManyUpgradeAFileAtOnce(t *testing.T) { landed.AtOnce(t) }
