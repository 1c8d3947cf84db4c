package storagetest

import (
	"time"

	"gatehouse/core"
)

// setback is how far the clock is set back in these examples.
const setback = time.Hour

// delays are waits that are legitimate, however long; each begins before the clock is set back.
var delays = []time.Duration{time.Second, 5 * minute, 24 * time.Hour}

var setbackExamples = []example{
	{"a post waits no longer than it was to wait", func(w *world) {
		for _, delay := range delays {
			w.say(conversation, post(delay.String(), conversation))
			w.ok(w.release(w.first(minute), delay))
			w.equal("before", w.deliver(minute), []core.OutboxRow(nil))
			w.db.Advance(-setback)
			w.sent(w.first(minute), "after the clock was set back")
		}
	}},
	{"a post of a conversation that a console serves, too", func(w *world) {
		w.say(conversation, post("a", conversation))
		w.ok(w.release(w.first(minute), minute))
		w.db.Advance(-setback)
		own := core.PostRequest{
			Owner: w.owner, Limit: 1,
			Scopes: []core.Scope{{Platform: platform, Conversations: []core.ConversationID{conversation}}},
		}
		w.equal("posts", keys(w.delivered(own, minute)), []string{"a"})
	}},
	{"a long delay that began after the clock was set back is kept", func(w *world) {
		w.db.Advance(-setback)
		for _, delay := range delays {
			w.say(conversation, post(delay.String(), conversation))
			w.ok(w.release(w.first(minute), delay))
			w.db.Advance(delay - time.Second/2)
			w.equal("before its time", w.deliver(minute), []core.OutboxRow(nil))
			w.db.Advance(time.Second)
			w.sent(w.first(minute), "in time")
		}
	}},
	{"a clock that was set back by less than has passed changes nothing", func(w *world) {
		w.say(conversation, post("a", conversation))
		w.ok(w.release(w.first(minute), 24*time.Hour))
		w.db.Advance(2 * setback)
		w.db.Advance(-setback)
		w.equal("posts", w.deliver(minute), []core.OutboxRow(nil))
	}},
	{"a card that was pressed is redrawn", func(w *world) {
		w.say(conversation, post("a", conversation))
		row := w.first(minute)
		w.sent(row, "1")
		w.say(conversation, post("a", conversation))
		w.ok(w.release(w.first(minute), time.Second))
		w.db.Advance(-setback)
		w.equal("posts", keys(w.deliver(minute)), []string{"a"})
	}},
	{"an event waits no longer than it was to wait, a message and a signal", func(w *world) {
		for _, delay := range delays {
			for _, accept := range []func() int64{
				func() int64 { return w.message(conversation) }, func() int64 { return w.signal(other, "inv") },
			} {
				seq := accept()
				c := w.claim(minute)
				w.ok(
					w.Finish(w.ctx,
						core.Finish{Claim: c, Retry: &core.Retry{After: delay, Category: core.ProviderUnavailable}}))
				w.idle()
				w.db.Advance(-setback)
				w.done(w.take(seq, minute), core.Finish{})
			}
		}
	}},
	{"a claim of a process that died ends", func(w *world) {
		held := must(w.AcquireLease(w.ctx, "shard", "dead", minute))(w)
		w.equal("held", held, true)
		w.db.Advance(-setback)
		w.equal("taken over", must(w.AcquireLease(w.ctx, "shard", "next", minute))(w), true)
		w.equal("and kept", must(w.AcquireLease(w.ctx, "shard", "dead", minute))(w), false)
	}},
	{"a limited name can be used, and is limited again", func(w *world) {
		for range 2 {
			for range 2 {
				w.equal("wait", must(w.TakeToken(w.ctx, "name", 2, minute))(w), time.Duration(0))
			}
			if wait := must(w.TakeToken(w.ctx, "name", 2, minute))(w); wait <= 0 || wait > minute {
				w.Errorf("the third use waits for %s", wait)
			}
			w.db.Advance(-setback)
		}
	}},
}
