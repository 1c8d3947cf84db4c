package postgres_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/postgres"
	"gatehouse/storage/storagetest"
)

// scan finds a plan's line that walks a whole table. Tables of one row, and the tests' own, may be walked.
var (
	scan    = regexp.MustCompile(`Seq Scan on (\w+)`)
	allowed = map[string]bool{"audit_head": true, "test_clock": true}
)

// statements collects what was run.
type statements struct {
	mu   sync.Mutex
	used map[string]bool
}

func (u *statements) trace(s sqlstore.Statement) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.used[s.SQL] = true
}

// plans looks at how the server would run every statement that the contract's examples used, whatever its arguments: where there
// is any way to do without, none walks a table; and messages are narrowed down by more than the session.
func plans(t *testing.T, used map[string]bool) {
	conn := connect(t, database(t))
	for _, set := range []string{`set enable_seqscan = off`, `set plan_cache_mode = force_generic_plan`} {
		if _, err := conn.Exec(context.Background(), set); err != nil {
			t.Fatal(err)
		}
	}
	looked := 0
	for query := range used {
		if verb, _, _ := strings.Cut(strings.TrimSpace(query), " "); !strings.Contains("select insert update delete", verb) {
			continue
		}
		looked++
		lines := plan(t, conn, fmt.Sprint("q", looked), query)
		for i, line := range lines {
			if m := scan.FindStringSubmatch(line); m != nil && !allowed[m[1]] {
				t.Errorf("%s\n\thas the plan: %s", query, strings.Join(lines, "\n\t"))
			}
			if strings.Contains(line, " on messages") && strings.Contains(line, "Scan") && !strings.Contains(strings.Join(lines[i:min(i+3, len(lines))], " "), " AND (") {
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
	if err := conn.QueryRow(ctx, `select cardinality(parameter_types) from pg_prepared_statements where name = $1`, name).Scan(&n); err != nil {
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
	take := func(id string) core.Claim {
		t.Helper()
		_, err := s.Accept(ctx, core.Event{Platform: "p", ID: fmt.Sprint(id, n), Conversation: "p:l", Body: core.MessageEvent{}, Address: core.Address{Platform: "p", Channel: "c"}})
		fail(err)
		claims, err := s.Claim(ctx, core.ClaimRequest{Owner: owner, Limit: 3, Lease: 1 << 40, Scopes: served})
		fail(err)
		return claims[0]
	}
	c := take("m")
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
		Posts:  []core.Post{{Key: fmt.Sprint("r", n), To: c.Event.Address, Conversation: "p:l", Kind: core.PostReply}},
	}))
	m, err := s.InvocationMessages(ctx, c.Session, c.Event.Invocation)
	fail(err)
	if len(m) != add {
		t.Fatalf("%d messages, want %d", len(m), add)
	}
	fail(s.Finish(ctx, core.Finish{
		Claim: take("x"), End: core.End{Kind: core.EndReplied},
		Abandoned: []core.Abandon{{Invocation: c.Event.Invocation, Rows: msgs[:1], Cancel: true}},
	}))
}

// TestCostOfATurn: what a turn reads and writes does not depend on how long its session is, nor how many turns there were.
// Counted, not timed.
func TestCostOfATurn(t *testing.T) {
	cost := func(messages, turns int) any {
		var m storagetest.Meter
		s := open(t, database(t), postgres.Options{Trace: m.Trace})
		owner, err := s.Register(context.Background(), "test")
		if err != nil {
			t.Fatal(err)
		}
		for n := range turns {
			turn(t, s.Store, owner, n, messages)
		}
		m.Reset()
		turn(t, s.Store, owner, turns, 2)
		statements := len(m.Statements())
		return struct{ Cost, Statements any }{m.Cost(), statements}
	}
	short, long, many := cost(10, 1), cost(10_000, 1), cost(10, 30)
	if short != long || short != many {
		t.Errorf("a turn costs %+v after 10 messages, %+v after 10,000, %+v after 30 turns", short, long, many)
	}
	if fmt.Sprint(short) == "{{0 0 0} 0}" {
		t.Errorf("nothing was counted: %+v", short)
	}
	t.Logf("two turns: %+v", short)
}
