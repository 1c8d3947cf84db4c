package sqlite_test

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/sqlite"
	"gatehouse/storage/storagetest"
)

// scan finds a plan's line that walks a whole table or index. What is no table of ours may be walked: a list given as JSON, or
// what a subquery of one row made.
var (
	scan    = regexp.MustCompile(`^SCAN (\w+)`)
	allowed = map[string]bool{"json_each": true, "CONSTANT": true, "first_message": true, "flight": true, "head": true, "counts": true}
	// The rows of an insert may be walked.
	inserted = regexp.MustCompile(`^SCAN \d+-ROW VALUES CLAUSE$`)
	argument = regexp.MustCompile(`\$(\d+)`)
	// A search of messages must narrow down more than the session.
	messages = regexp.MustCompile(`^SEARCH messages USING (PRIMARY KEY|(COVERING )?INDEX \w+) \(session=\? AND (invocation|pos)`)
)

// TestPlans runs the whole contract and then looks at the plan of every statement that was used: none may scan a table.
func TestPlans(t *testing.T) {
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
		if verb, _, _ := strings.Cut(strings.TrimSpace(query), " "); !strings.Contains("select insert update delete", verb) {
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
		}
	}
	if looked < 90 {
		t.Errorf("only %d statements were looked at", looked)
	}
}

// numbered wants the parameters of a statement to first appear in the order of their numbers: SQLite counts them so, whatever they
// are called.
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

// turn takes a message of a session through everything a turn does, with a save in the middle and a pause.
func turn(t *testing.T, s *sqlstore.Store, owner string, n int, add int) {
	t.Helper()
	ctx := context.Background()
	fail := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	to := core.Address{Platform: "p", Channel: "c"}
	_, err := s.Accept(ctx, core.Event{Platform: "p", ID: fmt.Sprint("m", n), Conversation: "p:l", Body: core.MessageEvent{}, Address: to})
	fail(err)
	claims, err := s.Claim(ctx, core.ClaimRequest{Owner: owner, Limit: 3, Lease: 1 << 40, Scopes: []core.Scope{{Platform: "p"}}})
	fail(err)
	c := claims[0]
	writer := core.Writer{Invocation: c.Event.Invocation}
	rec, err := s.LoadSession(ctx, c.Session, writer)
	fail(err)
	if rec == nil {
		rec = &core.SessionRecord{ID: c.Session, Messages: &core.History{}}
	}
	_, err = rec.Messages.Page(ctx, 2, 5)
	fail(err)
	msgs := make([]core.Message, add)
	for i := range msgs {
		msgs[i] = core.Message{Role: core.User, Content: core.Text("hello")}
	}
	h := rec.Messages.Append(msgs...)
	rec.Messages, rec.Writer = &h, writer
	fail(s.SaveSession(ctx, c, rec))
	fail(s.Renew(ctx, c, 1<<40))
	fail(s.Finish(ctx, core.Finish{
		Claim: c, End: core.End{Kind: core.EndSuspended}, Session: rec,
		Paused: &core.PausedRecord{Invocation: c.Event.Invocation, Session: c.Session, Messages: add},
		Posts:  []core.Post{{Key: fmt.Sprint("r", n), To: to, Conversation: "p:l", Kind: core.PostReply}},
	}))
	m, err := s.InvocationMessages(ctx, c.Session, c.Event.Invocation)
	fail(err)
	if len(m) != add {
		t.Fatalf("%d messages, want %d", len(m), add)
	}
	_, err = s.Accept(ctx, core.Event{Platform: "p", ID: fmt.Sprint("x", n), Conversation: "p:l", Body: core.MessageEvent{}, Address: to})
	fail(err)
	claims, err = s.Claim(ctx, core.ClaimRequest{Owner: owner, Limit: 3, Lease: 1 << 40, Scopes: []core.Scope{{Platform: "p"}}})
	fail(err)
	fail(s.Finish(ctx, core.Finish{
		Claim: claims[0], End: core.End{Kind: core.EndReplied},
		Abandoned: []core.Abandon{{Invocation: c.Event.Invocation, Rows: msgs[:1], Cancel: true}},
	}))
}

// TestCostOfATurn: what a turn reads and writes does not depend on how long its session is. Counted, not timed.
func TestCostOfATurn(t *testing.T) {
	cost := func(before int) storagetest.Cost {
		var m storagetest.Meter
		s := store(t, sqlite.Options{Trace: m.Trace})
		owner, err := s.Register(context.Background(), "test")
		if err != nil {
			t.Fatal(err)
		}
		turn(t, s.Store, owner, 1, before)
		m.Reset()
		turn(t, s.Store, owner, 2, 2)
		return m.Cost()
	}
	short, long := cost(10), cost(10_000)
	if short != long {
		t.Errorf("after 10 messages a turn costs %+v, after 10,000 %+v", short, long)
	}
	if short.Read == 0 || short.Written == 0 || short.Commits == 0 {
		t.Errorf("nothing was counted: %+v", short)
	}
	t.Logf("two turns: %+v", short)
}
