package storagetest

import (
	"sync"

	"gatehouse/core"
	"gatehouse/core/audit"
)

// elsewhere is a copy that notifies instead of the quiet card "card/a".
func elsewhere(channel string) core.Post {
	return core.Post{
		Key: "card/a/" + channel, To: core.Address{Platform: platform, Channel: channel}, Conversation: conversation,
		Kind: core.PostCard, Approval: "a",
		Copy: true, Instead: "card/a",
	}
}

// quiet stores a quiet card that has been sent, and copies instead of it, which are returned in flight.
func (w *world) quiet(channels ...string) (copies []core.OutboxRow) {
	w.Helper()
	card := post("card/a", conversation)
	card.Kind, card.Approval, card.Quiet = core.PostCard, "a", true
	posts := []core.Post{card}
	for _, c := range channels {
		posts = append(posts, elsewhere(c))
	}
	w.say(conversation, posts...)
	rows := w.deliver(minute)
	w.sent(rows[0], "ref")
	return rows[1:]
}

func instead(posts ...core.Post) core.Fallback {
	notice := post("card/a/untold", conversation)
	return core.Fallback{Asks: "card/a", Copies: core.Copies{Posts: posts, LeftOut: 2}, Notice: &notice}
}

func refused(row core.OutboxRow) core.OutboxRow {
	row.State, row.Attempts, row.Cause = core.RowDead, 1, "refused"
	return row
}

var fallbackExamples = []example{
	{"an agent's request that reached nobody is recorded once, and listed until a card arrives", func(w *world) {
		copied := func(channel string) core.Post {
			to := core.Address{Platform: platform, Channel: channel}
			return core.Post{Key: "card/x/" + channel, To: to, Kind: core.PostCard, Approval: "x", Copy: true}
		}
		_, _, err := w.OpenExternal(w.ctx, external("x", ""), []core.Post{copied("a"), copied("b")}, 1)
		w.ok(err)
		untold := func(want ...core.ApprovalID) {
			w.Helper()
			w.equal("untold", len(must(w.Undelivered(w.ctx))(w)), len(want))
		}
		said := func(want int) {
			w.Helper()
			n := 0
			for _, action := range actions(must(w.AuditLog(w.ctx, 0, 0))(w)) {
				if action == audit.Undelivered {
					n++
				}
			}
			w.equal("the log says it", n, want)
		}
		rows := w.deliver(minute)
		untold()
		w.ok(w.FailPost(w.ctx, refused(rows[0]), 0, core.Fallback{}))
		untold() // the other one is on its way
		w.ok(
			w.FailPost(w.ctx, refused(rows[1]), 0,
				core.Fallback{Copies: core.Copies{Posts: []core.Post{copied("dm")}}}))
		untold()
		said(0)
		row := w.first(minute)
		row.Attempts, row.Cause = 1, "delivery_forbidden: no"
		for range 2 {
			w.ok(w.FailPost(w.ctx, row, 0, core.Fallback{}))
			untold("x")
			said(1)
			row = w.first(minute)
			row.Attempts, row.Cause = 2, "delivery_forbidden: still no"
		}
		w.sent(row, "ref")
		untold()
	}},
	{"a refused copy makes the quiet card ask, and tells others, in one step", func(w *world) {
		rows := w.quiet("ops")
		f := instead(elsewhere("dm"))
		w.ok(w.FailPost(w.ctx, refused(rows[0]), 0, f))
		w.fails(w.FailPost(w.ctx, refused(rows[0]), 0, f), core.ClaimLost)
		w.equal("the copy", w.posted("card/a/ops").State, core.RowDead)
		w.equal("due", keys(w.deliver(minute)), []string{"card/a", "card/a/dm"})
		w.equal("quiet", w.posted("card/a").Quiet, false)
		w.equal("left out", w.posted("card/a").LeftOut, 2)
		w.equal("version", w.posted("card/a").Wanted, 2)
	}},
	{"a copy that is refused again tells nothing twice", func(w *world) {
		row := w.quiet("ops")[0]
		for range 2 {
			row.Attempts, row.Cause = row.Attempts+1, "refused"
			w.ok(w.FailPost(w.ctx, row, 0, instead(elsewhere("dm"))))
			for _, next := range w.deliver(minute) {
				if next.Key == row.Key {
					row = next
				} else {
					w.sent(next, "ref")
				}
			}
		}
		w.equal("the rows", keys(must(w.ListPosts(w.ctx, nil, "", 0))(w)),
			[]string{"card/a/dm", "card/a/ops", "card/a"})
		w.equal("version", w.posted("card/a").Wanted, 2)
	}},
	{"a lost claim tells nobody", func(w *world) {
		row := w.quiet("ops")[0]
		row.Fence--
		w.fails(w.FailPost(w.ctx, row, 0, instead(elsewhere("dm"))), core.ClaimLost)
		w.equal("the rows", len(must(w.ListPosts(w.ctx, nil, "", 0))(w)), 2)
		w.equal("quiet", w.posted("card/a").Quiet, true)
	}},
	{"the notice is for when no copy arrives", func(w *world) {
		rows := w.quiet("one", "two")
		w.ok(w.FailPost(w.ctx, refused(rows[0]), 0, instead(elsewhere("dm"))))
		w.sent(rows[1], "ref")
		for _, row := range w.deliver(minute) {
			if row.Copy {
				w.ok(w.FailPost(w.ctx, refused(row), 0, instead()))
			}
		}
		for _, row := range must(w.ListPosts(w.ctx, nil, "", 0))(w) {
			if row.Kind == core.PostNotice {
				w.Fatalf("got %+v", row)
			}
		}
	}},
	{"of copies that fail at once, the last one adds the notice", func(w *world) {
		rows := w.quiet("one", "two", "three")
		var all sync.WaitGroup
		for _, row := range rows {
			all.Go(func() {
				if err := w.FailPost(w.ctx, refused(row), 0, instead()); err != nil {
					w.Errorf("%s: %v", row.Key, err)
				}
			})
		}
		all.Wait()
		w.equal("the notice", w.posted("card/a/untold").State, core.RowWaiting)
	}},
	{"approvers who were left out are noted on the card that is being sent", func(w *world) {
		card := post("card/a", conversation)
		card.Kind, card.Approval, card.Quiet = core.PostCard, "a", true
		w.say(conversation, card)
		row := w.first(minute)
		for range 2 {
			w.ok(w.AddCopies(w.ctx, row, core.Copies{Posts: []core.Post{elsewhere("dm")}, LeftOut: 4}))
		}
		w.sent(row, "ref")
		if got := w.posted("card/a"); got.Quiet || got.LeftOut != 4 || got.State != core.RowSent {
			w.Fatalf("got %+v", got)
		}
		w.equal("due", keys(w.deliver(minute)), []string{"card/a/dm"})
	}},
	{"the sentence in place of a refused answer is stored once, and does not follow the answer", func(w *world) {
		answer, later := post("a", conversation), post("b", conversation)
		answer.Event = 7
		said := answer
		said.Key, said.Kind, said.Text = answer.KeyInPlace(), core.PostNotice, "refused"
		f := core.Fallback{Copies: core.Copies{Posts: []core.Post{said}}}
		w.say(conversation, answer, later)
		fail := func() {
			w.Helper()
			row := w.first(minute)
			w.equal("next", row.Key, "a")
			w.ok(w.FailPost(w.ctx, refused(row), 0, f))
			w.fails(w.FailPost(w.ctx, refused(row), 0, f), core.ClaimLost)
			w.equal("its cause", w.posted("a").Cause, "refused")
		}
		resend := func() { w.Helper(); w.ok(w.Resend(w.ctx, w.posted("a").Seq)) }
		fail()
		w.equal("the rows", keys(must(w.ListPosts(w.ctx, nil, "", 0))(w)), []string{said.Key, "b", "a"})
		resend()
		w.equal("sent again", keys(must(w.ListPosts(w.ctx, nil, "", 0))(w)), []string{"b", "a"})
		fail()
		w.sent(w.first(minute), "b")
		sentence := w.first(minute)
		w.equal("the sentence", sentence.Text, "refused")
		resend()
		w.equal("in flight", w.posted(said.Key).Owner, sentence.Owner)
		w.sent(sentence, "said")
		resend()
		fail()
		w.equal("due", len(w.deliver(minute)), 0)
	}},
	{"a missing card, or one that asks already, is no error", func(w *world) {
		rows := w.quiet("one", "two")
		w.ok(w.FailPost(w.ctx, refused(rows[0]), 0, core.Fallback{Asks: "none"}))
		w.ok(w.FailPost(w.ctx, refused(rows[1]), 0, core.Fallback{}))
		w.equal("due", len(w.deliver(minute)), 0)
		w.equal("quiet", w.posted("card/a").Quiet, true)
	}},
}
