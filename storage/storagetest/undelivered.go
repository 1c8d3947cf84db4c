package storagetest

import (
	"time"

	"gatehouse/core"
)

var undeliveredExamples = []example{
	{"Resend sends a post that gave up from its first missing part", func(w *world) {
		for state, parts := range map[core.RowState][]core.Part{core.RowDead: {{Ref: "one", More: true}}, core.RowUnknown: {{Ref: "one", More: true}, {InDoubt: true}}} {
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
		w.equal("in the end", must(w.Queue(w.ctx))(w).Posts, 0)
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
		w.equal("the queue", must(w.Queue(w.ctx))(w), core.QueueView{})
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
		w.ok(w.ReleasePost(w.ctx, row, time.Hour))
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
	w.ok(w.ReleasePost(w.ctx, row, 0))
	return row
}
