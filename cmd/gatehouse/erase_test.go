package main

import (
	"context"
	"encoding/hex"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"gatehouse/core"
	"gatehouse/storage"
)

// everything returns all that a database holds, as a person with access to it can read it.
func everything(t *testing.T, url string) string {
	t.Helper()
	var all strings.Builder
	if file, ok := strings.CutPrefix(url, "sqlite:"); ok {
		asAttacker(t, url, `pragma wal_checkpoint(truncate)`)
		for _, name := range []string{file, file + "-wal"} {
			text, err := os.ReadFile(name)
			if err != nil && !os.IsNotExist(err) {
				t.Fatal(err)
			}
			all.Write(text)
		}
		return all.String()
	}
	ctx := t.Context()
	db, err := pgx.Connect(ctx, url)
	noErr(t, err)
	defer db.Close(context.WithoutCancel(ctx))
	texts := func(query string) []string {
		rows, err := db.Query(ctx, query)
		noErr(t, err)
		found, err := pgx.CollectRows(rows, pgx.RowTo[string])
		noErr(t, err)
		return found
	}
	for _, table := range texts(
		`select table_name::text from information_schema.tables where table_schema = 'public'`) {
		all.WriteString(strings.Join(texts(`select t::text from "`+table+`" t`), "\n"))
	}
	return all.String()
}

// finds returns which of the words are in a text, plain or in hexadecimal.
func finds(text string, words ...string) (found []string) {
	for _, word := range words {
		if strings.Contains(text, word) || strings.Contains(text, hex.EncodeToString([]byte(word))) {
			found = append(found, word)
		}
	}
	return found
}

// TestDeletedSessionLeavesNoText: after a session was deleted, nothing of what was said in it is in the database, and
// the audit log and the ids of its events are.
func TestDeletedSessionLeavesNoText(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		ctx, url := t.Context(), e.make(t)
		store, err := storage.Open(ctx, url, storage.Options{})
		noErr(t, err)
		defer store.Close()
		s := newSeeder(ctx, store)
		for _, step := range []func() error{s.answered, s.dead} {
			noErr(t, step())
		}
		executed(t, store)
		for _, state := range []core.RowState{core.RowSent, core.RowUnknown} { // the reply and the card
			rows, err := store.ClaimPosts(ctx, core.PostRequest{Owner: "seed", Limit: 1, Scopes: s.scope})
			if err != nil || len(rows) != 1 {
				t.Fatalf("%d posts, %v", len(rows), err)
			}
			rows[0].State, rows[0].Shown, rows[0].Parts = state, rows[0].Wanted, []core.Part{{Ref: "r"}}
			if _, err := store.ReleasePost(ctx, rows[0], 0); err != nil {
				t.Fatal(err)
			}
		}
		other := s.event("other", "elsewhere")
		other.Conversation = "console:other"
		if _, err := store.Accept(ctx, other); err != nil {
			t.Fatal(err)
		}

		words := []string{
			"hello", "hi there", "boom", "note it", "milk", "hunter2", "it is due", "twelve notes", seedDigest,
		}
		if got := finds(everything(t, url), words...); len(got) != len(words) {
			t.Fatalf("before, only %q are found", got)
		}
		for range 2 {
			noErr(t, store.DeleteSession(ctx, seedConversation.Session(1)))
			if got := finds(everything(t, url), words...); len(got) > 0 {
				t.Errorf("%q are still in the database", got)
			}
		}
		if len(finds(everything(t, url), "elsewhere")) == 0 {
			t.Error("the text of another conversation was erased")
		}
		if r := verified(t, store, store.Signer(), ""); len(r.Faults) > 0 || r.Entries != 6 || r.Erased != 2 ||
			r.Calls != 1 || r.Results != 1 || r.Approvals != 1 || r.Intents != 1 {
			t.Errorf("the audit log: %+v", r)
		}
		for _, id := range []string{"e1", "e2", "e3"} {
			if r, err := store.Accept(ctx, s.event(id, "again")); err != nil || r.Fresh {
				t.Errorf("the event %s, delivered again: %+v, %v", id, r, err)
			}
		}
		dead, err := store.Events(ctx, core.EventFilter{Ends: []core.EndKind{core.EndDead}})
		if err != nil || len(dead) != 1 {
			t.Fatalf("%d dead letters, %v", len(dead), err)
		}
		if _, err := store.Retry(ctx, dead[0].Seq); core.CategoryOf(err) != core.Invalid ||
			!strings.Contains(core.MessageOf(err), "erased with its session") {
			t.Errorf("a retry of an erased message: %v", err)
		}
		a, err := store.LoadApproval(ctx, "ap-1")
		if err != nil || a.Call.Digest != "" || a.State != core.Approved {
			t.Errorf("the approval is %+v, %v", a, err)
		}
	})
}

// TestDeletedSessionLeavesNoReason: the reasons in the audit log go with their session, even if their approval was
// pruned before.
func TestDeletedSessionLeavesNoReason(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		ctx := t.Context()
		url, store := audited(t, e)
		for _, id := range []core.ApprovalID{"ap-1", "none"} { // too late, and after it was pruned
			vote := core.Vote{Actor: core.Actor{ID: "local-admin"}, Choice: core.Deny, Reason: "too expensive"}
			if _, err := store.Decide(ctx,
				core.Decision{Approval: id, Vote: &vote, Admin: true, As: "Quentin"}); err == nil {
				t.Fatalf("a vote on %s counts", id)
			}
		}
		if _, err := store.Prune(ctx, -time.Hour); err != nil {
			t.Fatal(err)
		}
		if _, err := store.LoadApproval(ctx, "ap-1"); core.CategoryOf(err) != core.NotFound {
			t.Fatalf("the approval is still there: %v", err)
		}
		words := []string{"it is due", "too expensive", "Quentin"}
		if got := finds(everything(t, url), words...); len(got) != len(words) {
			t.Fatalf("before, only %q are found", got)
		}
		noErr(t, store.DeleteSession(ctx, seedConversation.Session(1)))
		if got := finds(everything(t, url), words...); len(got) > 0 {
			t.Errorf("%q are still in the database", got)
		}
		if r := verified(t, store, store.Signer(), ""); len(r.Faults) > 0 || r.Entries != 7 || r.Erased != 3 {
			t.Errorf("the audit log: %+v", r)
		}
	})
}
