// Package cost counts what a store does, so that a test can limit costs instead of time.
package cost

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
)

// Meter counts a store's statements and rows. Set Options.Trace to its Trace method.
type Meter struct {
	mu         sync.Mutex
	statements []sqlstore.Statement
}

// Work is the work since the last Reset: rows that queries returned, rows that were changed, and commits.
type Work struct {
	Read, Written, Commits int
}

// Trace records one statement.
func (m *Meter) Trace(s sqlstore.Statement) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.statements = append(m.statements, s)
}

// Reset discards the recorded statements.
func (m *Meter) Reset() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.statements = nil
}

// Statements returns the recorded statements in order.
func (m *Meter) Statements() []sqlstore.Statement {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.statements)
}

// Work returns the sums over the recorded statements.
func (m *Meter) Work() Work {
	var c Work
	for _, s := range m.Statements() {
		c.Read += s.Rows
		switch s.SQL {
		case "commit":
			c.Commits++
		case "begin immediate", "rollback", "savepoint unit", "release unit", "rollback to unit":
		default:
			c.Written += int(s.Changed)
		}
	}
	return c
}

// OfATurn counts the statements and rows of a turn. They must not depend on the length of the session or the number of
// earlier turns. open opens an empty database.
func OfATurn(t *testing.T, open func(trace func(sqlstore.Statement)) *sqlstore.Store) {
	type total struct {
		Work
		Statements int
	}
	measure := func(messages, turns int) total {
		var m Meter
		s := open(m.Trace)
		owner, err := s.Register(context.Background(), "test", 0)
		if err != nil {
			t.Fatal(err)
		}
		for n := range turns {
			Turn(t, s, owner, n, messages)
		}
		m.Reset()
		Turn(t, s, owner, turns, 2)
		return total{m.Work(), len(m.Statements())}
	}
	short, long, many := measure(10, 1), measure(10_000, 1), measure(10, 30)
	if short != long || short != many {
		t.Errorf("a turn costs %+v after 10 messages, %+v after 10,000, %+v after 30 turns", short, long, many)
	}
	if short.Read == 0 || short.Written == 0 || short.Commits == 0 {
		t.Errorf("nothing was counted: %+v", short)
	}
	t.Logf("two turns: %+v", short)
}

// Turn runs a whole turn for a message of a session, with a save in the middle and a pause.
func Turn(t *testing.T, s *sqlstore.Store, owner string, n int, add int) {
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
		_, err := s.Accept(ctx,
			core.Event{
				Platform: "p", ID: fmt.Sprint(id, n), Conversation: "p:l", Body: core.MessageEvent{},
				Address: core.Address{Platform: "p", Channel: "c"},
			})
		fail(err)
		claims, err := s.Claim(ctx, core.ClaimRequest{Owner: owner, Limit: 3, Scopes: []core.Scope{{Platform: "p"}}})
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
	fail(s.Beat(ctx, owner))
	fail(s.Finish(ctx, core.Finish{
		Claim: c, End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
			Session: rec,
			Paused:  &core.PausedRecord{Invocation: c.Event.Invocation, Session: c.Session, Messages: add},
			Posts: []core.Post{
				{Key: fmt.Sprint("r", n), To: c.Event.Address, Conversation: "p:l", Kind: core.PostReply},
			},
		},
	}))
	m, err := s.InvocationMessages(ctx, c.Session, c.Event.Invocation)
	fail(err)
	if len(m) != add {
		t.Fatalf("%d messages, want %d", len(m), add)
	}
	fail(s.Finish(ctx, core.Finish{
		Claim: take("x"),
		End:   core.End{Kind: core.EndReplied},
		Changes: core.Changes{
			Abandoned: []core.Abandon{{Invocation: c.Event.Invocation, Rows: msgs[:1], Cancel: true}},
		},
	}))
}
