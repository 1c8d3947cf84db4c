package storagetest

import (
	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage/storagetest/sample"
)

// cancels is what a turn changes that cancels the paused one of c.
func cancels(c core.Claim) core.Changes {
	return core.Changes{Abandoned: []core.Abandon{{Invocation: c.Event.Invocation, Cancel: true}}}
}

var abandonExamples = []example{
	{"abandoning a paused turn appends its messages", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Timeout: minute})
		s := w.signal(conversation, c.Event.Invocation)
		w.done(w.take(s, minute), core.Finish{Retry: &core.Retry{After: minute}})
		m := w.take(w.message(conversation), minute)
		w.done(m, core.Finish{
			Changes: core.Changes{
				Session:       w.session(m, 0, "bye"),
				NewGeneration: true,
				Abandoned: []core.Abandon{{
					Invocation: c.Event.Invocation, Rows: sample.Said("cancelled", "too"), Cancel: true,
					Reason: "new conversation", By: ann,
				}},
			},
		})
		w.equal("the messages", w.texts(c.Session, core.Writer{}), []string{"do a", "bye", "cancelled", "too"})
		w.equal("the invocation's", sample.Words(must(w.InvocationMessages(w.ctx, c.Session, c.Event.Invocation))(w)),
			[]string{"do a", "cancelled", "too"})
		if rec := must(w.LoadPaused(w.ctx, c.Event.Invocation, ""))(w); rec != nil {
			w.Fatalf("got %+v", rec)
		}
		got := w.record(s)
		w.equal("the signal", got.End.Kind, core.EndWithdrawn)
		a := must(w.LoadApproval(w.ctx, "a"))(w)
		if a.State != core.Cancelled || a.Reason != "new conversation" || a.DecidedBy.ID != ann.ID ||
			a.DecidedAt.IsZero() {
			w.Fatalf("got %+v", a)
		}
		_, err := w.Decide(w.ctx, sample.Vote("a", bob, core.Approve))
		w.fails(err, core.ApprovalDecided)
		w.db.Advance(2 * minute)
		w.equal("tasks", len(must(w.ClaimTasks(w.ctx, 10, minute))(w)), 0)
		w.idle()
	}},
	{"the card is redrawn", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		w.sent(w.deliver(minute)[0], "ref")
		m := w.take(w.message(conversation), minute)
		w.changed(m, cancels(c))
		row := w.deliver(minute)[0]
		if row.Approval != "a" || row.Parts[0].Ref != "ref" || row.Wanted <= row.Shown {
			w.Fatalf("got %+v", row)
		}
	}},
	{"an approval given but not begun is cancelled too", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		m := w.message(conversation)
		s := w.claim(minute)
		w.done(s, core.Finish{Retry: &core.Retry{After: minute}})
		w.changed(w.take(m, minute), core.Changes{
			Abandoned: []core.Abandon{{Invocation: c.Event.Invocation, Cancel: true, Reason: "r"}},
		})
		w.equal("the approval", must(w.LoadApproval(w.ctx, "a"))(w).State, core.Cancelled)
		w.equal("the signal", w.record(s.Event.Seq).End.Kind, core.EndWithdrawn)
		c2 := w.take(w.message(conversation), minute)
		_, err := w.BeginIntent(w.ctx, c2, sample.Intent(c, "a"))
		w.fails(err, core.ApprovalMissing)
	}},
	{"an approval that was begun or refused is not cancelled", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.changed(s, cancels(c))
		w.equal("the approval", must(w.LoadApproval(w.ctx, "a"))(w).State, core.Approved)

		c = w.suspend(conversation, "b", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("b", bob, core.Deny)))(w)
		w.changed(w.claim(minute), cancels(c))
		w.equal("the refusal", must(w.LoadApproval(w.ctx, "b"))(w).State, core.Denied)
	}},
	{"an approval whose turn was resumed is not cancelled with the next pause", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		w.done(s,
			core.Finish{
				End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
					Resumed:  c.Event.Invocation,
					Paused:   sample.Paused(s, "b", 1),
					Approval: sample.Asks(s, "b", core.Rule{}),
				},
			})
		m := w.take(w.message(conversation), minute)
		w.changed(m, cancels(c))
		w.equal("the first", must(w.LoadApproval(w.ctx, "a"))(w).State, core.Approved)
		w.equal("the second", must(w.LoadApproval(w.ctx, "b"))(w).State, core.Cancelled)
	}},
	{"without cancel the approval is left alone", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		w.changed(w.take(w.message(conversation), minute), core.Changes{
			Abandoned: []core.Abandon{{Invocation: c.Event.Invocation}},
		})
		w.equal("the approval", must(w.LoadApproval(w.ctx, "a"))(w).State, core.Open)
	}},
	{"a resume that fails abandons itself, after what it had saved", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		w.ok(w.SaveSession(w.ctx, s, w.session(s, 1, "acted")))
		w.done(s, core.Finish{
			End: core.End{Kind: core.EndErrored, Category: core.NodeException}, Changes: core.Changes{
				Resumed:   c.Event.Invocation,
				Abandoned: []core.Abandon{{Invocation: c.Event.Invocation, Rows: sample.Said("failed")}},
			},
		})
		w.equal("the messages", w.texts(c.Session, core.Writer{}), []string{"do a", "acted", "failed"})
		w.equal("its own end", w.record(s.Event.Seq).End.Kind, core.EndErrored)
		w.idle()
	}},
	{"an abandoned call has an unknown outcome if it was begun, and is not run if not", func(w *world) {
		why := core.ToolResult{Content: "stopped", Category: core.Stopped}
		for id, want := range map[string]core.CallState{
			"a": core.CallUnknown, "b": core.CallNotRun, "c": core.CallDone,
		} {
			c := w.suspend(conversation, id, core.Rule{})
			must(w.Decide(w.ctx, sample.Vote(core.ApprovalID(id), bob, core.Approve)))(w)
			s := w.claim(minute)
			if want != core.CallNotRun {
				must(w.BeginIntent(w.ctx, s, sample.Intent(c, core.ApprovalID(id))))(w)
			}
			if want == core.CallDone {
				w.ok(w.FinishIntent(w.ctx, s, core.ApprovalID(id), core.ToolResult{Content: "made"}))
			}
			w.sent(w.first(minute), "ref")
			w.done(s, core.Finish{
				End: core.End{Kind: core.EndWithdrawn}, Changes: core.Changes{
					Resumed:   c.Event.Invocation,
					Abandoned: []core.Abandon{{Invocation: c.Event.Invocation, By: ann, NotRun: why}},
				},
			})
			got := must(w.LoadIntent(w.ctx, core.ApprovalID(id)))(w)
			w.equal("the call", got.State(), want)
			last := w.lastStep()
			redrawn := 1
			switch want {
			case core.CallUnknown:
				w.equal("the log", last.Action+" by "+last.Actor, "unknown by "+s.Owner)
			case core.CallNotRun:
				w.equal("the log", last.Action+" by "+last.Actor, audit.NotRun+" by "+s.Owner)
				w.equal("why", *got.Result, why)
			default:
				w.equal("the log", last.Action, "settled")
				redrawn = 0
			}
			rows := w.deliver(minute)
			w.equal("cards redrawn", len(rows), redrawn)
			for _, row := range rows {
				w.sent(row, "ref")
			}
		}
	}},
	{"what a new conversation cancels is not recorded as not run", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		w.done(s, core.Finish{Retry: &core.Retry{After: minute}})
		w.done(w.take(w.message(conversation), minute),
			core.Finish{
				Changes: core.Changes{
					NewGeneration: true,
					Abandoned:     []core.Abandon{{Invocation: c.Event.Invocation, Cancel: true, By: ann}},
				},
			})
		w.equal("the approval", must(w.LoadApproval(w.ctx, "a"))(w).State, core.Cancelled)
		if rec := must(w.LoadIntent(w.ctx, "a"))(w); rec != nil {
			w.Fatalf("got %+v", rec)
		}
	}},
	{"a new conversation makes a call that its process left behind unknown", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.done(s, core.Finish{Retry: &core.Retry{After: minute}})
		w.done(w.take(w.message(conversation), minute),
			core.Finish{
				Changes: core.Changes{
					NewGeneration: true,
					Abandoned:     []core.Abandon{{Invocation: c.Event.Invocation, Cancel: true, By: ann}},
				},
			})
		w.equal("the approval", must(w.LoadApproval(w.ctx, "a"))(w).State, core.Approved)
		w.equal("its call", must(w.LoadIntent(w.ctx, "a"))(w).State(), core.CallUnknown)
	}},
	{"abandoning a missing invocation is no error", func(w *world) {
		w.changed(w.take(w.message(conversation), minute), core.Changes{
			Abandoned: []core.Abandon{{Invocation: "none", Rows: sample.Said("x"), Cancel: true}},
		})
	}},
}
