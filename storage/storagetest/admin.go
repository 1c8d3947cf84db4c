package storagetest

import (
	"time"

	"gatehouse/core"
	"gatehouse/storage/storagetest/sample"
)

var adminExamples = []example{
	{"events are listed, latest first", func(w *world) {
		a, b, c := w.message(conversation), w.message(conversation), w.message(other)
		w.done(w.claims(1, minute)[0], core.Finish{End: core.End{Kind: core.EndDead, Cause: "x"}})
		w.changed(w.claims(1, minute)[0], core.Changes{NewGeneration: true})
		for name, f := range map[string]struct {
			filter core.EventFilter
			want   []int64
		}{
			"all":            {core.EventFilter{}, []int64{c, b, a}},
			"at most two":    {core.EventFilter{Limit: 2}, []int64{c, b}},
			"dead":           {core.EventFilter{Ends: []core.EndKind{core.EndDead}}, []int64{a}},
			"two ends":       {core.EventFilter{Ends: []core.EndKind{core.EndDead, core.EndReplied}}, []int64{b, a}},
			"no end":         {core.EventFilter{Ends: []core.EndKind{}}, []int64{}},
			"waiting":        {core.EventFilter{Waiting: true}, []int64{c}},
			"a conversation": {core.EventFilter{Conversation: conversation}, []int64{b, a}},
			"both":           {core.EventFilter{Conversation: other, Waiting: true}, []int64{c}},
			"a session":      {core.EventFilter{Session: conversation.Session(1)}, []int64{b, a}},
			"an invocation":  {core.EventFilter{Invocation: w.record(b).Invocation}, []int64{b}},
			"one":            {core.EventFilter{Seq: b}, []int64{b}},
			"none":           {core.EventFilter{Seq: 99}, []int64{}},
		} {
			w.equal(name, seqs(must(w.Events(w.ctx, f.filter))(w)), f.want)
		}
	}},
	{"the queue shows what waits", func(w *world) {
		w.equal("in the beginning", must(w.Queue(w.ctx, 0))(w), core.QueueView{})
		w.suspend(conversation, "a", core.Rule{})
		a := w.message(conversation)
		w.message(conversation)
		dead := w.message(other)
		w.done(w.claimOf(dead),
			core.Finish{
				End:     core.End{Kind: core.EndDead},
				Changes: core.Changes{Posts: []core.Post{post("x", other), post("y", "plat:y")}},
			})
		for _, row := range w.deliver(minute) {
			switch row.Key {
			case "x":
				row.State = core.RowDead
				w.ok(w.release(row, 0))
			case "y":
				row.State = core.RowUnknown
				w.ok(w.release(row, 0))
			}
		}
		w.ok(w.SetPaused(w.ctx, true))
		q := must(w.Queue(w.ctx, 0))(w)
		conversations := q.Entries
		q.Entries = nil
		w.equal("the counts", q,
			core.QueueView{Paused: true, Queues: 1, Posts: 1, InDoubt: 1, DeadPosts: 1, Dead: 1, Approvals: 1})
		if len(conversations) != 1 || conversations[0].Key != conversation.Queue() ||
			conversations[0].Platform != platform || conversations[0].Waiting != 2 ||
			conversations[0].Owner != w.owner {
			w.Fatalf("got %+v", conversations)
		}
		w.equal("the oldest", conversations[0].Oldest, w.record(a).AcceptedAt)
	}},
	{"a failed event is retried once", func(w *world) {
		for _, kind := range []core.EndKind{core.EndDead, core.EndErrored} {
			seq := w.message(conversation)
			w.done(w.take(seq, minute), core.Finish{End: core.End{Kind: kind}})
			r := must(w.Retry(w.ctx, seq))(w)
			if !r.Fresh || r.Seq <= seq {
				w.Fatalf("got %+v", r)
			}
			w.equal("a second call", must(w.Retry(w.ctx, seq))(w), core.Receipt{Seq: r.Seq})
			old, again := w.record(seq), w.record(r.Seq)
			if again.RetryOf != seq || again.Invocation != old.Invocation || again.ID == old.ID || again.Attempt != 0 {
				w.Fatalf("got %+v", again)
			}
			old.ID, again.ID = "", ""
			w.equal("the content", again.Event, old.Event)
			w.done(w.take(r.Seq, minute), core.Finish{})
			w.equal("after its end", must(w.Retry(w.ctx, seq))(w), core.Receipt{Seq: r.Seq})
		}
	}},
	{"an event that did not fail can't be retried", func(w *world) {
		seq := w.message(conversation)
		_, err := w.Retry(w.ctx, seq)
		w.fails(err, core.Invalid)
		w.done(w.take(seq, minute), core.Finish{})
		_, err = w.Retry(w.ctx, seq)
		w.fails(err, core.Invalid)
		_, err = w.Retry(w.ctx, 99)
		w.fails(err, core.NotFound)
	}},
	{"a failed signal is retried only while its turn is paused", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		w.done(s, core.Finish{End: core.End{Kind: core.EndDead}})
		again := must(w.Retry(w.ctx, s.Event.Seq))(w)
		s = w.take(again.Seq, minute)
		w.equal("its invocation", s.Event.Invocation, c.Event.Invocation)
		w.done(s,
			core.Finish{
				End:     core.End{Kind: core.EndErrored},
				Changes: core.Changes{Abandoned: []core.Abandon{{Invocation: c.Event.Invocation}}},
			})
		_, err := w.Retry(w.ctx, s.Event.Seq)
		w.fails(err, core.Invalid)
	}},
	{"what expired is asked for again, once", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Timeout: minute})
		_, err := w.AskAgain(w.ctx, "a", ann)
		w.fails(err, core.Invalid)
		w.expires("a")
		_, err = w.AskAgain(w.ctx, "a", bob)
		w.fails(err, core.NotAllowed)
		_, err = w.AskAgain(w.ctx, "none", ann)
		w.fails(err, core.NotFound)
		s := w.claim(minute)
		w.changed(s, core.Changes{Resumed: c.Event.Invocation, NewGeneration: true})
		r := must(w.AskAgain(w.ctx, "a", ann))(w)
		if !r.Fresh || r.Seq <= s.Event.Seq {
			w.Fatalf("got %+v", r)
		}
		w.equal("a second call", must(w.AskAgain(w.ctx, "a", ann))(w), core.Receipt{Seq: r.Seq})
		old, again := w.record(c.Event.Seq), w.record(r.Seq)
		if again.RetryOf != old.Seq || again.Invocation == old.Invocation || again.ID == old.ID || again.Attempt != 0 {
			w.Fatalf("got %+v", again)
		}
		old.ID, again.ID = "", ""
		w.equal("the content", again.Event, old.Event)
		next := w.take(r.Seq, minute)
		w.equal("the session", next.Session, conversation.Session(2))
		w.done(next, core.Finish{})
		w.equal("after its end", must(w.AskAgain(w.ctx, "a", ann))(w), core.Receipt{Seq: r.Seq})
		w.equal("the approval", must(w.LoadApproval(w.ctx, "a"))(w).State, core.Expired)
	}},
	{"of two approvals of one turn the message is sent again for one", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Timeout: minute})
		w.expires("a")
		s := w.claim(minute)
		w.done(s,
			core.Finish{
				End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
					Resumed:  c.Event.Invocation,
					Paused:   sample.Paused(s, "b", 1),
					Approval: sample.Asks(s, "b", core.Rule{Timeout: minute}),
				},
			})
		b := must(w.LoadApproval(w.ctx, "b"))(w)
		w.equal("the conversation", b.Conversation, conversation)
		w.expires("b")
		r := must(w.AskAgain(w.ctx, "a", ann))(w)
		w.equal("the same again", must(w.AskAgain(w.ctx, "a", ann))(w), core.Receipt{Seq: r.Seq})
		_, err := w.AskAgain(w.ctx, "b", b.Requester)
		w.fails(err, core.Invalid)
	}},
	{"what would do a call twice is not asked for again", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		call := must(w.LoadApproval(w.ctx, "a"))(w).Call
		must(
			w.BeginIntent(w.ctx, s,
				core.Intent{Approval: "a", Invocation: c.Event.Invocation, Tool: call.Tool, Digest: call.Digest}))(w)
		w.ok(w.FinishIntent(w.ctx, s, "a", core.ToolResult{Content: "paid"}))
		w.done(s,
			core.Finish{
				End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
					Resumed:  c.Event.Invocation,
					Paused:   sample.Paused(s, "b", 1),
					Approval: sample.Asks(s, "b", core.Rule{Timeout: minute}),
				},
			})
		b := must(w.LoadApproval(w.ctx, "b"))(w)
		w.expires("b")
		_, err := w.AskAgain(w.ctx, "b", b.Requester)
		w.fails(err, core.Invalid)
	}},
	{"a message that was changed is not asked for again", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Timeout: minute})
		w.amend(c.Event.Event, changed("1", "bread"))
		w.expires("a")
		_, err := w.AskAgain(w.ctx, "a", ann)
		w.fails(err, core.Invalid)
	}},
	{"a message that is no longer stored can't be asked again", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Timeout: minute})
		w.expires("a")
		w.changed(w.claim(minute), core.Changes{Resumed: c.Event.Invocation})
		w.ok(w.DeleteSession(w.ctx, c.Session))
		_, err := w.AskAgain(w.ctx, "a", ann)
		w.fails(err, core.NotFound)
		w.equal("the sentence", core.MessageOf(err), "The request is no longer stored. Please write it again.")

		c = w.suspend(other, "b", core.Rule{Timeout: minute})
		w.db.Advance(2 * minute)
		w.message(other)
		must(w.Decide(w.ctx, core.Decision{Approval: "b", Expire: true}))(w)
		for range 2 {
			w.changed(w.claim(minute), core.Changes{Resumed: c.Event.Invocation})
		}
		w.equal("the decision", must(w.LoadApproval(w.ctx, "b"))(w).State, core.Expired)
		must(w.Prune(w.ctx, minute))(w)
		if found := must(w.Events(w.ctx, core.EventFilter{Seq: c.Event.Seq}))(w); len(found) != 0 {
			w.Fatalf("it is still there: %+v", found)
		}
		_, err = w.AskAgain(w.ctx, "b", ann)
		w.fails(err, core.NotFound)
		w.equal("the sentence", core.MessageOf(err), "The request is no longer stored. Please write it again.")
	}},
	{"a repeated request waits for no turn", func(w *world) {
		w.message(conversation)
		w.claim(minute)
		seq := w.accept(w.event(core.KindAgain, conversation, "a"))
		got := w.controls(1, minute)
		if len(got) != 1 || got[0].Event.Seq != seq || got[0].Event.Body != (core.AskAgainEvent{Approval: "a"}) {
			w.Fatalf("got %+v", got)
		}
		w.done(got[0], core.Finish{End: core.End{Kind: core.EndDecided}})
	}},
	{"a dead letter can be dropped", func(w *world) {
		seq := w.message(conversation)
		w.fails(w.Drop(w.ctx, seq), core.Invalid)
		w.done(w.take(seq, minute), core.Finish{End: core.End{Kind: core.EndDead, Cause: "why"}})
		w.ok(w.Drop(w.ctx, seq))
		w.ok(w.Drop(w.ctx, seq))
		got := w.record(seq)
		if got.End.Kind != core.EndDropped || got.End.Cause != "why" {
			w.Fatalf("got %+v", got)
		}
		w.equal("dead letters", must(w.Queue(w.ctx, 0))(w).Dead, 0)
		w.fails(w.Drop(w.ctx, 99), core.NotFound)
	}},
	{"events are listed by platform", func(w *world) {
		mine := w.message(conversation)
		e := w.event(core.KindMessage, "elsewhere:x", "")
		e.Platform = "elsewhere"
		theirs := w.accept(e)
		w.equal("mine", seqs(must(w.Events(w.ctx, core.EventFilter{Platform: platform, Limit: 1}))(w)), []int64{mine})
		w.equal("theirs", seqs(must(w.Events(w.ctx, core.EventFilter{Platform: "elsewhere"}))(w)), []int64{theirs})
		w.equal("one of theirs", seqs(must(w.Events(w.ctx, core.EventFilter{Platform: "elsewhere", ID: e.ID}))(w)),
			[]int64{theirs})
		w.equal("an unknown one", seqs(must(w.Events(w.ctx, core.EventFilter{Platform: platform, ID: e.ID}))(w)),
			[]int64{})
	}},
	{"notes are kept by owner, and a repeat makes two", func(w *world) {
		w.ok(w.AddNote(w.ctx, "ann", "one"))
		w.ok(w.AddNote(w.ctx, "bob", "his"))
		w.ok(w.AddNote(w.ctx, "ann", "two"))
		w.ok(w.AddNote(w.ctx, "ann", "two"))
		w.equal("hers", must(w.Notes(w.ctx, "ann"))(w), []string{"one", "two", "two"})
		w.equal("nobody's", must(w.Notes(w.ctx, "cleo"))(w), []string{})
	}},
}

// expires lets the deadline of an approval pass.
func (w *world) expires(id core.ApprovalID) {
	w.Helper()
	w.db.Advance(2 * minute)
	must(w.Decide(w.ctx, core.Decision{Approval: id, Expire: true}))(w)
}

// claimOf claims every conversation and returns the claim of one event.
func (w *world) claimOf(seq int64) core.Claim {
	w.Helper()
	var wanted core.Claim
	for _, c := range w.claims(10, minute) {
		if c.Event.Seq == seq {
			wanted = c
		}
	}
	if wanted.Fence == 0 {
		w.Fatalf("event %d is not ready", seq)
	}
	return wanted
}

var figureExamples = []example{
	{"the figures of an empty database are zero", func(w *world) {
		f := must(w.Figures(w.ctx))(w)
		w.equal("the database has a size", f.Bytes > 0, true)
		f.Bytes, f.LogBytes = 0, 0
		w.equal("figures", f, core.Figures{})
		closed, last, err := w.ClosedAfter(w.ctx, 0)
		w.ok(err)
		w.equal("closed", len(closed), 0)
		w.equal("last", last, int64(0))
	}},
	{"the figures count what waits, and say since when", func(w *world) {
		w.say(conversation, post("a", conversation), post("b", conversation))
		w.db.Advance(time.Hour)
		w.message(conversation)
		f := must(w.Figures(w.ctx))(w)
		w.equal("unsent", f.Unsent, 2)
		w.equal("waiting", f.Waiting, 1)
		w.equal("the oldest post is older", f.OldestWaiting.Sub(f.OldestUnsent) >= time.Hour, true)
		row := w.first(minute)
		row.State, row.Parts = core.RowUnknown, []core.Part{{InDoubt: true}}
		w.ok(w.release(row, 0))
		w.claim(minute)
		f = must(w.Figures(w.ctx))(w)
		w.equal("what runs waits for nothing", f.OldestWaiting.IsZero(), true)
		w.equal("but has not ended", f.Waiting, 1)
		w.equal("unsent", f.Unsent, 1)
		w.equal("unknown", f.Unknown, 1)
	}},
	{"closed approvals are told once, with how long they were open", func(w *world) {
		_, _, err := w.OpenExternal(w.ctx, external("x", ""), nil, 1)
		w.ok(err)
		head := must(w.Figures(w.ctx))(w)
		w.equal("open", head.Approvals, 1)
		w.db.Advance(time.Hour)
		must(w.Decide(w.ctx, sample.Vote("x", bob, core.Deny)))(w)
		closed, last, err := w.ClosedAfter(w.ctx, head.AuditHead)
		w.ok(err)
		w.equal("closed", len(closed), 1)
		w.equal("result", closed[0].Result, core.Denied)
		w.equal("open for an hour", closed[0].Open >= time.Hour && closed[0].Open < 2*time.Hour, true)
		again, _, err := w.ClosedAfter(w.ctx, last)
		w.ok(err)
		w.equal("told again", len(again), 0)
	}},
}
