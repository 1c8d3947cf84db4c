package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/sqlite"
	"gatehouse/storage/storagetest"
	"gatehouse/storage/storagetest/cost"
)

// scan matches a line of a plan that scans a whole table or index. Only what is not a table may be scanned: a list
// given as JSON, or the result of a subquery with few rows.
var (
	scan    = regexp.MustCompile(`^SCAN (\w+)`)
	allowed = map[string]bool{
		"json_each": true, "CONSTANT": true, "first_message": true, "first_signal": true, "heads": true, "always": true,
		"first": true, "places": true, "counts": true, "owners": true,
		"sizes": true, "sized": true, "untaken": true, // few, by a limit
		"sqlite_sequence": true, "numbered": true, // a row for a table
	}
	// The rows of an insert may be scanned.
	inserted = regexp.MustCompile(`^SCAN \d+-ROW VALUES CLAUSE$`)
	argument = regexp.MustCompile(`\$(\d+)`)
	// A search of messages must use more than the session.
	messages = regexp.MustCompile(
		`^SEARCH messages USING (COVERING )?INDEX ` +
			`(messages_writer \(invocation=\?|messages_order \(session=\? AND pos)`)
	// Mail of some events, or that somebody has taken, is found without the rest of the mailbox.
	someMail = regexp.MustCompile(`(?s)from mail where.*(event in|taken =)`)
	// A search of posts that were not sent reads no others.
	outbox = regexp.MustCompile(`^(SEARCH|SCAN) (outbox|o) USING`)
	// The posts of a destination are found without those of others.
	oneDestination = regexp.MustCompile(`from outbox\s+where destination =`)
)

// TestContract runs the whole contract and then checks the plan of every statement that was used: none may scan a
// table.
func TestContract(t *testing.T) {
	var mu sync.Mutex
	used := map[string]bool{}
	trace := func(s sqlstore.Statement) {
		mu.Lock()
		defer mu.Unlock()
		used[s.SQL] = true
	}
	t.Run("contract", func(t *testing.T) {
		storagetest.Run(t, func(t testing.TB) storagetest.Database {
			file, c := filepath.Join(t.TempDir(), "gatehouse.db"), newClock()
			return storagetest.Database{
				Open: func(t testing.TB) *sqlstore.Store {
					return open(t, file, sqlite.Options{Now: c.Now, Trace: trace}).Store
				},
				Advance: c.Advance,
			}
		})
	})
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	open(t, file, sqlite.Options{})
	db := raw(t, file)
	looked := 0
	for query := range used {
		if verb, _, _ := strings.Cut(strings.TrimSpace(query), " "); !strings.Contains("select insert update delete",
			verb) {
			continue
		}
		looked++
		numbered(t, query)
		for _, line := range plan(t, db, query) {
			if m := scan.FindStringSubmatch(line); m != nil && !allowed[m[1]] && !inserted.MatchString(line) {
				t.Errorf("%s\n\thas the plan: %s", query, line)
			}
			if strings.HasPrefix(line, "SEARCH messages") && !messages.MatchString(line) {
				t.Errorf("%s\n\thas the plan: %s", query, line)
			}
			if someMail.MatchString(query) && strings.HasPrefix(line, "SEARCH mail USING INDEX mail_order") {
				t.Errorf("%s\n\treads the whole mailbox: %s", query, line)
			}
			if oneDestination.MatchString(query) && strings.HasPrefix(line, "SEARCH outbox USING INDEX outbox_state") {
				t.Errorf("%s\n\treads all posts that wait: %s", query, line)
			}
			if strings.Contains(query, "ended_at = 0 and conversation") &&
				strings.HasPrefix(line, "SEARCH events USING INDEX events_conversation") {
				t.Errorf("%s\n\treads all events of a conversation: %s", query, line)
			}
			if strings.Contains(query, "state <> 'sent'") && outbox.MatchString(line) &&
				!strings.Contains(line, " INDEX outbox_state (state=?") && !strings.Contains(line, "(rowid=?)") {
				t.Errorf("%s\n\treads posts that were sent: %s", query, line)
			}
			if strings.Contains(query, "sent_at < ") && line == "SEARCH o USING INDEX outbox_state (state=?)" &&
				strings.Contains(query, "'sent'") {
				t.Errorf("%s\n\treads all posts that were sent: %s", query, line)
			}
		}
	}
	if looked < 90 {
		t.Errorf("only %d statements were looked at", looked)
	}
}

// numbered checks that the parameters of a statement first appear in the order of their numbers, since SQLite numbers
// them in that order.
func numbered(t *testing.T, query string) {
	t.Helper()
	highest := 0
	for _, m := range argument.FindAllStringSubmatch(query, -1) {
		n, err := strconv.Atoi(m[1])
		if err != nil || n > highest+1 {
			t.Errorf("%s\n\thas $%s before $%d", query, m[1], highest+1)
		}
		highest = max(highest, n)
	}
}

// plan asks SQLite how it would run a query, whatever its arguments.
func plan(t *testing.T, db *sql.DB, query string) []string {
	t.Helper()
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var args []any
	err = conn.Raw(func(c any) error {
		stmt, err := c.(driver.Conn).Prepare(query)
		if err != nil {
			return err
		}
		args = make([]any, stmt.NumInput())
		return stmt.Close()
	})
	if err != nil {
		t.Fatalf("preparing %s: %v", query, err)
	}
	rows, err := conn.QueryContext(context.Background(), "explain query plan "+query, args...)
	if err != nil {
		t.Fatalf("explaining %s: %v", query, err)
	}
	defer rows.Close()
	var lines []string
	for rows.Next() {
		var id, parent, unused int
		var line string
		if err := rows.Scan(&id, &parent, &unused, &line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines
}

func TestCostOfATurn(t *testing.T) {
	cost.OfATurn(t, func(trace func(sqlstore.Statement)) *sqlstore.Store {
		return store(t, sqlite.Options{Trace: trace}).Store
	})
}
