package sqlite_test

import (
	"path/filepath"
	"testing"

	"gatehouse/core"
	"gatehouse/storage/sqlite"
)

// A turn whose answer is handed over, and its delivery, leave nothing, and so cost no look for it.
func TestNothingIsLeft(t *testing.T) {
	store, ctx := open(t, filepath.Join(t.TempDir(), "gatehouse.db"), sqlite.Options{}), t.Context()
	e := core.Event{Platform: "plat", ID: "1", Conversation: "plat:one", Body: core.MessageEvent{}}
	_, claim, err := store.AcceptClaim(ctx, e, "me")
	if err != nil || claim == nil {
		t.Fatalf("%v, %v", claim, err)
	}
	left, handed := core.Left{Turns: true, Posts: true}, &core.Handover{Platform: "plat", Limit: 1}
	post := core.Post{
		Key: "a", To: core.Address{Platform: "plat", Channel: "one"}, Conversation: "plat:one", Kind: core.PostReply,
		Text: "hello",
	}
	end := core.Finish{
		Claim:    *claim,
		End:      core.End{Kind: core.EndReplied},
		Handover: handed,
		Left:     &left,
		Changes:  core.Changes{Posts: []core.Post{post}},
	}
	if err := store.Finish(ctx, end); err != nil || len(handed.Rows) != 1 || left != (core.Left{}) {
		t.Fatalf("%v; handed over: %v; left: %+v", err, handed.Rows, left)
	}
	row := handed.Rows[0]
	row.Parts, row.State, row.Shown = []core.Part{{Ref: "ref"}}, core.RowSent, row.Wanted
	if more, err := store.ReleasePost(ctx, row, 0); err != nil || more {
		t.Errorf("more: %v, %v", more, err)
	}
}
