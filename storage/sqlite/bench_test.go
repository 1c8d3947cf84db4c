package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gatehouse/core"
	"gatehouse/storage/sqlite"
)

// sessions runs a benchmark with 1, 16 and 256 sessions at once, each of which waits for one thing before it does the
// next.
func sessions(b *testing.B, name string, do func(session int) error) {
	for _, n := range []int{1, 16, 256} {
		b.Run(fmt.Sprintf("%s/sessions=%d", name, n), func(b *testing.B) {
			var began atomic.Int64
			var all sync.WaitGroup
			for session := range n {
				all.Go(func() {
					for began.Add(1) <= int64(b.N) {
						if err := do(session); err != nil {
							b.Error(err)
							return
						}
					}
				})
			}
			all.Wait()
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "per-s")
		})
	}
}

// BenchmarkDisk is what a disk and SQLite's driver can do at best: synchronize a file, and commit one row with the
// connection that the store writes with. BenchmarkStore is held against it.
func BenchmarkDisk(b *testing.B) {
	file := filepath.Join(b.TempDir(), "gatehouse.db")
	if err := open(b, file, sqlite.Options{}).Close(); err != nil {
		b.Fatal(err)
	}
	db := sql.OpenDB(sqlite.Writing(file))
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("create table bench (n integer primary key, body text not null) strict"); err != nil {
		b.Fatal(err)
	}
	body := strings.Repeat("0123456789", 30) // about as much as an event
	sessions(b, "commit", func(int) error {
		_, err := db.Exec("insert into bench (body) values (?)", body)
		return err
	})
	synced, err := os.Create(filepath.Join(b.TempDir(), "file"))
	if err != nil {
		b.Fatal(err)
	}
	defer synced.Close()
	page := make([]byte, 4096)
	b.Run("sync", func(b *testing.B) {
		for b.Loop() {
			if _, err := synced.Write(page); err != nil {
				b.Fatal(err)
			}
			if err := synced.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkStore accepts messages, and takes whole turns of them: accepted and claimed, ended with a reply, delivered.
func BenchmarkStore(b *testing.B) {
	ctx := context.Background()
	s := open(b, filepath.Join(b.TempDir(), "gatehouse.db"), sqlite.Options{})
	owner, err := s.Register(ctx, "bench", 0)
	if err != nil {
		b.Fatal(err)
	}
	var said atomic.Int64
	message := func(kind string, session int) core.Event {
		c := core.ConversationID(fmt.Sprintf("room:%s%d", kind, session))
		return core.Event{
			Platform: "room", ID: strconv.FormatInt(said.Add(1), 10), Conversation: c, Body: core.MessageEvent{},
			Payload: []byte(`"hello, are you there?"`), Actor: core.Actor{ID: "room:" + string(c)},
			Address: core.Address{Platform: "room", Channel: string(c)},
		}
	}
	sessions(b, "accept", func(session int) error {
		_, err := s.Accept(ctx, message("waiting", session))
		return err
	})
	sessions(b, "turn", func(session int) error {
		_, claim, err := s.AcceptClaim(ctx, message("answered", session), owner)
		if err != nil || claim == nil {
			return fmt.Errorf("claimed %v: %w", claim != nil, err)
		}
		return reply(ctx, s, *claim)
	})
}

// reply ends a turn as the echo agent's turns end, with two messages and a reply, and delivers it.
func reply(ctx context.Context, s *sqlite.Store, c core.Claim) error {
	w := core.Writer{Invocation: c.Event.Invocation}
	rec, err := s.LoadSession(ctx, c.Session, w)
	if err != nil {
		return err
	}
	if rec == nil {
		rec = &core.SessionRecord{ID: c.Session, Messages: &core.History{}}
	}
	h := rec.Messages.Append(core.Message{Role: core.User, Content: core.Text("hello, are you there?")},
		core.Message{Role: core.Assistant, Content: core.Text("echo: hello, are you there?")})
	rec.Messages, rec.Writer = &h, w
	handed := &core.Handover{Platform: "room", Limit: 1}
	err = s.Finish(ctx, core.Finish{
		Claim: c, End: core.End{Kind: core.EndReplied}, Handover: handed,
		Changes: core.Changes{Session: rec, Posts: []core.Post{{
			Key: "reply/" + c.Event.ID, To: c.Event.Address, Conversation: c.Event.Conversation,
			Kind: core.PostReply, Text: "echo: hello, are you there?", Event: c.Event.Seq,
		}}},
	})
	if err != nil || len(handed.Rows) != 1 {
		return fmt.Errorf("%d replies handed over: %w", len(handed.Rows), err)
	}
	row := handed.Rows[0]
	row.Parts, row.State, row.Shown = []core.Part{{Ref: core.Ref("ref/" + row.Key)}}, core.RowSent, row.Wanted
	_, err = s.ReleasePost(ctx, row, 0)
	return err
}
