package storagetest

import (
	"gatehouse/core"
)

// read is a message that was read of an event.
func read(text string) core.Message {
	bob := core.Quotation{What: "forwarded message", Name: "Bob", ID: "plat:bob", Text: text}
	said := core.Said(core.Speaker{Name: "Ann", ID: "plat:ann"}, "look", []core.Block{core.Quote(bob)})
	return core.Message{Role: core.User, Content: said}
}

var fetchedExamples = []example{
	{"what was fetched for a message comes with its next claim, and with what repeats it", func(w *world) {
		seq := w.message(conversation)
		c := w.take(seq, minute)
		if c.Event.Fetched != nil {
			w.Fatalf("nothing was fetched, and yet %+v", c.Event.Fetched)
		}
		w.ok(w.KeepFetched(w.ctx, c, read("4711 is wrong")))
		w.ok(w.Release(w.ctx, c))
		c = w.take(seq, minute)
		want := read("4711 is wrong")
		w.equal("what was fetched", *c.Event.Fetched, want)
		w.done(c, core.Finish{End: core.End{Kind: core.EndErrored}})
		again := must(w.Retry(w.ctx, seq))(w)
		w.equal("what the repetition reads", *w.take(again.Seq, minute).Event.Fetched, want)
	}},
	{"an amendment before the turn forgets what was fetched", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		seq := w.accept(e)
		c := w.take(seq, minute)
		w.ok(w.KeepFetched(w.ctx, c, read("old")))
		w.ok(w.Release(w.ctx, c))
		w.wantEnd(w.amend(e, changed("2", "new words")), core.EndApplied)
		if c = w.take(seq, minute); c.Event.Fetched != nil {
			w.Fatalf("the turn reads %+v", c.Event.Fetched)
		}
	}},
	{"who has lost the claim stores nothing", func(w *world) {
		seq := w.message(conversation)
		c := w.take(seq, minute)
		w.ok(w.Release(w.ctx, c))
		w.fails(w.KeepFetched(w.ctx, c, read("late")), core.ClaimLost)
		if c = w.take(seq, minute); c.Event.Fetched != nil {
			w.Fatalf("the turn reads %+v", c.Event.Fetched)
		}
	}},
	{"what was fetched is erased with the session", func(w *world) {
		seq := w.message(conversation)
		c := w.take(seq, minute)
		w.ok(w.KeepFetched(w.ctx, c, read("secret")))
		w.done(c, core.Finish{})
		w.ok(w.DeleteSession(w.ctx, c.Session))
		if got := w.record(seq).Fetched; got != nil {
			w.Fatalf("still there: %+v", got)
		}
	}},
	{"events are listed by kind, and before another", func(w *world) {
		first, reset := w.message(conversation), w.accept(w.event(core.KindReset, conversation, ""))
		e := w.event(core.KindMessage, conversation, "")
		w.accept(e)
		later := w.event(core.KindMessage, conversation, "")
		w.accept(later)
		w.accept(w.event(core.KindControl, conversation, "status"))
		list := func(f core.EventFilter) (seqs []int64) {
			f.Conversation = conversation
			for _, r := range must(w.Events(w.ctx, f))(w) {
				seqs = append(seqs, r.Seq)
			}
			return seqs
		}
		both := []core.Kind{core.KindMessage, core.KindReset}
		w.equal("before the second", list(core.EventFilter{Platform: e.Platform, Before: e.ID, Kinds: both}),
			[]int64{reset, first})
		w.equal("messages alone", list(core.EventFilter{Platform: e.Platform, Before: e.ID, Kinds: both[:1]}),
			[]int64{first})
		w.equal("before one that is not there",
			list(core.EventFilter{Platform: e.Platform, Before: "none", Kinds: both}), []int64(nil))
	}},
}
