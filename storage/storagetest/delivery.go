package storagetest

import (
	"time"

	"gatehouse/core"
)

var deliveryExamples = []example{
	{"one post in flight per destination, in order", func(w *world) {
		w.say(conversation, post("a", conversation), post("x", other), post("b", conversation))
		rows := w.deliver(minute)
		w.equal("first", keys(rows), []string{"a", "x"})
		w.equal("meanwhile", len(w.deliver(minute)), 0)
		w.sent(rows[0], "r")
		w.equal("then", keys(w.deliver(minute)), []string{"b"})
	}},
	{"no more than the limit", func(w *world) {
		w.say(conversation, post("a", conversation), post("x", other))
		w.equal("one", len(w.delivered(core.PostRequest{Limit: 1, Scopes: scope}, over)), 1)
		w.equal("none", len(w.delivered(core.PostRequest{Scopes: scope}, over)), 0)
	}},
	{"a post that waits delays those behind it", func(w *world) {
		w.say(conversation, post("a", conversation), post("b", conversation), post("x", other))
		row := w.deliver(minute)[0]
		row.Attempts, row.Cause = 1, "429"
		w.ok(w.release(row, minute))
		w.equal("meanwhile", len(w.deliver(minute)), 0)
		w.db.Advance(minute)
		again := w.deliver(minute)
		if again[0].Key != "a" && again[1].Key != "a" {
			w.Fatalf("got %v", keys(again))
		}
		if got := w.posted("a"); got.Attempts != 1 || got.Cause != "429" || got.State != core.RowWaiting {
			w.Fatalf("got %+v", got)
		}
	}},
	{"a dead or unknown post delays no other, and is not sent again", func(w *world) {
		for _, state := range []core.RowState{core.RowDead, core.RowUnknown} {
			a, b := post("a-"+string(state), conversation), post("b-"+string(state), conversation)
			w.say(conversation, a, b)
			row := w.first(minute)
			row.State, row.Cause, row.Parts = state, "lost", []core.Part{{InDoubt: true}}
			w.ok(w.release(row, 0))
			w.say(conversation, a) // even when it is changed: a send could double it
			next := w.first(minute)
			w.equal("next", next.Key, b.Key)
			w.sent(next, "r")
			w.equal("then", len(w.deliver(minute)), 0)
			w.equal("its state", w.posted(a.Key).State, state)
		}
	}},
	{"a post that changes in flight and is then in doubt is not sent again", func(w *world) {
		w.say(conversation, post("a", conversation))
		row := w.first(minute)
		w.say(conversation, post("a", conversation))
		row.State, row.Parts = core.RowUnknown, []core.Part{{InDoubt: true}}
		w.ok(w.release(row, 0))
		w.equal("due", len(w.deliver(minute)), 0)
		w.equal("its state", w.posted("a").State, core.RowUnknown)
	}},
	{"a dead post that can be edited is due again when it changes", func(w *world) {
		w.say(conversation, post("a", conversation))
		row := w.first(minute)
		row.State, row.Parts = core.RowDead, []core.Part{{Ref: "r"}}
		w.ok(w.release(row, 0))
		w.say(conversation, post("a", conversation))
		w.equal("due", w.first(minute).Parts[0].Ref, core.Ref("r"))
	}},
	{"the state of the parts is stored before and after a send", func(w *world) {
		w.say(conversation, post("a", conversation))
		row := w.first(minute)
		row.Parts = []core.Part{{Ref: "one", More: true}, {InDoubt: true}}
		w.ok(w.SavePost(w.ctx, row))
		w.equal("before the answer", w.posted("a").Parts, row.Parts)
		w.restart()
		again := w.first(minute)
		w.equal("after a crash", again.Parts, row.Parts)
		if again.Fence <= row.Fence {
			w.Fatalf("fence %d after %d", again.Fence, row.Fence)
		}
		again.Parts = []core.Part{{Ref: "one"}, {Ref: "two"}}
		again.State, again.Shown = core.RowSent, again.Wanted
		w.ok(w.release(again, 0))
		got := w.posted("a")
		if got.State != core.RowSent || got.SentAt.IsZero() || got.Shown != 1 || got.Owner != "" {
			w.Fatalf("got %+v", got)
		}
		w.equal("in the end", got.Parts, again.Parts)
	}},
	{"an older claim's answer changes nothing", func(w *world) {
		w.say(conversation, post("a", conversation))
		old := w.first(over)
		row := w.first(minute)
		before := w.posted("a")
		old.State, old.Shown, old.Parts = core.RowSent, 1, []core.Part{{Ref: "x"}}
		w.fails(w.SavePost(w.ctx, old), core.ClaimLost)
		w.fails(w.release(old, 0), core.ClaimLost)
		w.equal("the row", w.posted("a"), before)
		w.sent(row, "r")
		row.State = core.RowWaiting
		w.fails(w.release(row, 0), core.ClaimLost)
		w.equal("its state", w.posted("a").State, core.RowSent)
	}},
	{"saving keeps the post in flight, and a change made meanwhile", func(w *world) {
		w.say(conversation, post("a", conversation))
		row := w.first(minute)
		changed := post("a", conversation)
		changed.Text = "changed"
		w.say(conversation, changed)
		w.ok(w.SavePost(w.ctx, row))
		w.equal("due", len(w.deliver(minute)), 0)
		if got := w.posted("a"); got.Text != "changed" || got.Wanted != 2 {
			w.Fatalf("got %+v", got)
		}
	}},
	{"a dead owner's post can be taken over", func(w *world) {
		w.say(conversation, post("a", conversation))
		w.first(over)
		w.first(minute)
	}},
	{"a live process keeps its posts when another starts", func(w *world) {
		w.say(conversation, post("a", conversation))
		w.first(minute)
		second := w.view()
		owner := w.register(second)
		w.equal("due", len(must(second.ClaimPosts(w.ctx, core.PostRequest{Owner: owner, Limit: 1, Scopes: scope}))(w)),
			0)
	}},
	{"only what the process serves is claimed", func(w *world) {
		e := post("e", "else:one")
		e.To.Platform = "else"
		w.say(conversation, post("a", conversation), post("b", other), e)
		ask := func(scopes ...core.Scope) []string {
			return keys(w.delivered(core.PostRequest{Limit: 10, Scopes: scopes}, over))
		}
		w.equal("without a scope", ask(), []string{})
		w.equal("a platform", ask(core.Scope{Platform: platform}), []string{"a", "b"})
		w.equal("another", ask(core.Scope{Platform: "else"}), []string{"e"})
		w.equal("one conversation", ask(core.Scope{Platform: platform, Conversations: []core.ConversationID{other}}),
			[]string{"b"})
		w.equal("no conversation", ask(core.Scope{Platform: platform, Conversations: []core.ConversationID{}}),
			[]string{})
		w.equal("a conversation of another",
			ask(core.Scope{Platform: platform, Conversations: []core.ConversationID{"else:one"}}), []string{})
	}},
	{"a clock that steps back delays no post that is due", func(w *world) {
		w.say(conversation, post("a", conversation))
		w.db.Advance(-48 * time.Hour)
		w.say(other, post("b", other))
		w.equal("due", keys(w.deliver(minute)), []string{"a", "b"})
	}},
	{"a claim needs an owner, a release a state", func(w *world) {
		_, err := w.ClaimPosts(w.ctx, core.PostRequest{Limit: 1, Scopes: scope})
		w.fails(err, core.Invalid)
		w.say(conversation, post("a", conversation))
		row := w.first(minute)
		row.State = ""
		w.fails(w.release(row, 0), core.Invalid)
	}},
}

var undeliveredExamples = []example{
	{"Resend sends a post that gave up from its first missing part", func(w *world) {
		for state, parts := range map[core.RowState][]core.Part{
			core.RowDead: {{Ref: "one", More: true}}, core.RowUnknown: {{Ref: "one", More: true}, {InDoubt: true}},
		} {
			row := w.gaveUp(string(state), state, parts)
			w.ok(w.Resend(w.ctx, row.Seq))
			w.ok(w.Resend(w.ctx, row.Seq))
			again := w.first(minute)
			w.equal("which", again.Key, row.Key)
			w.equal("its parts", again.Parts, []core.Part{{Ref: "one", More: true}})
			if again.Attempts != 0 || again.Cause != "" || again.State != core.RowWaiting {
				w.Fatalf("got %+v", again)
			}
			w.ok(w.Resend(w.ctx, row.Seq)) // in flight
			w.equal("meanwhile", len(w.deliver(minute)), 0)
			w.sent(again, "two")
		}
		w.equal("in the end", must(w.Queue(w.ctx, 0))(w).Posts, 0)
	}},
	{"a post that gave up keeps its place before later ones", func(w *world) {
		row := w.gaveUp("a", core.RowDead, nil)
		w.say(conversation, post("b", conversation))
		w.ok(w.Resend(w.ctx, row.Seq))
		w.sent(w.first(minute), "a")
		w.equal("then", w.first(minute).Key, "b")
	}},
	{"a post that gave up can be dropped, and still be resent", func(w *world) {
		row := w.gaveUp("a", core.RowUnknown, []core.Part{{InDoubt: true}})
		w.ok(w.DropPost(w.ctx, row.Seq))
		w.ok(w.DropPost(w.ctx, row.Seq))
		w.equal("its state", w.posted("a").State, core.RowDropped)
		w.equal("the queue", must(w.Queue(w.ctx, 0))(w), core.QueueView{})
		w.equal("due", len(w.deliver(minute)), 0)
		w.say(conversation, post("a", conversation))
		w.equal("due once it changes", len(w.deliver(minute)), 0)
		w.ok(w.Resend(w.ctx, row.Seq))
		w.equal("again", w.first(minute).Key, "a")
	}},
	{"a post that was delivered or waits is neither resent nor dropped", func(w *world) {
		w.say(conversation, post("a", conversation))
		seq := w.posted("a").Seq
		w.fails(w.DropPost(w.ctx, seq), core.Invalid)
		w.ok(w.Resend(w.ctx, seq))
		row := w.first(minute)
		w.fails(w.DropPost(w.ctx, seq), core.Invalid)
		w.sent(row, "r")
		w.fails(w.DropPost(w.ctx, seq), core.Invalid)
		w.fails(w.Resend(w.ctx, seq), core.Invalid)
		w.fails(w.DropPost(w.ctx, 99), core.NotFound)
		w.fails(w.Resend(w.ctx, 99), core.NotFound)
	}},
	{"Resend does not hurry a post that waits for its next attempt", func(w *world) {
		w.say(conversation, post("a", conversation))
		row := w.first(minute)
		row.Attempts, row.Cause = 3, "429"
		w.ok(w.release(row, time.Hour))
		w.ok(w.Resend(w.ctx, row.Seq))
		w.equal("due", len(w.deliver(minute)), 0)
		w.equal("its tries", w.posted("a").Attempts, 3)
	}},
}

// gaveUp returns a post whose delivery ended in a state.
func (w *world) gaveUp(key string, state core.RowState, parts []core.Part) core.OutboxRow {
	w.Helper()
	w.say(conversation, post(key, conversation))
	row := w.first(minute)
	row.State, row.Parts, row.Attempts, row.Cause = state, parts, 7, "why"
	w.ok(w.release(row, 0))
	return row
}

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
