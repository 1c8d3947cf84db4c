package fill_test

import (
	"path/filepath"
	"testing"

	"gatehouse/cmd/bench/internal/fill"
	"gatehouse/cmd/bench/internal/turns"
	"gatehouse/core"
)

// TestCopiesAreWhole fills a database with copies of an idle session and of one that waits for people, and goes on in a
// copy and in a long history.
func TestCopiesAreWhole(t *testing.T) {
	ctx, file := t.Context(), filepath.Join(t.TempDir(), "gatehouse.db")
	says := func(agent turns.Agent, c core.ConversationID, text string, want core.PostKind) {
		t.Helper()
		b, err := turns.Start(ctx, "sqlite:"+file, "room", agent)
		if err != nil {
			t.Fatal(err)
		}
		if err := b.Say(ctx, c, text, want); err != nil {
			t.Error(err)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
	}
	says(turns.Echo, "room:idle", "hello", core.PostReply)
	says(turns.Asking, "room:asking", turns.AsksFor, core.PostCard)
	f, err := fill.Open(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	for _, mark := range []string{"room:idle", "room:asking"} {
		template, err := f.Template(ctx, mark)
		if err != nil {
			t.Fatal(err)
		}
		for _, first := range []int{1, 11} {
			if err := template.Copy(ctx, first, first+10); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.History(ctx, "room:idle@1", 50); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	says(turns.Echo, "room:idle20", "hello", core.PostReply)
	says(turns.Echo, "room:idle", "hello", core.PostReply)

	store, _, err := turns.OpenStore(ctx, "sqlite:"+file)
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	sessions, err := store.ListSessions(ctx, core.SessionFilter{})
	if err != nil || len(sessions) != 42 {
		t.Errorf("%d sessions: %v", len(sessions), err)
	}
	messages := map[core.SessionID]int{}
	for _, s := range sessions {
		messages[s.ID] = s.Messages
	}
	if messages["room:idle@1"] != 52 || messages["room:idle20@1"] != 4 || messages["room:idle1@1"] != 2 {
		t.Errorf("%v", messages)
	}
	for _, c := range []core.ConversationID{"room:asking", "room:asking7"} {
		open, err := store.ListApprovals(ctx, core.ApprovalFilter{Session: c.Session(1)})
		if err != nil || len(open) != 1 || open[0].State != core.Open {
			t.Errorf("%s: %v, %v", c, open, err)
		}
	}
}
