package storagetest

import (
	"encoding/json"
	"reflect"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage/storagetest/sample"
)

var intentExamples = []example{
	{"an intent is begun once", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		if rec := must(w.LoadIntent(w.ctx, "a"))(w); rec != nil {
			w.Fatalf("got %+v", rec)
		}
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		first := must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		if !first.Fresh || first.Result != nil || first.BegunAt.IsZero() || !first.EndedAt.IsZero() {
			w.Fatalf("got %+v", first)
		}
		w.equal("begun", must(w.LoadApproval(w.ctx, "a"))(w).Begun, true)
		w.restart()
		s = w.claim(minute)
		again := must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		first.Fresh = false
		w.equal("again", again, first)
		w.equal("the same", *must(w.LoadIntent(w.ctx, "a"))(w), first)
		w.equal("the log", actions(must(w.AuditLog(w.ctx, 0, 0))(w)), []string{"opened", "voted", "approved", "begun"})
	}},
	{"no intent is begun after a stop", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		must(w.Stop(w.ctx, conversation, bob))(w)
		_, err := w.BeginIntent(w.ctx, s, sample.Intent(c, "a"))
		w.fails(err, core.Stopped)
		if rec := must(w.LoadIntent(w.ctx, "a"))(w); rec != nil {
			w.Fatalf("got %+v", rec)
		}
	}},
	{"no use of a remembered approval is begun too often, after it was stopped, or too late", func(w *world) {
		rule := core.Rule{Verdict: core.VerdictAsk, Remember: hour}
		remembered := core.ApprovalID("a")
		use := func(id string) core.Claim {
			until := must(w.LoadApproval(w.ctx, remembered))(w).DecidedAt.Add(hour)
			c := w.take(w.message(conversation), minute)
			a := sample.Asks(c, id, rule)
			a.Use = &core.Use{Of: remembered, N: 1, Uses: 1, Until: until}
			a.State, a.DecidedBy = core.Approved, core.Actor{ID: "policy"}
			w.done(c, core.Finish{
				End:     core.End{Kind: core.EndSuspended},
				Changes: core.Changes{Paused: sample.Paused(c, id, 0), Approval: a},
			})
			return c
		}
		c := w.suspend(conversation, "a", rule)
		d := sample.Vote("a", bob, core.Approve)
		d.Vote.Remember = true
		must(w.Decide(w.ctx, d))(w)
		w.changed(w.wakes("a", c.Event.Invocation, core.Approved), core.Changes{Resumed: c.Event.Invocation})

		c = use("in time")
		s := w.wakes("in time", c.Event.Invocation, core.Approved)
		w.equal("fresh", must(w.BeginIntent(w.ctx, s, sample.Intent(c, "in time")))(w).Fresh, true)
		w.changed(s, core.Changes{Resumed: c.Event.Invocation})

		c = use("too often") // as if the database had lost the first
		s = w.wakes("too often", c.Event.Invocation, core.Approved)
		_, err := w.BeginIntent(w.ctx, s, sample.Intent(c, "too often"))
		w.fails(err, core.ApprovalMissing)
		w.changed(s, core.Changes{Resumed: c.Event.Invocation})

		remembered = "b"
		c = w.suspend(conversation, "b", rule)
		d = sample.Vote("b", bob, core.Approve)
		d.Vote.Remember = true
		must(w.Decide(w.ctx, d))(w)
		w.changed(w.wakes("b", c.Event.Invocation, core.Approved), core.Changes{Resumed: c.Event.Invocation})
		c = use("stopped")
		must(w.Decide(w.ctx, sample.Vote("b", bob, core.Forget)))(w)
		s = w.wakes("stopped", c.Event.Invocation, core.Approved)
		_, err = w.BeginIntent(w.ctx, s, sample.Intent(c, "stopped"))
		w.fails(err, core.ApprovalMissing)
		w.changed(s, core.Changes{Resumed: c.Event.Invocation})

		c = w.suspend(conversation, "c", rule)
		d = sample.Vote("c", bob, core.Approve)
		d.Vote.Remember = true
		must(w.Decide(w.ctx, d))(w)
		w.changed(w.wakes("c", c.Event.Invocation, core.Approved), core.Changes{Resumed: c.Event.Invocation})
		remembered = "c"
		c = use("late")
		w.db.Advance(hour)
		s = w.wakes("late", c.Event.Invocation, core.Approved)
		_, err = w.BeginIntent(w.ctx, s, sample.Intent(c, "late"))
		w.fails(err, core.ApprovalMissing)
	}},
	{"the first result is kept", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		w.fails(w.FinishIntent(w.ctx, s, "a", core.ToolResult{}), core.NotFound)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		result := core.ToolResult{Content: "made", Category: core.ToolFailed}
		w.ok(w.FinishIntent(w.ctx, s, "a", result))
		w.ok(w.FinishIntent(w.ctx, s, "a", core.ToolResult{Content: "other"}))
		got := must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		if got.Fresh || got.Result == nil || !reflect.DeepEqual(*got.Result, result) || got.EndedAt.IsZero() {
			w.Fatalf("got %+v", got)
		}
		w.equal("settled once", actions(must(w.AuditLog(w.ctx, 4, 0))(w)), []string{"settled"})
	}},
	{"what a begun call keeps is there for the next attempt, until it has a result", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		w.fails(w.KeepIntent(w.ctx, s, "a", "x"), core.NotFound)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.ok(w.KeepIntent(w.ctx, s, "a", "task 1"))
		w.restart()
		w.fails(w.KeepIntent(w.ctx, s, "a", "late"), core.ClaimLost)
		s = w.claim(minute)
		got := must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.equal("kept", []any{got.Progress, got.Fresh, got.Result == nil}, []any{"task 1", false, true})
		w.ok(w.FinishIntent(w.ctx, s, "a", core.ToolResult{Content: "made"}))
		w.equal("after the result", must(w.LoadIntent(w.ctx, "a"))(w).Progress, "")
		w.fails(w.KeepIntent(w.ctx, s, "a", "x"), core.NotFound)
	}},
	{"a begun call goes on after another pause of its turn only if it kept something", func(w *world) {
		for id, want := range map[core.ApprovalID]core.CallState{"a": core.CallRunning, "b": core.CallUnknown} {
			c := w.suspend(conversation, string(id), core.Rule{})
			must(w.Decide(w.ctx, sample.Vote(id, bob, core.Approve)))(w)
			s := w.claim(minute)
			must(w.BeginIntent(w.ctx, s, sample.Intent(c, id)))(w)
			if id == "a" {
				w.ok(w.KeepIntent(w.ctx, s, id, "round 1"))
			}
			next := sample.Asks(c, string(id)+"-asks", core.Rule{})
			again := sample.Paused(c, string(next.ID), 0)
			w.changed(s, core.Changes{Resumed: c.Event.Invocation, Paused: again, Approval: next})
			w.equal("the call "+string(id), must(w.LoadIntent(w.ctx, id))(w).State(), want)
			must(w.Decide(w.ctx, sample.Vote(next.ID, bob, core.Deny)))(w)
			w.changed(w.claim(minute), core.Changes{Resumed: c.Event.Invocation})
			w.equal("at the end of its turn "+string(id), must(w.LoadIntent(w.ctx, id))(w).State(), core.CallUnknown)
		}
	}},
	{"an empty result is a result", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.ok(w.FinishIntent(w.ctx, s, "a", core.ToolResult{}))
		w.equal("the result", must(w.LoadIntent(w.ctx, "a"))(w).Result, &core.ToolResult{})
	}},
	{"an unknown outcome is logged as such", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.ok(w.FinishIntent(w.ctx, s, "a", core.ToolResult{Content: "?", Category: core.OutcomeUnknown}))
		w.equal("the log", actions(must(w.AuditLog(w.ctx, 4, 0))(w)), []string{"unknown"})
	}},
	{"the cards are redrawn when the call begins and when it ends, once each", func(w *world) {
		c := w.take(w.message(conversation), minute)
		a := sample.Asks(c, "a", core.Rule{})
		copied := sample.Card(a)
		copied.Key, copied.To.Channel, copied.Copy = copied.Key+"/bob", "bob", true
		w.changed(c, core.Changes{
			Paused: sample.Paused(c, "a", 0), Approval: a, Posts: []core.Post{sample.Card(a), copied},
		})
		redrawn := func(when string, want int) {
			w.Helper()
			rows := w.deliver(minute)
			w.equal(when, len(rows), want)
			for _, row := range rows {
				w.sent(row, "ref")
			}
		}
		redrawn("in the beginning", 2)
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		redrawn("decided", 2)
		s := w.claim(minute)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		redrawn("begun", 2)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		redrawn("begun again", 0)
		w.ok(w.FinishIntent(w.ctx, s, "a", core.ToolResult{Content: "made"}))
		redrawn("ended", 2)
		w.ok(w.FinishIntent(w.ctx, s, "a", core.ToolResult{Content: "made"}))
		w.changed(s, core.Changes{Resumed: c.Event.Invocation})
		redrawn("ended again, and its turn", 0)
	}},
	{"redraws that were not delivered are one, and one in flight is followed by another", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		flying := w.first(minute)
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.ok(w.FinishIntent(w.ctx, s, "a", core.ToolResult{}))
		w.sent(flying, "ref")
		row := w.first(minute)
		w.equal("the version", row.Wanted, flying.Wanted+3)
		w.sent(row, "ref")
		w.equal("due", len(w.deliver(minute)), 0)
	}},
	{"a card that could not be delivered is not tried again because its call runs", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		row := w.first(minute)
		row.State, row.Parts = core.RowDead, []core.Part{{Ref: "ref"}}
		w.ok(w.release(row, 0))
		must(w.BeginIntent(w.ctx, w.claim(minute), sample.Intent(c, "a")))(w)
		w.equal("the card", w.posted(row.Key).State, core.RowDead)
	}},
	{"a lost claim redraws nothing", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		w.sent(w.first(minute), "ref")
		lost := w.claim(over)
		_, err := w.BeginIntent(w.ctx, lost, sample.Intent(c, "a"))
		w.fails(err, core.ClaimLost)
		must(w.BeginIntent(w.ctx, w.claim(minute), sample.Intent(c, "a")))(w)
		w.sent(w.first(minute), "ref")
		w.fails(w.FinishIntent(w.ctx, lost, "a", core.ToolResult{}), core.ClaimLost)
		w.equal("due", len(w.deliver(minute)), 0)
	}},
	{"a call that its resumed turn did not begin is recorded as not run, and never runs", func(w *world) {
		why := core.ToolResult{Content: "the rules changed", Category: core.ApprovalStale}
		for id, want := range map[string]core.ToolResult{
			"a": why, "b": {Content: "Its turn ended before it could run.", Category: core.ApprovalMissing},
		} {
			c := w.suspend(conversation, id, core.Rule{})
			w.sent(w.first(minute), "ref")
			must(w.Decide(w.ctx, sample.Vote(core.ApprovalID(id), bob, core.Approve)))(w)
			w.sent(w.first(minute), "ref")
			s := w.claim(minute)
			given := core.ToolResult{}
			if id == "a" {
				given = why
			}
			w.changed(s, core.Changes{Resumed: c.Event.Invocation, NotRun: given})
			got := must(w.LoadIntent(w.ctx, core.ApprovalID(id)))(w)
			if got.State() != core.CallNotRun || got.Intent != sample.Intent(c, core.ApprovalID(id)) ||
				!got.BegunAt.IsZero() || got.EndedAt.IsZero() {
				w.Fatalf("got %+v", got)
			}
			w.equal("why", *got.Result, want)
			w.sent(w.first(minute), "ref")
			last := w.lastStep()
			digest := audit.KeysOf(w.Signer()).Digest(last.Key, core.ApprovalID(id), audit.OfResult,
				audit.ResultDigest(want.Content))
			w.equal("the log", []string{last.Action, last.Actor, last.Detail},
				[]string{audit.NotRun, s.Owner, string(want.Category) + ", digest " + digest})
			m := w.take(w.message(conversation), minute)
			again := must(w.BeginIntent(w.ctx, m, sample.Intent(c, core.ApprovalID(id))))(w)
			if again.Fresh || again.Result == nil || !reflect.DeepEqual(*again.Result, want) {
				w.Fatalf("it may begin: %+v", again)
			}
			w.done(m, core.Finish{})
		}
	}},
	{"what was begun, denied or cancelled is not recorded as not run", func(w *world) {
		for id, end := range map[string]core.ApprovalState{"a": core.Approved, "b": core.Denied, "c": core.Cancelled} {
			c := w.suspend(conversation, id, core.Rule{})
			d := sample.Vote(core.ApprovalID(id), bob, core.Approve)
			switch end {
			case core.Denied:
				d.Vote.Choice = core.Deny
			case core.Cancelled:
				d = core.Decision{Approval: core.ApprovalID(id), Cancel: true, By: ann}
			}
			must(w.Decide(w.ctx, d))(w)
			s := w.claim(minute)
			if end == core.Approved {
				must(w.BeginIntent(w.ctx, s, sample.Intent(c, core.ApprovalID(id))))(w)
				w.ok(w.FinishIntent(w.ctx, s, core.ApprovalID(id), core.ToolResult{Content: "made"}))
			}
			w.done(s,
				core.Finish{
					Changes: core.Changes{
						Resumed: c.Event.Invocation,
						NotRun:  core.ToolResult{Content: "x", Category: core.ApprovalStale},
					},
				})
			want := map[core.ApprovalState]core.CallState{core.Approved: core.CallDone}[end]
			w.equal("the call of an approval that is "+string(end),
				must(w.LoadIntent(w.ctx, core.ApprovalID(id)))(w).State(), want)
		}
		for _, e := range must(w.AuditLog(w.ctx, 0, 0))(w) {
			if e.Action == audit.NotRun {
				w.Fatalf("got %+v", e)
			}
		}
	}},
	{"only an approved call may begin", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		m := w.take(w.message(conversation), minute)
		begin := func(i core.Intent) error { _, err := w.BeginIntent(w.ctx, m, i); return err }
		w.fails(begin(sample.Intent(c, "a")), core.ApprovalMissing)
		w.fails(begin(sample.Intent(c, "none")), core.ApprovalMissing)
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Deny)))(w)
		w.fails(begin(sample.Intent(c, "a")), core.ApprovalMissing)
		if rec := must(w.LoadIntent(w.ctx, "a"))(w); rec != nil {
			w.Fatalf("got %+v", rec)
		}
		w.equal("begun", must(w.LoadApproval(w.ctx, "a"))(w).Begun, false)
	}},
	{"an approval is for one call of one turn", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		s := w.claim(minute)
		right := sample.Intent(c, "a")
		for _, spoil := range []func(*core.Intent){
			func(i *core.Intent) { i.Digest = "another" }, func(i *core.Intent) {
				i.Invocation = "another"
			}, func(i *core.Intent) { i.Tool = "another" },
		} {
			wrong := right
			spoil(&wrong)
			_, err := w.BeginIntent(w.ctx, s, wrong)
			w.fails(err, core.ApprovalMismatch)
		}
		must(w.BeginIntent(w.ctx, s, right))(w)
		wrong := right
		wrong.Digest = "another"
		_, err := w.BeginIntent(w.ctx, s, wrong)
		w.fails(err, core.ApprovalMismatch)
	}},
}

// evidence returns an invocation's evidence; "" if there is none.
func (w *world) evidence(id core.InvocationID) string {
	w.Helper()
	return string(must(w.LoadEvidence(w.ctx, id))(w))
}

var evidenceExamples = []example{
	{"the last segment's evidence is kept", func(w *world) {
		c := w.take(w.message(conversation), minute)
		id := c.Event.Invocation
		w.equal("before", w.evidence(id), "")
		w.done(c,
			core.Finish{
				Changes: core.Changes{
					Paused:   sample.Paused(c, "a", 1),
					Approval: sample.Asks(c, "a", core.Rule{}),
					Evidence: json.RawMessage(`{"leg":1}`),
				},
			})
		w.equal("paused", w.evidence(id), `{"leg":1}`)
		s := w.take(w.signal(conversation, id), minute)
		w.restart()
		s = w.take(s.Event.Seq, minute)
		w.changed(s, core.Changes{Resumed: id, Evidence: json.RawMessage(`{"leg":"<2>"}`)})
		w.equal("ended", w.evidence(id), `{"leg":"<2>"}`)
	}},
	{"a turn without evidence leaves earlier evidence alone", func(w *world) {
		c := w.take(w.message(conversation), minute)
		id := c.Event.Invocation
		w.changed(c, core.Changes{Paused: sample.Paused(c, "a", 1), Evidence: json.RawMessage(`{"leg":1}`)})
		s := w.take(w.signal(conversation, id), minute)
		w.changed(s, core.Changes{Resumed: id})
		w.equal("kept", w.evidence(id), `{"leg":1}`)
	}},
	{"evidence is stored with the turn or not at all", func(w *world) {
		seq := w.message(conversation)
		c := w.take(seq, over)
		w.take(seq, minute)
		w.fails(w.Finish(w.ctx, finish(c, core.Finish{
			Changes: core.Changes{Evidence: json.RawMessage(`{}`)},
		})), core.ClaimLost)
		w.equal("of a lost conversation", w.evidence(c.Event.Invocation), "")
	}},
	{"a turn that is retried stores no evidence", func(w *world) {
		c := w.take(w.message(conversation), minute)
		w.fails(w.Finish(w.ctx, finish(c, core.Finish{
			Retry:   &core.Retry{},
			Changes: core.Changes{Evidence: json.RawMessage(`{}`)},
		})),
			core.Internal)
		w.done(c, core.Finish{})
	}},
	{"old evidence is pruned, except a paused turn's", func(w *world) {
		c := w.take(w.message(conversation), minute)
		w.changed(c, core.Changes{Evidence: json.RawMessage(`{"a":1}`)})
		d := w.take(w.message(conversation), minute)
		w.done(d,
			core.Finish{
				Changes: core.Changes{
					Paused:   sample.Paused(d, "p", 1),
					Approval: sample.Asks(d, "p", core.Rule{}),
					Evidence: json.RawMessage(`{"b":1}`),
				},
			})
		w.prune()
		w.equal("young", w.evidence(c.Event.Invocation), `{"a":1}`)
		w.old()
		w.prune()
		w.equal("old", w.evidence(c.Event.Invocation), "")
		w.equal("of a paused turn", w.evidence(d.Event.Invocation), `{"b":1}`)
	}},
	{"evidence is deleted with its session", func(w *world) {
		c := w.take(w.message(conversation), minute)
		w.changed(c, core.Changes{Session: w.session(c, 0, "x"), Evidence: json.RawMessage(`{"a":1}`)})
		d := w.take(w.message(other), minute)
		w.changed(d, core.Changes{Session: w.session(d, 0, "y"), Evidence: json.RawMessage(`{"b":1}`)})
		w.ok(w.DeleteSession(w.ctx, c.Session))
		w.equal("gone", w.evidence(c.Event.Invocation), "")
		w.equal("another's", w.evidence(d.Event.Invocation), `{"b":1}`)
	}},
}
