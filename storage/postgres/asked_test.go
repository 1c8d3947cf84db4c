package postgres_test

import (
	"sync"
	"testing"
	"time"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/postgres"
)

// TestMessageOfABrokenSessionIsAccepted damages a session, which is read together with the claim of the next message.
func TestMessageOfABrokenSessionIsAccepted(t *testing.T) {
	f := newFault(t, postgres.Options{})
	c := f.claim(0)
	rec := &core.SessionRecord{ID: c.Session, Writer: core.Writer{Invocation: c.Event.Invocation}}
	f.want(f.store.Finish(f.ctx, core.Finish{
		Claim:   c,
		End:     core.End{Kind: core.EndReplied},
		Changes: core.Changes{Session: rec},
	}), "")
	f.exec(f.look, `update sessions set state = '{'`)
	r, claim, err := f.store.AcceptClaim(f.ctx, said(0, 1), f.owner)
	f.want(err, "")
	if !r.Fresh || claim == nil || claim.Loaded != nil {
		t.Fatalf("got %+v, %+v", r, claim)
	}
	if _, err := f.store.LoadSession(f.ctx, claim.Session, core.Writer{}); err == nil {
		t.Error("the session was loaded")
	}
}

// TestLimitsHoldForMessagesThatComeTogether accepts messages of one person in one conversation at the same time.
func TestLimitsHoldForMessagesThatComeTogether(t *testing.T) {
	for _, accept := range []func(f *fault, s *sqlstore.Store, e core.Event) error{
		func(f *fault, s *sqlstore.Store, e core.Event) error { _, err := s.Accept(f.ctx, e); return err },
		func(f *fault, s *sqlstore.Store, e core.Event) error {
			_, _, err := s.AcceptClaim(f.ctx, e, f.owner)
			return err
		},
	} {
		f := newFault(t, postgres.Options{})
		limited := f.store.WithLimits(core.Limits{Waiting: 1, PerMinute: 100, Refusal: "too many"})
		var all sync.WaitGroup
		for i := range 8 {
			all.Go(func() {
				e := said(0, i)
				e.Actor = core.Actor{ID: "a"}
				if err := accept(f, limited, e); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if open, err := f.store.Events(f.ctx, core.EventFilter{Waiting: true}); err != nil || len(open) != 1 {
			t.Errorf("%d messages wait, %v", len(open), err)
		}
	}
}

// TestReleaseThatFoundNothingForgetsNothing moves a post while it is delivered, so that its release takes a second
// transaction, which fails. What this process then claims must not take its own delivery for an unknown one.
func TestReleaseThatFoundNothingForgetsNothing(t *testing.T) {
	f := newFault(t, postgres.Options{Timeout: 2 * time.Second})
	c := f.claim(0)
	f.want(f.store.AddPosts(f.ctx, c, []core.Post{{Key: "a", To: c.Event.Address, Kind: core.PostReply}}), "")
	claim := core.PostRequest{Owner: f.owner, Limit: 1, Scopes: served}
	rows, err := f.store.ClaimPosts(f.ctx, claim)
	f.want(err, "")
	row := rows[0]
	moved := c.Event.Address
	moved.Thread = "t"
	f.want(f.store.AddPosts(f.ctx, c, []core.Post{{Key: "a", To: moved, Kind: core.PostReply}}), "")
	row.State, row.Shown, row.Parts = core.RowSent, row.Wanted, []core.Part{{Ref: "r"}}
	f.exec(f.block, `begin; select 1 from outbox for update`)
	if _, err := f.store.ReleasePost(f.ctx, row, 0); err == nil {
		t.Error("the post was released, though its row is locked")
	}
	f.exec(f.block, `rollback`)
	f.exec(f.block, `begin; lock table owners in access exclusive mode`)
	if _, err := f.store.Accept(f.ctx, said(5, 0)); err != nil {
		t.Error(err)
	}
	if _, err := f.store.Claim(f.ctx, core.ClaimRequest{Owner: f.owner, Limit: 1, Scopes: served}); err == nil {
		t.Error("a claim was made, though the owners are locked")
	}
	f.exec(f.block, `rollback`)
	if rows, err := f.store.ClaimPosts(f.ctx, claim); err != nil || len(rows) > 0 {
		t.Errorf("claimed %d posts, %v", len(rows), err)
	}
	_, err = f.store.ReleasePost(f.ctx, row, 0)
	f.want(err, "")
}
