package postgres_test

import (
	"strings"
	"testing"

	"gatehouse/core"
	"gatehouse/storage/postgres"
)

// TestAForeignParameterIsNamed: the addresses that providers print for other programs are refused with what to write.
func TestAForeignParameterIsNamed(t *testing.T) {
	t.Parallel()
	for parameter, instead := range map[string]string{
		"pgbouncer=true":     "leave it out",
		"schema=public":      "search_path",
		"sslmode=no-verify":  "sslmode=require",
		"ssl=true":           "sslmode=require",
		"connection_limit=5": "pool_max_conns",
	} {
		_, err := postgres.Open(t.Context(), "postgres://app:hunter2@127.0.0.1:1/app?"+parameter, postgres.Options{})
		name, _, _ := strings.Cut(parameter, "=")
		if core.CategoryOf(err) != core.Invalid || !strings.Contains(err.Error(), name) ||
			!strings.Contains(err.Error(), instead) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v", parameter, err)
		}
	}
}
