package storagetest

import (
	"encoding/json"
	"sync"

	"gatehouse/core"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/storagetest/sample"
)

// amend accepts an amendment of an event and returns how it ended.
func (w *world) amend(of core.Event, a core.Amendment) core.End {
	w.Helper()
	e := w.event(core.KindAmend, of.Conversation, of.ID)
	e.Actor = of.Actor
	e.Payload, _ = json.Marshal(a)
	r := must(w.Accept(w.ctx, e))(w)
	if !r.Fresh {
		w.Fatalf("the amendment was not taken: %+v", r)
	}
	got := w.record(r.Seq)
	if got.EndedAt.IsZero() {
		w.Fatalf("the amendment has no end")
	}
	w.equal("the receipt of the same amendment", must(w.Accept(w.ctx, e))(w), core.Receipt{Seq: r.Seq})
	return got.End
}

func (w *world) wantEnd(got core.End, kind core.EndKind) {
	w.Helper()
	if got.Kind != kind {
		w.Fatalf("the amendment ended %+v, want %s", got, kind)
	}
}

// changed is an amendment with a new text.
func changed(revision, text string) core.Amendment {
	payload, _ := json.Marshal(text)
	return core.Amendment{Revision: revision, Payload: payload, Text: text}
}

var amendExamples = []example{
	{"a follow-up is stored only if its conversation is known", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		e.FollowUp = true
		w.equal("the receipt", must(w.Accept(w.ctx, e))(w), core.Receipt{})
		w.idle()
		w.message(conversation)
		if r := must(w.Accept(w.ctx, e))(w); !r.Fresh {
			w.Fatalf("the follow-up was not taken: %+v", r)
		}
		e = w.event(core.KindControl, other, "stop")
		e.FollowUp = true
		w.equal("the receipt of a word elsewhere", must(w.Accept(w.ctx, e))(w), core.Receipt{})
	}},
	{"an amendment before the turn replaces the payload", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		seq := w.accept(e)
		w.wantEnd(w.amend(e, changed("2", "new words")), core.EndApplied)
		c := w.take(seq, minute)
		if string(c.Event.Payload) != `"new words"` {
			w.Fatalf("the turn reads %s", c.Event.Payload)
		}
		w.wantEnd(w.amend(e, changed("3", "too late")), core.EndIgnored)
		if got := w.record(seq); string(got.Payload) != `"new words"` {
			w.Fatalf("a running turn's event says %s", got.Payload)
		}
		w.done(c, core.Finish{})
		w.wantEnd(w.amend(e, changed("4", "much too late")), core.EndIgnored)
		w.idle()
	}},
	{"an earlier amendment that arrives late changes nothing", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		seq := w.accept(e)
		w.wantEnd(w.amend(e, changed("5", "the last words")), core.EndApplied)
		w.wantEnd(w.amend(e, changed("4", "words between")), core.EndIgnored)
		if got := w.record(seq); string(got.Payload) != `"the last words"` {
			w.Fatalf("the event says %s", got.Payload)
		}
	}},
	{"a message deleted before its turn is withdrawn, and the next one is claimed", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		first, second := w.accept(e), w.message(conversation)
		w.wantEnd(w.amend(e, core.Amendment{Revision: "2"}), core.EndApplied)
		if got := w.record(first); got.End.Kind != core.EndWithdrawn || got.EndedAt.IsZero() {
			w.Fatalf("the event ended %+v", got.End)
		}
		w.done(w.take(second, minute), core.Finish{})
		w.idle()
	}},
	{"an amendment reaches what repeats the message", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Timeout: minute})
		w.expires("a")
		w.changed(w.claim(minute), core.Changes{Resumed: c.Event.Invocation})
		again := must(w.AskAgain(w.ctx, "a", ann))(w)
		w.wantEnd(w.amend(c.Event.Event, changed("1", "bread")), core.EndApplied)
		w.wantEnd(w.amend(c.Event.Event, changed("0", "from before")), core.EndIgnored)
		next := w.take(again.Seq, minute)
		if string(next.Event.Payload) != `"bread"` {
			w.Fatalf("the turn reads %s", next.Event.Payload)
		}
		w.done(next,
			core.Finish{
				End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
					Paused:   sample.Paused(next, "b", 1),
					Approval: sample.Asks(next, "b", core.Rule{Timeout: minute}),
				},
			})
		w.wantEnd(w.amend(c.Event.Event, changed("2", "butter")), core.EndApplied)
		w.equal("the new card", must(w.RecordedApproval(w.ctx, "b"))(w).Changed, "butter")
		w.equal("the old card", must(w.LoadApproval(w.ctx, "a"))(w).Changed, "")
	}},
	{"an event that backs off can still be amended", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		seq := w.accept(e)
		w.ok(w.Finish(w.ctx, core.Finish{Claim: w.take(seq, minute), Retry: &core.Retry{After: minute}}))
		w.wantEnd(w.amend(e, changed("2", "new words")), core.EndApplied)
		w.db.Advance(minute)
		if c := w.take(seq, minute); string(c.Event.Payload) != `"new words"` {
			w.Fatalf("the turn reads %s", c.Event.Payload)
		}
	}},
	{"a user can't amend another user's message", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		seq := w.accept(e)
		byBob := e
		byBob.Actor = bob
		w.wantEnd(w.amend(byBob, changed("2", "bob's words")), core.EndIgnored)
		if got := w.record(seq); string(got.Payload) != string(e.Payload) {
			w.Fatalf("the event says %s", got.Payload)
		}
	}},
	{"the platform can delete any message, but not change it", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		seq := w.accept(e)
		byNobody := e
		byNobody.Actor = core.Actor{}
		w.wantEnd(w.amend(byNobody, changed("2", "nobody's words")), core.EndIgnored)
		if got := w.record(seq); string(got.Payload) != string(e.Payload) {
			w.Fatalf("the event says %s", got.Payload)
		}
		w.wantEnd(w.amend(byNobody, core.Amendment{Revision: "3"}), core.EndApplied)
		if got := w.record(seq); got.End.Kind != core.EndWithdrawn || got.EndedAt.IsZero() {
			w.Fatalf("the event ended %+v", got.End)
		}
		w.idle()
	}},
	{"an amendment of an unknown event stores nothing", func(w *world) {
		e := w.event(core.KindAmend, conversation, "nothing")
		e.Payload, _ = json.Marshal(changed("2", "words"))
		w.equal("the receipt", must(w.Accept(w.ctx, e))(w), core.Receipt{})
		if n := len(must(w.Events(w.ctx, core.EventFilter{}))(w)); n != 0 {
			w.Fatalf("%d events are stored", n)
		}
		follow := w.event(core.KindMessage, conversation, "")
		follow.FollowUp = true
		w.equal("the receipt of a follow-up", must(w.Accept(w.ctx, follow))(w), core.Receipt{})
	}},
	{"an amendment that can't be read is refused", func(w *world) {
		e := w.event(core.KindAmend, conversation, "x")
		e.Payload = json.RawMessage(`{`)
		_, err := w.Accept(w.ctx, e)
		w.fails(err, core.Invalid)
	}},
	{"the card of an open approval shows the change, that of a decided one does not", func(w *world) {
		c := w.suspend(conversation, "a1", core.Rule{})
		a, e := must(w.LoadApproval(w.ctx, "a1"))(w), c.Event.Event
		w.sent(w.first(minute), "card")
		w.wantEnd(w.amend(e, changed("2", "new words")), core.EndApplied)
		if got := must(w.LoadApproval(w.ctx, a.ID))(w); got.Changed != "new words" || got.State != core.Open {
			w.Fatalf("the approval is %s and says %q", got.State, got.Changed)
		}
		w.sent(w.first(minute), "card")
		must(w.Decide(w.ctx, core.Decision{Approval: a.ID, Vote: &core.Vote{Actor: bob, Choice: core.Approve}}))(w)
		w.wantEnd(w.amend(e, changed("4", "last words")), core.EndIgnored)
	}},
	{"what a deleted message asks for is cancelled, and its paused turn waits to be abandoned", func(w *world) {
		c := w.suspend(conversation, "a1", core.Rule{})
		w.sent(w.first(minute), "card")
		next := w.message(conversation)
		e := w.event(core.KindAmend, conversation, c.Event.ID)
		e.Payload, _ = json.Marshal(core.Amendment{Revision: "2"})
		e.Address = core.Address{}
		r := must(w.Accept(w.ctx, e))(w)
		w.equal("the receipt of the same deletion", must(w.Accept(w.ctx, e))(w), core.Receipt{Seq: r.Seq})
		a := must(w.RecordedApproval(w.ctx, "a1"))(w)
		if a.State != core.Cancelled || a.Reason == "" {
			w.Fatalf("the approval is %s: %q", a.State, a.Reason)
		}
		w.sent(w.first(minute), "card")
		got := w.take(r.Seq, minute) // before the next message
		if got.Event.Invocation != c.Event.Invocation || got.Event.Address != c.Event.Address {
			w.Fatalf("the turn of the deletion has %+v", got.Event)
		}
		w.done(got, core.Finish{End: core.End{Kind: core.EndApplied}, Changes: core.Changes{
			Abandoned: []core.Abandon{{Invocation: c.Event.Invocation, Cancel: true}},
		}})
		if p := must(w.LoadPaused(w.ctx, c.Event.Invocation, ""))(w); p != nil {
			w.Fatal("the turn is still paused")
		}
		w.done(w.take(next, minute), core.Finish{})
	}},
	{"a decision on what a deleted message asked for does not count any more", func(w *world) {
		c := w.suspend(conversation, "a1", core.Rule{})
		must(w.Decide(w.ctx, core.Decision{Approval: "a1", Vote: &core.Vote{Actor: bob, Choice: core.Approve}}))(w)
		e := w.event(core.KindAmend, conversation, c.Event.ID)
		e.Payload, _ = json.Marshal(core.Amendment{Revision: "2"})
		r := must(w.Accept(w.ctx, e))(w)
		w.equal("the approval", must(w.RecordedApproval(w.ctx, "a1"))(w).State, core.Cancelled)
		w.done(w.take(r.Seq, minute), core.Finish{End: core.End{Kind: core.EndApplied}})
		w.idle()
	}},
	{"the turn of a message that is deleted meanwhile stores no end but that", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		seq := w.accept(e)
		c := w.take(seq, minute)
		w.wantEnd(w.amend(e, core.Amendment{Revision: "2"}), core.EndApplied)
		must(w.Stop(w.ctx, conversation, ann))(w) // does not take it back
		h := must(w.StopRequested(w.ctx, c))(w)
		if !h.Stop || !h.Deleted {
			w.Fatalf("its turn is told %+v", h)
		}
		w.equal("to its process", must(w.Holds(w.ctx, c.Owner, true))(w), []core.Hold{h})
		for _, f := range []core.Finish{
			{Retry: &core.Retry{}}, {End: core.End{Kind: core.EndDead}},
			{Changes: core.Changes{Posts: []core.Post{{Key: "k", Kind: core.PostReply, To: c.Event.Address}}}},
			{End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
				Paused: sample.Paused(c, "a", 1), Approval: sample.Asks(c, "a", core.Rule{Timeout: minute}),
			}},
		} {
			w.fails(w.Finish(w.ctx, finish(c, f)), core.Stopped)
		}
		w.done(c, core.Finish{End: core.End{Kind: core.EndWithdrawn}})
		c = w.take(w.message(conversation), minute)
		w.equal("the next turn is told", must(w.StopRequested(w.ctx, c))(w).Stop, false)
		w.done(c, core.Finish{})
	}},
	{"what the platform adds to a message is used before its turn, and shown on no card", func(w *world) {
		added := func(revision string) core.Amendment {
			return core.Amendment{Revision: revision, Payload: json.RawMessage(`"with a preview"`), Added: true}
		}
		e := w.event(core.KindMessage, other, "")
		seq := w.accept(e)
		w.wantEnd(w.amend(e, added("0/2")), core.EndApplied)
		c := w.take(seq, minute)
		if string(c.Event.Payload) != `"with a preview"` {
			w.Fatalf("the turn reads %s", c.Event.Payload)
		}
		w.wantEnd(w.amend(e, added("0/3")), core.EndIgnored)
		w.ok(w.Finish(w.ctx, core.Finish{Claim: c, Retry: &core.Retry{After: minute}}))
		w.wantEnd(w.amend(e, added("0/4")), core.EndIgnored)
		w.db.Advance(minute)
		w.done(w.take(seq, minute), core.Finish{})

		asked := w.suspend(conversation, "a1", core.Rule{}).Event.Event
		w.sent(w.first(minute), "card")
		w.wantEnd(w.amend(asked, added("2/5")), core.EndIgnored)
		w.equal("the card", must(w.LoadApproval(w.ctx, "a1"))(w).Changed, "")
		w.wantEnd(w.amend(asked, changed("2", "the edit before it, which arrives late")), core.EndApplied)
		w.sent(w.first(minute), "card")
	}},
}

var inboxExamples = []example{
	{"an event is stored unchanged", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		e.Actor = core.Actor{ID: "plat:x", Name: "<X> & Y", Local: true, Groups: []string{"plat:g"}}
		e.Address.Thread = "17.4"
		e.Payload = json.RawMessage("{\n \"a\": [1,  2.50, \"<b>\"]}\xff")
		r := must(w.Accept(w.ctx, e))(w)
		got := w.record(r.Seq)
		w.equal("the event", got.Event, e)
		if !r.Fresh || got.Invocation == "" || got.AcceptedAt.IsZero() || got.Attempt != 0 || !got.EndedAt.IsZero() ||
			got.Session != "" {
			w.Fatalf("receipt %+v, record %+v", r, got)
		}
	}},
	{"a payload may be missing", func(w *world) {
		e := w.event(core.KindControl, conversation, "stop")
		e.Payload = nil
		if got := w.record(w.accept(e)); got.Payload != nil {
			w.Fatalf("got payload %q", got.Payload)
		}
	}},
	{"a known event is not stored again", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		first := must(w.Accept(w.ctx, e))(w)
		e.Conversation, e.Payload = other, json.RawMessage(`"another"`)
		again := must(w.Accept(w.ctx, e))(w)
		w.equal("the receipt", again, core.Receipt{Seq: first.Seq})
		w.done(w.take(first.Seq, minute), core.Finish{})
		w.equal("the receipt after the end", must(w.Accept(w.ctx, e))(w), core.Receipt{Seq: first.Seq})
		w.idle()
	}},
	{"the same id on two platforms is two events", func(w *world) {
		e := w.event(core.KindMessage, conversation, "")
		first := w.accept(e)
		e.Platform = "elsewhere"
		if r := must(w.Accept(w.ctx, e))(w); !r.Fresh || r.Seq == first {
			w.Fatalf("got %+v", r)
		}
	}},
	{"numbers follow the order of commits", func(w *world) {
		a, b, c := w.message(conversation), w.message(other), w.message(conversation)
		if a >= b || b >= c {
			w.Fatalf("got %d, %d, %d", a, b, c)
		}
	}},
	{"each event has an invocation of its own, a signal the paused one", func(w *world) {
		a, b := w.record(w.message(conversation)), w.record(w.message(conversation))
		if a.Invocation == b.Invocation {
			w.Fatalf("both have %s", a.Invocation)
		}
		if got := w.record(w.signal(conversation, "inv-7")); got.Invocation != "inv-7" {
			w.Fatalf("the signal is for %s", got.Invocation)
		}
	}},
	{"an event without its key is refused", func(w *world) {
		for _, spoil := range []func(*core.Event){
			func(e *core.Event) { e.Platform = "" }, func(e *core.Event) { e.ID = "" },
			func(e *core.Event) { e.Conversation = "" }, func(e *core.Event) { e.Body = nil },
		} {
			e := w.event(core.KindMessage, conversation, "")
			spoil(&e)
			_, err := w.Accept(w.ctx, e)
			w.fails(err, core.Invalid)
		}
	}},
	{"many concurrent events are each stored once", func(w *world) {
		views := []*sqlstore.Store{w.Store, w.view()}
		const events, copies = 20, 4
		fresh := make(chan int64, events*copies)
		var wg sync.WaitGroup
		for i := range events {
			e := w.event(core.KindMessage, conversation, "")
			for j := range copies {
				wg.Go(func() {
					r, err := views[(i+j)%2].Accept(w.ctx, e)
					if err != nil {
						w.Errorf("accepting: %v", err)
					} else if r.Fresh {
						fresh <- r.Seq
					}
				})
			}
		}
		wg.Wait()
		close(fresh)
		seen := map[int64]bool{}
		for seq := range fresh {
			seen[seq] = true
		}
		if all := must(w.Events(w.ctx, core.EventFilter{}))(w); len(all) != events || len(seen) != events {
			w.Fatalf("%d events, %d fresh receipts, want %d", len(all), len(seen), events)
		}
	}},
	{"a cancelled call changes nothing", func(w *world) {
		ctx, cancel := contextThatIsOver(w)
		defer cancel()
		if _, err := w.Accept(ctx, w.event(core.KindMessage, conversation, "")); err == nil {
			w.Fatal("no error")
		}
		w.idle()
	}},
}
