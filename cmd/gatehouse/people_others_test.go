package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/storage"
)

// forZoe opens a database and erases console:zoe as often as a test likes.
func forZoe(t *testing.T, e engine) (*seeder, string, func(storage.Erasing) storage.Erasure) {
	t.Helper()
	url := e.make(t)
	store, err := storage.Open(t.Context(), url, storage.Options{})
	noErr(t, err)
	t.Cleanup(func() { _ = store.Close() })
	return newSeeder(t.Context(), store), url, func(how storage.Erasing) storage.Erasure {
		t.Helper()
		done, err := store.ErasePerson(t.Context(), "console:zoe", how)
		noErr(t, err)
		return done
	}
}

// next claims the next turn.
func (s *seeder) next(t *testing.T) core.Claim {
	t.Helper()
	claims, err := s.store.Claim(s.ctx, core.ClaimRequest{Owner: s.owner, Limit: 1, Scopes: s.scope})
	if err != nil || len(claims) != 1 {
		t.Fatalf("%d claims, %v", len(claims), err)
	}
	return claims[0]
}

// payload is what an event of the platform says, as it is stored.
func (s *seeder) payload(t *testing.T, id string) string {
	t.Helper()
	all, err := s.store.Events(s.ctx, core.EventFilter{})
	noErr(t, err)
	for _, e := range all {
		if e.ID == id {
			return string(e.Payload)
		}
	}
	t.Fatalf("no event %s", id)
	return ""
}

// TestErasingLeavesWhatAnybodyWrites: words that are also states, keys and common sentences are erased of nobody else.
func TestErasingLeavesWhatAnybodyWrites(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		s, _, erase := forZoe(t, e)
		executed(t, s.store)
		before, err := s.store.LoadApproval(t.Context(), "ap-1")
		noErr(t, err)
		s.said(t, "e4", "console:bob", "Bob", "Thank you, continue, the password is new", "Good morning, Bob")
		for n, text := range []string{
			"approved", "password", "note.add", "Thank you", "continue", "Good morning",
			before.CreatedAt.Format("2006-01-02"), before.CreatedAt.Format("15:04:05"), "invocation",
		} {
			s.said(t, "z"+string(rune('a'+n)), "console:zoe", "Zoe", text, "ok")
		}
		if done := erase(storage.Erasing{}); !done.Own {
			t.Errorf("something waits: %+v", done)
		}
		after, err := s.store.LoadApproval(t.Context(), "ap-1")
		noErr(t, err)
		if after.Call.Summary != before.Call.Summary || string(after.Call.Arguments) != string(before.Call.Arguments) ||
			len(after.Votes) != 1 || after.Votes[0].Reason != "it is due" {
			t.Errorf("the approval of another became %+v", after)
		}
		if got := s.payload(t, "e4"); !strings.Contains(got, "Thank you, continue, the password is new") {
			t.Errorf("the message of another became %s", got)
		}
		if r := verified(t, s.store, s.store.Signer(), ""); len(r.Faults) > 0 {
			t.Errorf("the audit log: %+v", r)
		}
	})
}

// TestErasingLeavesAnApprovalThatIsToBeUsed: an approved call of another, which has not begun, is run as it was
// approved; it is reported, and erased once its turn has ended.
func TestErasingLeavesAnApprovalThatIsToBeUsed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		s, url, erase := forZoe(t, e)
		s.said(t, "z1", "console:zoe", "Zoe", "the code is "+plum, "ok")
		noErr(t, s.suspended())
		vote := core.Vote{
			Actor: core.Actor{ID: "local-admin"}, Choice: core.Approve, Reason: "Zoe told me " + plum,
		}
		_, err := s.store.Decide(t.Context(), core.Decision{Approval: "ap-1", Vote: &vote, Admin: true})
		noErr(t, err)
		done := erase(storage.Erasing{})
		if done.Own || len(done.Approvals) != 1 || done.Approvals[0] != "ap-1" {
			t.Errorf("while it is to be used: %+v", done)
		}
		a, err := s.store.LoadApproval(t.Context(), "ap-1")
		noErr(t, err)
		if string(a.Call.Arguments) == "" || a.Votes[0].Reason != vote.Reason {
			t.Errorf("the approval became %+v", a)
		}
		if !strings.Contains(s.payload(t, "z1"), plum) {
			t.Error("the person's own text is gone while something waits that quotes it")
		}
		c := s.next(t)
		intent := core.Intent{Approval: "ap-1", Invocation: c.Event.Invocation, Tool: "note.add", Digest: seedDigest}
		_, err = s.store.BeginIntent(s.ctx, c, intent)
		noErr(t, err)
		noErr(t, s.store.FinishIntent(s.ctx, c, "ap-1", core.ToolResult{Content: "noted"}))
		noErr(t, s.store.Finish(s.ctx, core.Finish{
			Claim: c, End: core.End{Kind: core.EndReplied}, Changes: core.Changes{Resumed: c.Event.Invocation},
		}))
		if done := erase(storage.Erasing{Replies: true}); !done.Own || done.Waits() {
			t.Errorf("after its turn: %+v", done)
		}
		if got := finds(everything(t, url), plum); len(got) > 0 {
			t.Errorf("%q are still in the database", got)
		}
		if r := verified(t, s.store, s.store.Signer(), ""); len(r.Faults) > 0 {
			t.Errorf("the audit log: %+v", r)
		}
	})
}

// TestErasingLeavesWhatOthersWaitFor: a message that waits, a dead letter and a post in doubt keep their states and
// texts, and are reported.
func TestErasingLeavesWhatOthersWaitFor(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		s, _, erase := forZoe(t, e)
		s.said(t, "z1", "console:zoe", "Zoe", "the code is "+plum, "ok")
		quoting := "Zoe told me " + plum
		noErr(t, s.turn("dead", quoting, func(c core.Claim) core.Finish {
			return core.Finish{
				End: core.End{Kind: core.EndDead, Category: core.Internal, Cause: "five deaths"},
				Changes: core.Changes{Posts: []core.Post{{
					Key: "reply/dead", To: c.Event.Address, Conversation: seedConversation, Kind: core.PostReply,
					Text: quoting, Event: c.Event.Seq,
				}}},
			}
		}))
		rows, err := s.store.ClaimPosts(s.ctx, core.PostRequest{Owner: s.owner, Limit: 1, Scopes: s.scope})
		if err != nil || len(rows) != 1 {
			t.Fatalf("%d posts, %v", len(rows), err)
		}
		rows[0].State, rows[0].Cause, rows[0].Parts = core.RowUnknown, "lost", []core.Part{{InDoubt: true}}
		_, err = s.store.ReleasePost(s.ctx, rows[0], 0)
		noErr(t, err)
		_, err = s.store.Accept(s.ctx, s.event("waits", quoting))
		noErr(t, err)
		for _, now := range []bool{false, true} {
			if done := erase(storage.Erasing{Now: now}); done.Own != now || done.Events != 2 || done.Posts != 1 {
				t.Errorf("now %v: %+v", now, done)
			}
			for _, id := range []string{"dead", "waits"} {
				if got := s.payload(t, id); !strings.Contains(got, plum) {
					t.Errorf("the event %q became %s", id, got)
				}
			}
			posts, err := s.store.ListPosts(s.ctx, nil, "", 0)
			noErr(t, err)
			for _, p := range posts {
				if p.Key == "reply/dead" && (p.State != core.RowUnknown || p.Text != quoting) {
					t.Errorf("the post became %+v", p)
				}
			}
		}
		if got := s.payload(t, "z1"); got != "" {
			t.Errorf("the person's own event says %s", got)
		}
	})
}

// TestErasingASpeakerWithoutEvents: who is only named in histories is known by that, and a click makes nobody the
// speaker of what has no name.
func TestErasingASpeakerWithoutEvents(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		s, url, erase := forZoe(t, e)
		session := s.said(t, "z1", "console:zoe", "Zoe Quimby", "the code is "+plum, "noted").Session
		s.said(t, "b1", "console:bob", "Bob", "what is it, then?", "a reply to Bob")
		asAttacker(t, url, `delete from events`)
		if done := erase(storage.Erasing{Replies: true}); !done.Own {
			t.Errorf("%+v", done)
		}
		rec, err := s.store.LoadSession(s.ctx, session, core.Writer{})
		noErr(t, err)
		said, err := rec.Messages.From(s.ctx, 0)
		noErr(t, err)
		all, err := json.Marshal(said)
		noErr(t, err)
		text := string(all)
		if got := finds(text, "the code is", "Zoe Quimby", "noted"); len(got) > 0 {
			t.Errorf("%q are still in the history", got)
		}
		if got := finds(text, "what is it, then?", "a reply to Bob"); len(got) != 2 {
			t.Errorf("of what Bob said and was told there is only %q", got)
		}
	})
}

func TestErasingWhoOnlyClicked(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		s, url, erase := forZoe(t, e)
		noErr(t, s.answered()) // a conversation of one, where messages name nobody
		asAttacker(t, url, `delete from events`)
		click := s.event("c1", "clicked")
		click.Actor = core.Actor{ID: "console:zoe", Name: "Zoe"}
		click.Body = core.ClickEvent{Approval: "ap-9"}
		_, err := s.store.Accept(s.ctx, click)
		noErr(t, err)
		erase(storage.Erasing{Replies: true, Now: true})
		if text := everything(t, url); len(finds(text, "hi there")) == 0 || len(finds(text, "hello")) == 0 {
			t.Error("the conversation of another was erased")
		}
	})
}

// TestErasedApproversWords: a denial is told to the model with the approver's name and reason; both go.
func TestErasedApproversWords(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		s, url, erase := forZoe(t, e)
		noErr(t, s.suspended())
		vote := core.Vote{Actor: core.Actor{ID: "console:zoe", Name: "Zoe Q"}, Choice: core.Deny, Reason: "too risky"}
		_, err := s.store.Decide(t.Context(), core.Decision{Approval: "ap-1", Vote: &vote, Admin: true})
		noErr(t, err)
		c := s.next(t)
		noErr(t, s.store.Finish(s.ctx, core.Finish{
			Claim: c, End: core.End{Kind: core.EndReplied},
			Changes: core.Changes{
				Resumed: c.Event.Invocation,
				Session: s.session(c, core.Message{
					Role: core.ToolRole, ToolCallID: "c1", Content: core.Text("Denied by Zoe Q: too risky"),
				}),
			},
		}))
		if got := finds(everything(t, url), "Zoe Q", "too risky"); len(got) != 2 {
			t.Fatalf("before, only %q are found", got)
		}
		if done := erase(storage.Erasing{}); !done.Own {
			t.Errorf("%+v", done)
		}
		if got := finds(everything(t, url), "Zoe Q", "too risky"); len(got) > 0 {
			t.Errorf("%q are still in the database", got)
		}
		if r := verified(t, s.store, s.store.Signer(), ""); len(r.Faults) > 0 {
			t.Errorf("the audit log: %+v", r)
		}
	})
}

// TestUnreadableRestOfAPrunedSessionStopsNoOther: pruning fails once, and goes on behind it.
func TestUnreadableRestOfAPrunedSessionStopsNoOther(t *testing.T) {
	onEachEngine(t, func(t *testing.T, e engine) {
		s, url, _ := forZoe(t, e)
		session := s.said(t, "z1", "console:zoe", "Zoe", "hello", "hi").Session
		asAttacker(t, url, `insert into kv (name, value) values ('retired/a', 'no JSON')`)
		at, err := s.store.PruneSessions(s.ctx, time.Nanosecond, core.Pruning{})
		if core.CategoryOf(err) != core.StoreUnreadable {
			t.Errorf("the first call: %v", err)
		}
		for calls := 0; at.Stage != core.PruneDone && calls < 100; calls++ {
			at, err = s.store.PruneSessions(s.ctx, time.Nanosecond, at)
			noErr(t, err)
		}
		if rec, err := s.store.LoadSession(s.ctx, session, core.Writer{}); err != nil || rec != nil {
			t.Errorf("the session is still there: %+v, %v", rec, err)
		}
	})
}
