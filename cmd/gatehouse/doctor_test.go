package main

import (
	"context"
	"database/sql"
	"strings"
	"testing"

	"gatehouse/cmd/gatehouse/internal/cli"
	"gatehouse/core"
	"gatehouse/storage"
)

// TestDoctorLeavesAnotherSchemaAlone: the doctor does not migrate an older schema, because an older gatehouse may be
// using it, and reports a newer one.
func TestDoctorLeavesAnotherSchemaAlone(t *testing.T) {
	for _, key := range source.Keys() {
		t.Setenv(key, "")
	}
	url := landed["sqlite"](t, "1e77b5d")
	file := strings.TrimPrefix(url, "sqlite:")
	t.Setenv("GATEHOUSE_DATABASE_URL", url)
	exec := func(query string) {
		t.Helper()
		db, err := sql.Open("sqlite3", file)
		noErr(t, err)
		defer db.Close()
		if _, err := db.Exec(query); err != nil {
			t.Fatal(err)
		}
	}
	version := func() (found, known int64, err error) { return storage.Version(context.Background(), "sqlite:"+file) }

	older, known, err := version()
	if err != nil || older >= known {
		t.Fatalf("%d of %d, %v", older, known, err)
	}
	code, out, _ := gatehouse(t, "doctor")
	if code != cli.ExitDone || !strings.Contains(out, "\nwarn  database ") ||
		!strings.Contains(out, "gatehouse migrate") || strings.Contains(out, "queue") {
		t.Errorf("on an older schema it ends with %d and prints\n%s", code, out)
	}
	if now, _, _ := version(); now != older {
		t.Errorf("the schema was %d and is %d", older, now)
	}

	if _, _, err := storage.Migrate(t.Context(), "sqlite:"+file, storage.Options{}); err != nil {
		t.Fatal(err)
	}
	exec(`insert into goose_db_version (version_id, is_applied) values (9999, 1)`)
	if _, _, err := version(); core.CategoryOf(err) != core.StoreNewer {
		t.Fatal(err)
	}
	if code, out, _ := gatehouse(t, "doctor"); code != cli.ExitBad || !strings.Contains(out, "\nfail  database ") ||
		!strings.Contains(out, "A newer gatehouse wrote") {
		t.Errorf("on a newer schema it ends with %d and prints\n%s", code, out)
	}
}
