package main

import (
	"strings"
	"testing"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/storage"
	"gatehouse/storage/postgres/postgrestest"
)

// TestNoTablesAreMadeToReadThem: on an empty Postgres database, a command that reads reports that there is no gatehouse
// database and creates no tables. testdata/nodatabase.txt tests the same for SQLite.
func TestNoTablesAreMadeToReadThem(t *testing.T) {
	url := postgrestest.New(t)
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	t.Setenv("GATEHOUSE_DATABASE_URL", url)
	code, out, said := gatehouse(t, "approvals", "list")
	if code != cli.ExitNotFound || out != "" ||
		!strings.HasPrefix(said, "gatehouse: There is no gatehouse database at postgres") {
		t.Errorf("it ends with %d and prints %q, %q", code, out, said)
	}
	if schema, _, err := storage.Version(t.Context(), url); schema != 0 || err != nil {
		t.Errorf("the schema is %d, %v", schema, err)
	}
}
