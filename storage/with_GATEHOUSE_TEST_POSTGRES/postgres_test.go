// Package postgres_test is the last package that go test ./... lists, so its line shows whether tests were skipped for
// want of a Postgres server: "ok gatehouse/storage/with_GATEHOUSE_TEST_POSTGRES [no tests to run]". For a package that
// passes, go test shows no output except this note.
package postgres_test

import (
	"fmt"
	"os"
	"testing"

	"gatehouse/storage/postgres/postgrestest"
)

func TestMain(m *testing.M) {
	if os.Getenv(postgrestest.Key) == "" {
		fmt.Println("testing: warning: no tests to run") // what go test looks for
		fmt.Printf("Tests that need a Postgres server are skipped, here and in other packages. Set %s to run them: "+
			"%[1]s=$(.ci/postgres)\n", postgrestest.Key)
		os.Exit(0)
	}
	m.Run()
}

// TestServer fails where the server can't be reached, or its role may not create databases.
func TestServer(t *testing.T) {
	if err := postgrestest.Run(postgrestest.New(t), "select 1"); err != nil {
		t.Fatal(err)
	}
}
