package sqlite_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"testing"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/sqlite"
)

// That a post has arrived is committed together with the next change, or alone if none comes. Closing the store waits
// for it.
func TestAnArrivalSharesACommit(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	var commits atomic.Int64
	store, ctx := open(t, file, sqlite.Options{Trace: func(s sqlstore.Statement) {
		if s.SQL == "commit" {
			commits.Add(1)
		}
	}}), t.Context()
	arrive := func(id string) (arrived chan error) {
		e := core.Event{
			Platform: "plat", ID: id, Conversation: core.ConversationID("plat:" + id), Body: core.MessageEvent{},
		}
		_, claim, err := store.AcceptClaim(ctx, e, "me")
		if err != nil || claim == nil {
			t.Fatalf("%v, %v", claim, err)
		}
		handed := &core.Handover{Platform: "plat", Limit: 1}
		post := core.Post{
			Key: id, To: core.Address{Platform: "plat", Channel: id}, Conversation: e.Conversation,
			Kind: core.PostReply, Text: "hello",
		}
		if err := store.Finish(ctx,
			core.Finish{
				Claim:    *claim,
				End:      core.End{Kind: core.EndReplied},
				Handover: handed,
				Changes:  core.Changes{Posts: []core.Post{post}},
			}); err != nil {
			t.Fatal(err)
		}
		row := handed.Rows[0]
		row.Parts, row.State, row.Shown = []core.Part{{Ref: "ref"}}, core.RowSent, row.Wanted
		before := store.Waiting()
		arrived = make(chan error, 1)
		go func() {
			_, err := store.ReleasePost(ctx, row, 0)
			arrived <- err
		}()
		for store.Waiting() == before && len(arrived) == 0 {
		}
		return arrived
	}
	if err := <-arrive("alone"); err != nil {
		t.Fatal(err)
	}
	shared := func(id string) bool {
		arrived := arrive(id)
		before := commits.Load()
		if err := errors.Join(store.Put(ctx, "name", "value"), <-arrived); err != nil {
			t.Fatal(err)
		}
		return commits.Load()-before == 1
	}
	tries := 1
	for !shared(fmt.Sprint("shared", tries)) { // a busy machine may come too late
		if tries++; tries > 50 {
			t.Fatal("no commit is shared")
		}
	}
	last := arrive("last")
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-last; err != nil {
		t.Fatal(err)
	}
	again := open(t, file, sqlite.Options{})
	rows, err := again.ListPosts(ctx, []core.RowState{core.RowSent}, "", 0)
	if err != nil || len(rows) != tries+2 {
		t.Errorf("%d posts are sent, %v", len(rows), err)
	}
}
