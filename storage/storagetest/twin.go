package storagetest

import (
	"time"

	"gatehouse/core"
)

var twinExamples = []example{
	{"a look for a twin is stored with the delivery, waits beside its conversation, and is no post", func(w *world) {
		w.say(conversation, post("a", conversation), post("b", conversation))
		row := w.first(minute)
		look := core.Post{
			Key: "twin/1", To: row.To, Conversation: conversation, Kind: core.PostTwin,
			Twin: core.Twin{Key: "a", Part: 1, SentAt: time.Unix(7, 0).UTC()},
		}
		w.ok(w.AddCopies(w.ctx, row, core.Copies{Posts: []core.Post{look}}))
		w.ok(w.AddCopies(w.ctx, row, core.Copies{Posts: []core.Post{look}}))
		w.equal("due", keys(w.deliver(minute)), []string{"twin/1"})
		w.sent(row, "ref")
		w.equal("due", keys(w.deliver(minute)), []string{"b"})
		got := must(w.LoadPost(w.ctx, "twin/1"))(w)
		w.equal("the look", got.Post, look)
		w.equal("listed", keys(must(w.ListPosts(w.ctx, []core.RowState{core.RowWaiting}, "", 0))(w)), []string{"b"})
		w.equal("counted", must(w.Queue(w.ctx, 0))(w).Posts, 1)
		_, err := w.LoadPost(w.ctx, "none")
		w.fails(err, core.NotFound)
	}},
	{"a look for a twin is not stored for a delivery that is lost", func(w *world) {
		w.say(conversation, post("a", conversation))
		row := w.first(minute)
		w.sent(row, "ref")
		look := core.Post{Key: "twin/1", To: row.To, Conversation: conversation, Kind: core.PostTwin}
		w.fails(w.AddCopies(w.ctx, row, core.Copies{Posts: []core.Post{look}}), core.ClaimLost)
		_, err := w.LoadPost(w.ctx, "twin/1")
		w.fails(err, core.NotFound)
	}},
	{"a part moves to another message, unless it has changed or is being delivered", func(w *world) {
		w.say(conversation, post("a", conversation))
		row := w.first(minute)
		move := func(part int, from, to core.Ref, want bool) {
			w.Helper()
			w.equal("moved", must(w.MovePart(w.ctx, "a", part, from, to))(w), want)
		}
		move(0, "ref", "other", false)
		w.sent(row, "ref")
		move(1, "ref", "other", false)
		move(0, "none", "other", false)
		w.equal("moved", must(w.MovePart(w.ctx, "none", 0, "ref", "other"))(w), false)
		move(0, "ref", "other", true)
		w.equal("the parts", w.posted("a").Parts, []core.Part{{Ref: "other"}})
	}},
}
