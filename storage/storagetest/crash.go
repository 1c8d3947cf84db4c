package storagetest

import (
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/storagetest/sample"
)

// lifeCycle returns the steps of a whole conversation: a message, a pause, a click, a resume with a tool, replies, and
// a new conversation. Each step makes one call, after reading what it needs. A step may be made twice.
func lifeCycle(w *world) []func() {
	e := w.event(core.KindMessage, conversation, "")
	next := w.event(core.KindReset, conversation, "")
	click := w.event(core.KindClick, conversation, "a")
	click.Actor = bob
	turn := func(do func(c core.Claim)) func() {
		return func() {
			for _, c := range w.claims(1, minute) {
				do(c)
			}
		}
	}
	deliver := func() {
		for _, row := range w.deliver(minute) {
			w.sent(row, "r")
		}
	}
	return []func(){
		func() { w.accept(e) },
		turn(func(core.Claim) {}), // taken, and the process dies
		turn(func(c core.Claim) { w.ok(w.AddPosts(w.ctx, c, []core.Post{indicator(c)})) }),
		deliver,
		turn(func(c core.Claim) { w.ok(w.SaveSession(w.ctx, c, w.session(c, 0, "half"))) }),
		turn(func(c core.Claim) {
			a := sample.Asks(c, "a", core.Rule{Timeout: 24 * time.Hour})
			w.done(c,
				core.Finish{
					End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
						Session:  w.session(c, 0, "please"),
						Paused:   sample.Paused(c, "a", 1),
						Approval: a,
						Posts:    []core.Post{sample.Card(a)},
					},
				})
		}),
		func() { // in flight, and the process dies
			for _, row := range w.deliver(minute) {
				row.Parts = []core.Part{{InDoubt: true}}
				w.ok(w.SavePost(w.ctx, row))
			}
		},
		deliver,
		func() { w.accept(click) },
		func() { w.controls(1, minute) },
		func() { // decided, and the process dies before the click's end
			for _, c := range w.controls(1, minute) {
				d := sample.Vote("a", bob, core.Approve)
				d.Event = c.Event.Seq
				must(w.Decide(w.ctx, d))(w)
			}
		},
		func() {
			for _, c := range w.controls(1, minute) {
				d := sample.Vote("a", bob, core.Approve)
				d.Event = c.Event.Seq
				must(w.Decide(w.ctx, d))(w)
				w.done(c, core.Finish{End: core.End{Kind: core.EndDecided}})
			}
		},
		turn(func(c core.Claim) { must(w.BeginIntent(w.ctx, c, sample.Intent(c, "a")))(w) }),
		turn(func(c core.Claim) { w.ok(w.FinishIntent(w.ctx, c, "a", core.ToolResult{Content: "done"})) }),
		turn(func(c core.Claim) {
			w.done(c,
				core.Finish{
					Changes: core.Changes{
						Resumed: c.Event.Invocation,
						Session: w.session(c, 1, "done"),
						Posts:   []core.Post{sample.Reply(c, "done")},
					},
				})
		}),
		deliver, deliver, deliver,
		func() { w.accept(next) },
		turn(func(c core.Claim) {
			w.done(c, core.Finish{
				End:     core.End{Kind: core.EndIgnored},
				Changes: core.Changes{NewGeneration: true},
			})
		}),
	}
}

// checkLifeCycle checks that the life cycle is complete and that everything happened once.
func (w *world) checkLifeCycle() {
	w.Helper()
	w.idle()
	w.equal("controls", len(w.controls(1, minute)), 0)
	w.equal("due", len(w.deliver(minute)), 0)
	events := must(w.Events(w.ctx, core.EventFilter{}))(w)
	ends := map[core.Kind]core.EndKind{}
	for _, e := range events {
		ends[e.Kind()] = e.End.Kind
	}
	w.equal("the events", len(events), 4)
	w.equal("their ends", ends, map[core.Kind]core.EndKind{
		core.KindMessage: core.EndSuspended, core.KindClick: core.EndDecided, core.KindSignal: core.EndReplied,
		core.KindReset: core.EndIgnored,
	})
	w.equal("the messages", w.texts(conversation.Session(1), core.Writer{}), []string{"please", "done"})
	log := must(w.AuditLog(w.ctx, 0, 0))(w)
	w.equal("the log", actions(log), []string{"opened", audit.Sent, "voted", "approved", "begun", "settled"})
	w.ok(audit.KeysOf(w.Signer()).Verify("", log))
	for _, row := range must(w.ListPosts(w.ctx, nil, "", 0))(w) {
		if row.State != core.RowSent || row.Shown != row.Wanted || row.On {
			w.Fatalf("got %+v", row)
		}
	}
	if rec := must(w.LoadIntent(w.ctx, "a"))(w); rec == nil || rec.Result == nil || rec.Result.Content != "done" {
		w.Fatalf("got %+v", rec)
	}
	w.message(conversation)
	w.equal("the next session", w.claim(minute).Session, conversation.Session(2))
}

// late has another process take the owner for dead; it goes on afterwards.
func (w *world) late() {
	w.Helper()
	observer := must(w.view().Register(w.ctx, "observer", 0))(w)
	for range sample.DeadAfter {
		w.ok(w.Beat(w.ctx, observer))
	}
}

var crashExamples = []example{
	{"the process crashes after every step", func(w *world) {
		for _, step := range lifeCycle(w) {
			step()
			w.restart()
		}
		w.checkLifeCycle()
	}},
	{"some processes crash, others are only late", func(w *world) {
		steps := lifeCycle(w)
		for i, step := range steps {
			step()
			if i%3 == 1 || i == len(steps)-1 {
				w.restart()
			} else {
				w.late() // it did not die, but did not beat for a while
			}
		}
		w.checkLifeCycle()
	}},
	{"another process makes every other step", func(w *world) {
		views := []*sqlstore.Store{w.Store, w.view()}
		owners := []string{w.owner, w.register(views[1])}
		for i, step := range lifeCycle(w) {
			w.Store, w.owner = views[i%2], owners[i%2]
			step()
			w.late()
		}
		w.checkLifeCycle()
	}},
}

// settle settles a database that was put back, in a process of its own for each batch.
func (w *world) settle() {
	w.Helper()
	w.ok(w.MarkRestored(w.ctx, core.RestoreMark{CatchUp: true}))
	for more := true; more; {
		w.restart()
		more = must(w.Settle(w.ctx))(w)
	}
	w.ok(w.EndRestore(w.ctx))
	w.equal("more to settle", must(w.Settle(w.ctx))(w), false)
	if m := must(w.RestoreMark(w.ctx))(w); m != nil {
		w.Fatalf("the mark is still there: %+v", m)
	}
}

// unknown checks that a restore has cancelled an approval.
func (w *world) unknown(id core.ApprovalID) core.Approval {
	w.Helper()
	a, i, err := w.Recorded(w.ctx, id)
	w.ok(err)
	if !a.Restored() || a.Reason != core.RestoredReason || i != nil {
		w.Fatalf("got %+v, %+v", a, i)
	}
	return a
}

var restoredExamples = []example{
	{"an open approval is cancelled, its card redrawn, and it can be asked again", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Timeout: minute})
		w.sent(w.first(minute), "ref")
		w.settle()
		a := w.unknown("a")
		if rec := must(w.LoadPaused(w.ctx, c.Event.Invocation, ""))(w); rec != nil {
			w.Fatalf("got %+v", rec)
		}
		row := w.first(minute)
		if row.Approval != "a" || row.Parts[0].Ref != "ref" || row.Wanted <= row.Shown {
			w.Fatalf("got %+v", row)
		}
		w.idle()
		_, err := w.Decide(w.ctx, sample.Vote("a", bob, core.Approve))
		w.fails(err, core.ApprovalDecided)
		r := must(w.AskAgain(w.ctx, "a", a.Requester))(w)
		w.take(r.Seq, minute)
		got := must(w.LastRestore(w.ctx))(w)
		w.equal("what was settled", got.Settled, core.Settled{Approvals: 1})
		w.equal("that it catches up", got.CatchUp, true)
	}},
	{"a call that was allowed and not begun never runs, and its decision can be retried", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		w.settle()
		w.unknown("a")
		w.idle()
		got := w.record(s.Event.Seq)
		w.equal("the decision", got.End, core.End{
			Kind: core.EndDead, Category: core.OutcomeUnknown, Cause: core.BeforeRestore,
		})
		r := must(w.Retry(w.ctx, s.Event.Seq))(w)
		again := w.take(r.Seq, minute)
		w.equal("the kind", again.Event.Kind(), core.KindMessage)
		_, err := w.BeginIntent(w.ctx, again, sample.Intent(c, "a"))
		w.fails(err, core.ApprovalMissing)
	}},
	{"the outcome of a call that had begun is unknown", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.settle()
		a, i, err := w.Recorded(w.ctx, "a")
		w.ok(err)
		if a.State != core.Approved || i.State() != core.CallUnknown {
			w.Fatalf("got %+v, %+v", a, i)
		}
		w.fails(w.FinishIntent(w.ctx, s, "a", core.ToolResult{Content: "late"}), core.ClaimLost)
	}},
	{"what had not ended is a dead letter, which its author is told of", func(w *world) {
		running := w.message(conversation)
		w.take(running, minute)
		waiting := w.message(conversation)
		w.settle()
		w.idle()
		for _, seq := range []int64{running, waiting} {
			w.equal("its end", w.record(seq).End.Cause, core.BeforeRestore)
		}
		if row := w.first(minute); row.Kind != core.PostError || row.Event != running {
			w.Fatalf("got %+v", row)
		}
		r := must(w.Retry(w.ctx, waiting))(w)
		w.take(r.Seq, minute)
	}},
	{"a post that was not sent is looked up, and so is what follows it", func(w *world) {
		w.say(conversation, post("first", conversation), post("second", conversation))
		row := w.first(minute)
		row.Parts = []core.Part{{Ref: "one", More: true}}
		w.ok(w.SavePost(w.ctx, row))
		w.settle()
		row = w.first(minute)
		if n := len(row.Parts); n != 2 || !row.Parts[1].InDoubt || !row.Parts[1].Rest || row.Parts[1].LostAt.IsZero() ||
			row.CreatedAt.Sub(row.Parts[1].SentAt) < 10*minute {
			w.Fatalf("got %+v", row.Parts)
		}
		w.sent(row, "one")
		row = w.first(minute)
		if n := len(row.Parts); n != 1 || !row.Parts[0].InDoubt || row.Doubted {
			w.Fatalf("got %+v", row)
		}
	}},
	{"what was remembered allows nothing any more", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Verdict: core.VerdictAsk, Remember: hour})
		d := sample.Vote("a", bob, core.Approve)
		d.Vote.Remember = true
		must(w.Decide(w.ctx, d))(w)
		s := w.wakes("a", c.Event.Invocation, core.Approved)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.ok(w.FinishIntent(w.ctx, s, "a", core.ToolResult{Content: "done"}))
		w.changed(s, core.Changes{Resumed: c.Event.Invocation})
		w.settle()
		a, i, err := w.Recorded(w.ctx, "a")
		w.ok(err)
		if a.State != core.Approved || i == nil || i.Result.Content != "done" || !a.Forgotten() {
			w.Fatalf("got %+v, %+v", a, i)
		}
		last := a.Votes[len(a.Votes)-1]
		w.equal("who ended it", last.Actor, core.RestoredBy)
		log := must(w.AuditLog(w.ctx, 1, 0))(w)
		w.equal("the log", log[len(log)-1].Actor, core.RestoredBy.ID)
	}},
	{"no number that may have been given out after the copy is given out again", func(w *world) {
		w.say(conversation, post("first", conversation))
		first := w.first(minute)
		w.sent(first, "one")
		before := w.message(conversation)
		w.settle()
		if after := w.message(conversation); after < before+1_000_000 {
			w.Errorf("the events %d and %d", before, after)
		}
		w.say(conversation, post("second", conversation))
		if row := must(w.ListPosts(w.ctx, nil, conversation, 1))(w)[0]; row.Seq < first.Seq+1_000_000 {
			w.Errorf("the posts %d and %d", first.Seq, row.Seq)
		}
	}},
	{"who lives serves", func(w *world) {
		w.equal("nobody", must(w.Serving(w.ctx, 0))(w), "")
		owner := must(w.Register(w.ctx, "serves", 20*time.Millisecond))(w)
		w.equal("the server", must(w.Serving(w.ctx, time.Second))(w), owner)
	}},
}
