package postgres_test

import (
	"testing"

	"gatehouse/core"
	"gatehouse/storage/postgres"
)

// TestRace_EventBesideAFinishIsSeen: another process adds an event to the conversation and holds its lock when the
// turn's end wants it. The end reads the conversation only after it has the lock, so the event is not missed.
func TestRace_EventBesideAFinishIsSeen(t *testing.T) {
	f := newFault(t, postgres.Options{})
	c := f.claim(0)
	f.exec(f.block, `begin`)
	f.exec(f.block, `update queues set fence = fence where queue_key = 'p:0'`)
	f.exec(f.block, `insert into events (platform, id, conversation, queue_key, kind, signal, subject, actor, address,
		invocation, accepted_at, actor_id)
		values ('p', 'beside', 'p:0', 'p:0', 'message', false, '', '{}', '{}', 'i', `+postgres.Clock+`, '')`)
	came := make(chan error)
	go func() { came <- f.store.Finish(f.ctx, core.Finish{Claim: c, End: core.End{Kind: core.EndReplied}}) }()
	waiting(t, f.ctx, f.look)
	f.exec(f.block, `commit`)
	f.want(<-came, "")
	claims, err := f.store.Claim(f.ctx, core.ClaimRequest{Owner: f.owner, Limit: 1, Scopes: served})
	if err != nil || len(claims) != 1 || claims[0].Event.ID != "beside" {
		t.Errorf("got %+v, %v", claims, err)
	}
}

// TestRace_PostBesideADeliveryIsSeen: the same for a destination of the outbox and a delivery's end.
func TestRace_PostBesideADeliveryIsSeen(t *testing.T) {
	f := newFault(t, postgres.Options{})
	c := f.claim(0)
	f.want(f.store.AddPosts(f.ctx, c, []core.Post{{Key: "a", To: c.Event.Address, Kind: core.PostReply}}), "")
	deliver := func() []core.OutboxRow {
		t.Helper()
		rows, err := f.store.ClaimPosts(f.ctx, core.PostRequest{Owner: f.owner, Limit: 1, Scopes: served})
		if err != nil || len(rows) != 1 {
			t.Fatalf("got %+v, %v", rows, err)
		}
		return rows
	}
	row := deliver()[0]
	f.exec(f.block, `begin`)
	f.exec(f.block, `update destinations set conversation = conversation`)
	f.exec(f.block, `insert into outbox (key, destination, platform, conversation, kind, approval, post, state, wanted,
		shown, parts, attempts, next_at, cause, created_at)
		select 'beside', destination, platform, conversation, kind, approval, replace(post, '"a"', '"beside"'),
			'waiting', 1, 0, '[]', 0, 0, '', `+postgres.Clock+` from outbox`)
	row.State, row.Shown = core.RowSent, row.Wanted
	came := make(chan error)
	go func() {
		_, err := f.store.ReleasePost(f.ctx, row, 0)
		came <- err
	}()
	waiting(t, f.ctx, f.look)
	f.exec(f.block, `commit`)
	f.want(<-came, "")
	if next := deliver()[0]; next.Key != "beside" {
		t.Errorf("got %+v", next)
	}
}
