package postgres_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/postgres"
	"gatehouse/storage/storagetest/cost"
)

// scan matches a line of a plan that scans a whole table. Tables of one row, and the tests' own tables, may be scanned.
var (
	scan    = regexp.MustCompile(`Seq Scan on (\w+)`)
	allowed = map[string]bool{"audit_head": true, "test_clock": true, "owners": true}
)

// statements collects the statements that were run.
type statements struct {
	mu   sync.Mutex
	used map[string]bool
}

func (u *statements) trace(s sqlstore.Statement) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used[s.SQL] = true
}

// plans checks how the server would run every statement that the contract's examples used, whatever its arguments: none
// scans a table if there is another way, and messages are searched by more than the session.
func plans(t *testing.T, used map[string]bool) {
	conn := connect(t, database(t))
	for _, set := range []string{`set enable_seqscan = off`, `set plan_cache_mode = force_generic_plan`} {
		if _, err := conn.Exec(context.Background(), set); err != nil {
			t.Fatal(err)
		}
	}
	looked := 0
	for query := range used {
		if verb, _, _ := strings.Cut(strings.TrimSpace(query), " "); !strings.Contains("select insert update delete",
			verb) {
			continue
		}
		looked++
		lines := plan(t, conn, fmt.Sprint("q", looked), query)
		for i, line := range lines {
			if m := scan.FindStringSubmatch(line); m != nil && !allowed[m[1]] {
				t.Errorf("%s\n\thas the plan: %s", query, strings.Join(lines, "\n\t"))
			}
			if strings.Contains(line, " on messages") && strings.Contains(line, "Scan") &&
				!strings.Contains(strings.Join(lines[i:min(i+3, len(lines))], " "), " AND (") {
				t.Errorf("%s\n\thas the plan: %s", query, strings.Join(lines, "\n\t"))
			}
		}
	}
	if looked < 80 {
		t.Errorf("only %d statements were looked at", looked)
	}
}

// plan asks the server how it would run a query, whatever its arguments.
func plan(t *testing.T, conn *pgx.Conn, name, query string) []string {
	t.Helper()
	ctx := context.Background()
	if _, err := conn.Exec(ctx, `prepare `+name+` as `+query); err != nil {
		t.Fatalf("preparing %s: %v", query, err)
	}
	var n int
	if err := conn.QueryRow(ctx, `select cardinality(parameter_types) from pg_prepared_statements
		where name = $1`, name).Scan(&n); err != nil {
		t.Fatal(err)
	}
	explain := `explain (costs off) execute ` + name
	if n > 0 {
		explain += `(` + strings.TrimSuffix(strings.Repeat("null,", n), ",") + `)`
	}
	rows, err := conn.Query(ctx, explain)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		t.Fatalf("explaining %s: %v", query, err)
	}
	return lines
}

func TestCostOfATurn(t *testing.T) {
	cost.OfATurn(t, func(trace func(sqlstore.Statement)) *sqlstore.Store {
		return open(t, database(t), postgres.Options{Trace: trace}).Store
	})
}
