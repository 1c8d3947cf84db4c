package sqlite_test

import (
	"path/filepath"
	"testing"

	"gatehouse/core"
	"gatehouse/storage/sqlite"
)

// TestMessageOfABrokenSessionIsAccepted damages a session, which is read together with the claim of the next message.
func TestMessageOfABrokenSessionIsAccepted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gatehouse.db")
	store, ctx := open(t, file, sqlite.Options{}), t.Context()
	e := core.Event{Platform: "plat", ID: "1", Conversation: "plat:one", Body: core.MessageEvent{}}
	_, claim, err := store.AcceptClaim(ctx, e, "me")
	if err != nil || claim == nil {
		t.Fatalf("%v, %v", claim, err)
	}
	rec := &core.SessionRecord{ID: claim.Session, Writer: core.Writer{Invocation: claim.Event.Invocation}}
	if err := store.Finish(ctx,
		core.Finish{
			Claim:   *claim,
			End:     core.End{Kind: core.EndReplied},
			Changes: core.Changes{Session: rec},
		}); err != nil {
		t.Fatal(err)
	}
	must(t, raw(t, file), `update sessions set state = '{'`)
	e.ID = "2"
	r, claim, err := store.AcceptClaim(ctx, e, "me")
	if err != nil || !r.Fresh || claim == nil || claim.Loaded != nil {
		t.Fatalf("got %+v, %+v, %v", r, claim, err)
	}
	if _, err := store.LoadSession(ctx, claim.Session, core.Writer{}); core.CategoryOf(err) != core.SessionLoadFailed {
		t.Errorf("the session was loaded, or %v", err)
	}
}
