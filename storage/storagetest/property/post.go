package property

import (
	"fmt"
	"maps"
	"slices"

	"pgregory.net/rapid"

	"gatehouse/core"
)

// modelPosts is what the property knows of the outbox: which rows are in flight, and what became of the posts of turns.
type modelPosts struct {
	inFlight map[string]core.OutboxRow // by channel, which is all that tells destinations apart here
	rows     []core.OutboxRow          // all that were ever given out: late releases must be refused
	sent     map[string]bool           // the replies of turns, by key; false: not yet
}

func newModelPosts() modelPosts {
	return modelPosts{inFlight: map[string]core.OutboxRow{}, sent: map[string]bool{}}
}

// die ends the flights of an owner.
func (m *modelPosts) die(owner string) {
	maps.DeleteFunc(m.inFlight, func(_ string, row core.OutboxRow) bool { return row.Owner == owner })
}

// flies takes note of rows that were given out for delivery: nothing else may be in flight in their destinations, and
// nothing is sent twice.
func (p *property) flies(rt *rapid.T, rows []core.OutboxRow) {
	for _, row := range rows {
		if other, busy := p.posts.inFlight[row.To.Channel]; busy {
			rt.Fatalf("%s was given out while %s is in flight", row.Key, other.Key)
		}
		if p.posts.sent[row.Key] {
			rt.Fatalf("%s was given out again after it was sent", row.Key)
		}
		p.posts.inFlight[row.To.Channel] = row
		p.posts.rows = append(p.posts.rows, row)
	}
}

// handover returns the request that posts of a turn's end are handed over, or nil.
func (p *property) handover(rt *rapid.T) *core.Handover {
	if !rapid.Bool().Draw(rt, "handover") {
		return nil
	}
	return &core.Handover{Platform: p.platform, Limit: rapid.IntRange(1, 2).Draw(rt, "room")}
}

// replied takes note of the posts of a turn that has ended, and of those that were handed over.
func (p *property) replied(rt *rapid.T, f core.Finish) {
	for _, post := range f.Posts {
		if post.Kind == core.PostReply { // a card is drawn again
			p.posts.sent[post.Key] = false
		}
	}
	if f.Handover == nil {
		return
	}
	for _, row := range f.Handover.Rows {
		if row.Owner != f.Claim.Owner || !slices.ContainsFunc(f.Posts, func(post core.Post) bool {
			return post.Key == row.Key
		}) {
			rt.Fatalf("%s was handed over to %s", row.Key, row.Owner)
		}
		p.seen["hand-over"]++
	}
	p.flies(rt, f.Handover.Rows)
}

// deliver takes posts that are due.
func (p *property) deliver(rt *rapid.T) {
	w := p.workers[rapid.IntRange(0, len(p.workers)-1).Draw(rt, "worker")]
	rows, err := w.store.ClaimPosts(ctx,
		core.PostRequest{
			Owner: w.owner, Limit: rapid.IntRange(1, 3).Draw(rt, "limit"), Scopes: []core.Scope{{Platform: p.platform}},
		})
	p.ok(rt, err)
	p.flies(rt, rows)
}

// arrive ends the delivery of a row, or that of one which was taken away from its process.
func (p *property) arrive(rt *rapid.T) {
	if len(p.posts.rows) == 0 {
		rt.Skip("no row")
	}
	p.release(rt, p.posts.rows[rapid.IntRange(0, len(p.posts.rows)-1).Draw(rt, "row")])
}

func (p *property) release(rt *rapid.T, row core.OutboxRow) {
	now, busy := p.posts.inFlight[row.To.Channel]
	row.State, row.Shown, row.Parts = core.RowSent, row.Wanted,
		[]core.Part{{Ref: core.Ref(fmt.Sprint("ref/", row.Seq))}}
	_, err := p.any(rt).ReleasePost(ctx, row, 0)
	if !p.did(rt, err, busy && now.Seq == row.Seq && now.Fence == row.Fence) {
		return
	}
	delete(p.posts.inFlight, row.To.Channel)
	if _, ofTurn := p.posts.sent[row.Key]; ofTurn {
		p.posts.sent[row.Key] = true
	}
	p.seen["arrival"]++
}

// drainPosts delivers all that still waits, and checks that every reply was sent.
func (p *property) drainPosts(rt *rapid.T) {
	p.pass(rt)
	for {
		w := p.workers[0]
		rows, err := w.store.ClaimPosts(ctx,
			core.PostRequest{Owner: w.owner, Limit: 100, Scopes: []core.Scope{{Platform: p.platform}}})
		p.ok(rt, err)
		if len(rows) == 0 {
			break
		}
		p.flies(rt, rows)
		for _, row := range rows {
			p.release(rt, row)
		}
	}
	for key, sent := range p.posts.sent {
		if !sent {
			rt.Fatalf("%s was not sent", key)
		}
	}
}
