package postgres_test

import (
	"context"
	"database/sql"
	"os"
	"os/exec"
	"regexp"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"

	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/postgres"
	"gatehouse/storage/postgres/postgrestest"
	"gatehouse/storage/storagetest"
)

var landed = storagetest.Landed{
	Migrations: postgres.Migrations,
	Dialect:    goose.DialectPostgres,
	Versions:   "gatehouse_version",
	Suffix:     ".sql",
	New:        func(t *testing.T) string { return postgrestest.New(t) },
	Restore: func(t *testing.T, stored string) string {
		t.Helper()
		url := postgrestest.New(t)
		if err := postgrestest.Restore(url, "testdata/"+stored+".sql"); err != nil {
			t.Fatal(err)
		}
		return url
	},
	Store:   storeLanded,
	Connect: connectLanded,
	Migrate: func(ctx context.Context, url string) (from, to int64, err error) {
		return postgres.Migrate(ctx, url, postgres.Options{})
	},
}

func storeLanded(t *testing.T, url, stored string) {
	t.Helper()
	text, err := exec.Command("pg_dump", "--inserts", "--no-owner", "--no-privileges", url).Output()
	if err != nil {
		t.Fatal(err)
	}
	text = regexp.MustCompile(`(?m)^\\(un)?restrict .*\n`).ReplaceAll(text, nil) // commands of psql
	if err := os.WriteFile("testdata/"+stored+".sql", text, 0o644); err != nil {
		t.Fatal(err)
	}
}

func connectLanded(t *testing.T, url string) *sql.DB {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	if err != nil {
		t.Fatal(err)
	}
	config.DefaultQueryExecMode = pgx.QueryExecModeExec // the schema changes under it
	db := stdlib.OpenDB(*config)
	t.Cleanup(func() { db.Close() })
	return db
}

func TestLaw12_ALandedMigrationOfADatabaseNeverChanges(t *testing.T) { landed.Unchanged(t) }

func TestLaw12_ADatabaseOfEachLandedSchemaIsBroughtUpToDate(t *testing.T) { landed.Upgraded(t) }

func TestLaw12_ApprovalsOfAnEarlierDatabaseAreListedForTheirReaders(t *testing.T) {
	landed.Readers(t, func(url string) (*sqlstore.Store, error) {
		return postgres.Open(t.Context(), url, postgres.Options{})
	})
}

func TestLaw12_ADatabaseOfAnotherSchemaIsRefused(t *testing.T) { landed.Refused(t) }

func TestLaw12_AnUpgradeOfADatabaseThatIsCutOffLeavesTheOldOne(t *testing.T) { landed.CutOff(t) }

func TestLaw12_ManyUpgradeADatabaseAtOnce(t *testing.T) { landed.AtOnce(t) }
