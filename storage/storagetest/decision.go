package storagetest

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage/internal/sqlstore"
	"gatehouse/storage/storagetest/sample"
)

// click accepts a click on an approval and returns its decision.
func (w *world) click(id core.ApprovalID, who core.Actor, c core.Choice) core.Decision {
	w.Helper()
	e := w.event(core.KindClick, conversation, string(id))
	e.Actor = who
	d := sample.Vote(id, who, c)
	d.Event = w.accept(e)
	return d
}

var decisionExamples = []example{
	{"one vote decides, and resumes the turn", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Timeout: minute})
		d := w.click("a", bob, core.Approve)
		got := must(w.Decide(w.ctx, d))(w)
		if !got.Counted || !got.Settled || got.Approval.State != core.Approved || got.Approval.DecidedBy.ID != bob.ID ||
			got.Approval.Votes[0].Event != d.Event {
			w.Fatalf("got %+v", got)
		}
		w.equal("what is stored", must(w.LoadApproval(w.ctx, "a"))(w), got.Approval)
		w.wakes("a", c.Event.Invocation, core.Approved)
		w.db.Advance(2 * minute)
		w.equal("tasks", len(must(w.ClaimTasks(w.ctx, 10, minute))(w)), 0)
	}},
	{"one rejection is enough", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Quorum: 2})
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		d := sample.Vote("a", cleo, core.Deny)
		d.Vote.Reason = "no"
		got := must(w.Decide(w.ctx, d))(w)
		if got.Approval.State != core.Denied || got.Approval.Reason != "no" {
			w.Fatalf("got %+v", got)
		}
		w.wakes("a", c.Event.Invocation, core.Denied)
	}},
	{"a quorum counts users, not votes", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Quorum: 2})
		got := must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		if !got.Counted || got.Settled || got.Approval.State != core.Open {
			w.Fatalf("got %+v", got)
		}
		w.idle()
		_, err := w.Decide(w.ctx, w.click("a", bob, core.Approve))
		w.fails(err, core.ApprovalDecided)
		w.equal("votes", len(must(w.LoadApproval(w.ctx, "a"))(w).Votes), 1)
		w.equal("settled", must(w.Decide(w.ctx, sample.Vote("a", cleo, core.Approve)))(w).Settled, true)
		w.wakes("a", c.Event.Invocation, core.Approved)
	}},
	{"a changed vote takes the place of the person's first one", func(w *world) {
		w.suspend(conversation,
			"a",
			core.Rule{
				Quorum: 2, Vetoes: 2, People: map[string]string{bob.ID: "bob", ann.ID: "bob"},
				Approvers: []string{bob.ID, cleo.ID}, Self: true,
			})
		for _, d := range []core.Decision{
			sample.Vote("a", bob, core.Approve), sample.Vote("a", ann, core.Deny), sample.Vote("a", cleo, core.Approve),
		} {
			w.equal("settled", must(w.Decide(w.ctx, d))(w).Settled, false)
		}
		got := must(w.LoadApproval(w.ctx, "a"))(w)
		if votes := got.Standing(); len(got.Votes) != 3 || len(votes) != 2 || votes[0].Actor.ID != ann.ID ||
			votes[0].Choice != core.Deny {
			w.Fatalf("got %+v", got.Votes)
		}
		w.equal("settled", must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w).Settled, true)
	}},
	{"a person votes a limited number of times", func(w *world) {
		w.suspend(conversation, "a", core.Rule{Quorum: 2, Vetoes: 2})
		for n := range core.MaxVotes {
			must(w.Decide(w.ctx, sample.Vote("a", bob, []core.Choice{core.Approve, core.Deny}[n%2])))(w)
		}
		before := must(w.LoadApproval(w.ctx, "a"))(w)
		d := w.click("a", bob, core.Approve)
		for range 2 {
			got, err := w.Decide(w.ctx, d)
			w.fails(err, core.ApprovalDecided)
			w.equal("what stands", got.Approval, before)
		}
		w.equal("what is stored", must(w.LoadApproval(w.ctx, "a"))(w), before)
		log := actions(must(w.AuditLog(w.ctx, 0, 0))(w))
		w.equal("the log", len(log), 1+core.MaxVotes+1) // opened, the votes, and the refusal, once
		w.equal("settled", must(w.Decide(w.ctx, sample.Vote("a", cleo, core.Deny)))(w).Settled, true)
	}},
	{"changed arguments are stored with the approval, once for each event", func(w *world) {
		w.suspend(conversation, "a", core.Rule{Edit: true, Quorum: 2})
		before := must(w.LoadApproval(w.ctx, "a"))(w)
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		edit := w.click("a", cleo, core.Edit)
		call := before.Call
		call.Arguments, call.Digest, call.Summary = json.RawMessage(`{"text":"y"}`), "d-changed", "Write another note"
		edit.Edit = &call
		for range 2 {
			got := must(w.Decide(w.ctx, edit))(w)
			if !got.Counted || got.Settled || got.Approval.Edits() != 1 {
				w.Fatalf("got %+v", got)
			}
		}
		got := must(w.LoadApproval(w.ctx, "a"))(w)
		if string(got.Call.Arguments) != `{"text":"y"}` || got.Call.Digest != "d-changed" ||
			got.Requested != before.Call.Digest || got.Editor().ID != cleo.ID || len(got.Standing()) != 0 {
			w.Fatalf("got %+v", got)
		}
		w.equal("the log", actions(must(w.AuditLog(w.ctx, 0, 0))(w)), []string{"opened", "voted", audit.Edited})
	}},
	{"the digests of arguments are erased with their session, those that were replaced too", func(w *world) {
		w.suspend(conversation, "a", core.Rule{Edit: true})
		before := must(w.LoadApproval(w.ctx, "a"))(w)
		edit := sample.Vote("a", bob, core.Edit)
		call := before.Call
		call.Arguments, call.Digest = json.RawMessage(`{"text":"y"}`), "d-changed"
		edit.Edit = &call
		must(w.Decide(w.ctx, edit))(w)
		w.ok(w.DeleteSession(w.ctx, before.Session))
		if got := must(w.LoadApproval(w.ctx, "a"))(w); got.Requested == before.Call.Digest || got.Requested == "" ||
			got.Call.Digest != "" {
			w.Fatalf("got %+v", got)
		}
	}},
	{"a repeat of the same click returns the same result", func(w *world) {
		w.suspend(conversation, "a", core.Rule{Quorum: 2})
		d := w.click("a", bob, core.Approve)
		first := must(w.Decide(w.ctx, d))(w)
		w.equal("again", must(w.Decide(w.ctx, d))(w), first)
		w.restart()
		w.equal("after a crash", must(w.Decide(w.ctx, d))(w), first)
		must(w.Decide(w.ctx, sample.Vote("a", cleo, core.Deny)))(w)
		got := must(w.Decide(w.ctx, d))(w)
		if !got.Counted || got.Approval.State != core.Denied {
			w.Fatalf("got %+v", got)
		}
		w.equal("the log", actions(must(w.AuditLog(w.ctx, 0, 0))(w)), []string{"opened", "voted", "voted", "denied"})
		w.claim(minute)
		w.idle()
	}},
	{"the first decision is kept", func(w *world) {
		w.suspend(conversation, "a", core.Rule{})
		first := must(w.Decide(w.ctx, sample.Vote("a", bob, core.Deny)))(w)
		before := w.counted(conversation.Session(1))
		for name, d := range map[string]core.Decision{
			"a vote":         sample.Vote("a", cleo, core.Approve),
			"a cancellation": {Approval: "a", Cancel: true, By: ann},
			"an expiry":      {Approval: "a", Expire: true},
		} {
			got, err := w.Decide(w.ctx, d)
			w.fails(err, core.ApprovalDecided)
			w.equal(name, got, core.Decided{Approval: first.Approval})
		}
		w.equal("the database", w.counted(conversation.Session(1)), before)
	}},
	{"a vote by a user who may not decide changes nothing", func(w *world) {
		w.suspend(conversation, "a", core.Rule{})
		before := w.counted(conversation.Session(1))
		for _, d := range []core.Decision{
			sample.Vote("a", ann, core.Approve), sample.Vote("a", core.Actor{ID: "plat:dan"}, core.Approve),
		} {
			got, err := w.Decide(w.ctx, d)
			w.fails(err, core.NotAllowed)
			w.equal("what stands", got.Approval.State, core.Open)
		}
		_, err := w.Decide(w.ctx, sample.Vote("a", bob, "perhaps"))
		w.fails(err, core.Invalid)
		w.equal("the database", w.counted(conversation.Session(1)), before)
	}},
	{"an admin may decide", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Quorum: 3})
		d := sample.Vote("a", core.Actor{ID: "local-admin"}, core.Approve)
		d.Admin = true
		w.equal("settled", must(w.Decide(w.ctx, d))(w).Settled, true)
		w.wakes("a", c.Event.Invocation, core.Approved)
	}},
	{"of many concurrent decisions the first wins", func(w *world) {
		approvers := []string{}
		for i := range 8 {
			approvers = append(approvers, fmt.Sprintf("plat:p%d", i))
		}
		c := w.suspend(conversation, "a", core.Rule{Approvers: approvers})
		views := []*sqlstore.Store{w.Store, w.view()}
		var mu sync.Mutex
		var won []core.ApprovalState
		var wg sync.WaitGroup
		for i, id := range approvers {
			choice := []core.Choice{core.Approve, core.Deny}[i%2]
			wg.Go(func() {
				got, err := views[i/4].Decide(w.ctx, sample.Vote("a", core.Actor{ID: id}, choice))
				mu.Lock()
				defer mu.Unlock()
				if err == nil {
					won = append(won, got.Approval.State)
				} else if core.CategoryOf(err) != core.ApprovalDecided {
					w.Errorf("deciding: %v", err)
				}
			})
		}
		wg.Wait()
		if len(won) != 1 {
			w.Fatalf("%d won: %v", len(won), won)
		}
		w.equal("what stands", must(w.LoadApproval(w.ctx, "a"))(w).State, won[0])
		w.wakes("a", c.Event.Invocation, won[0])
		w.idle()
	}},
	{"an approval expires at its deadline, not before", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Timeout: minute})
		w.equal("tasks", len(must(w.ClaimTasks(w.ctx, 10, minute))(w)), 0)
		expire := core.Decision{Approval: "a", Expire: true, By: core.Actor{ID: "gatehouse"}}
		_, err := w.Decide(w.ctx, expire)
		w.fails(err, core.Invalid)
		w.db.Advance(minute)
		tasks := must(w.ClaimTasks(w.ctx, 10, minute))(w)
		if len(tasks) != 1 || tasks[0].Kind != core.TaskExpire || tasks[0].Subject != "a" {
			w.Fatalf("got %+v", tasks)
		}
		_, err = w.Decide(w.ctx, w.click("a", bob, core.Approve))
		w.fails(err, core.ApprovalExpired)
		// That click came too late and does not delay the expiry.
		w.equal("settled", must(w.Decide(w.ctx, expire))(w).Settled, true)
		w.wakes("a", c.Event.Invocation, core.Expired)
		w.db.Advance(2 * minute)
		w.equal("tasks", len(must(w.ClaimTasks(w.ctx, 10, minute))(w)), 0)
	}},
	{"a click in time counts, however late it is processed", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Timeout: minute})
		d := w.click("a", bob, core.Approve)
		w.db.Advance(2 * minute)
		expire := core.Decision{Approval: "a", Expire: true}
		_, err := w.Decide(w.ctx, expire)
		w.fails(err, core.StoreBusy)
		w.ok(w.Health(w.ctx)) // the database is not at fault
		click := w.controls(1, minute)[0]
		_, err = w.Decide(w.ctx, expire) // while it is being counted as well
		w.fails(err, core.StoreBusy)
		w.equal("settled", must(w.Decide(w.ctx, d))(w).Settled, true)
		w.done(click, core.Finish{End: core.End{Kind: core.EndDecided}})
		w.wakes("a", c.Event.Invocation, core.Approved)
		_, err = w.Decide(w.ctx, expire)
		w.fails(err, core.ApprovalDecided)
	}},
	{"an expiry goes on when a click in time did not count", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Timeout: minute})
		w.click("a", ann, core.Approve)
		w.db.Advance(2 * minute)
		w.done(w.controls(1, minute)[0], core.Finish{End: core.End{Kind: core.EndIgnored, Cause: "not allowed"}})
		w.equal("settled", must(w.Decide(w.ctx, core.Decision{Approval: "a", Expire: true}))(w).Settled, true)
		w.wakes("a", c.Event.Invocation, core.Expired)
	}},
	{"a cancellation resumes the turn as well", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		got := must(w.Decide(w.ctx, core.Decision{Approval: "a", Cancel: true, Reason: "enough", By: ann}))(w)
		if got.Approval.State != core.Cancelled || got.Approval.Reason != "enough" {
			w.Fatalf("got %+v", got)
		}
		w.wakes("a", c.Event.Invocation, core.Cancelled)
	}},
	{"who asked withdraws by a click, once", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Timeout: minute})
		w.suspend(conversation, "b", core.Rule{})
		d := w.click("a", ann, core.Withdraw)
		first := must(w.Decide(w.ctx, d))(w)
		a := first.Approval
		if !first.Settled || a.State != core.Cancelled || a.DecidedBy.ID != ann.ID || a.Reason != "withdrawn by Ann" ||
			!a.DecidedAt.Equal(w.record(d.Event).AcceptedAt) {
			w.Fatalf("got %+v", first)
		}
		w.equal("what is stored", must(w.LoadApproval(w.ctx, "a"))(w), a)
		w.equal("again", must(w.Decide(w.ctx, d))(w), first)
		w.restart()
		w.equal("after a crash", must(w.Decide(w.ctx, d))(w), first)
		_, err := w.Decide(w.ctx, w.click("a", ann, core.Withdraw))
		w.fails(err, core.ApprovalDecided)
		w.equal("the other", must(w.LoadApproval(w.ctx, "b"))(w).State, core.Open)
		log := must(w.AuditLog(w.ctx, 0, 0))(w)
		w.equal("the log", actions(log), []string{"opened", "opened", "cancelled", "rejected"})
		w.equal("by", log[2].Actor, ann.ID)
		w.wakes("a", c.Event.Invocation, core.Cancelled)
		w.db.Advance(2 * minute)
		w.equal("tasks", len(must(w.ClaimTasks(w.ctx, 10, minute))(w)), 0)
	}},
	{"nobody else withdraws", func(w *world) {
		w.suspend(conversation, "a", core.Rule{})
		d := w.click("a", bob, core.Withdraw)
		for range 2 {
			_, err := w.Decide(w.ctx, d)
			w.fails(err, core.NotAllowed)
		}
		log := must(w.AuditLog(w.ctx, 0, 0))(w)
		w.equal("the log", actions(log), []string{"opened", "rejected"})
		w.equal("why", log[1].Detail, fmt.Sprintf("choice withdraw, not_allowed, event %d", d.Event))
		w.idle()
	}},
	{"a withdrawal in time is not beaten by the expiry", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Timeout: minute})
		d := w.click("a", ann, core.Withdraw)
		w.db.Advance(2 * minute)
		_, err := w.Decide(w.ctx, core.Decision{Approval: "a", Expire: true})
		w.fails(err, core.StoreBusy)
		w.equal("settled", must(w.Decide(w.ctx, d))(w).Settled, true)
		w.wakes("a", c.Event.Invocation, core.Cancelled)
	}},
	{"a decision overtakes waiting messages, in its conversation", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		m := w.message(conversation)
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		w.changed(w.wakes("a", c.Event.Invocation, core.Approved), core.Changes{Resumed: c.Event.Invocation})
		w.take(m, minute)
	}},
	{"each vote redraws the card", func(w *world) {
		w.suspend(conversation, "a", core.Rule{Quorum: 2})
		w.sent(w.deliver(minute)[0], "ref")
		for _, who := range []core.Actor{bob, cleo} {
			must(w.Decide(w.ctx, sample.Vote("a", who, core.Approve)))(w)
			row := w.deliver(minute)[0]
			if row.Kind != core.PostCard || row.Parts[0].Ref != "ref" {
				w.Fatalf("got %+v", row)
			}
			w.sent(row, "ref")
		}
		w.equal("what is left", len(w.deliver(minute)), 0)
	}},
	{
		"the cards of the same requests are redrawn whenever one is no longer among them, and link to the first",
		func(w *world) {
			same := func(id string, first core.ApprovalID) *core.Approval {
				c := w.take(w.message(conversation), minute)
				a := sample.Asks(c, id, core.Rule{Edit: true})
				a.Call.Digest = "the same"
				p := sample.Card(a)
				if first != "" {
					p.Like = core.Approval{ID: first}.CardKey()
				}
				w.done(c, core.Finish{
					End: core.End{Kind: core.EndSuspended}, Changes: core.Changes{
						Paused:   sample.Paused(c, id, 0),
						Approval: a,
						Posts:    []core.Post{p},
					},
				})
				return a
			}
			cards := func(what string, want ...string) {
				var got []string
				for rows := w.deliver(minute); len(rows) > 0; rows = w.deliver(minute) { // one of a place at a time
					got = append(got, string(rows[0].Approval)+" like "+rows[0].Like)
					w.sent(rows[0], "ref "+core.Ref(rows[0].Approval))
				}
				slices.Sort(got)
				w.equal(what, got, want)
			}
			first := same("a", "")
			cards("the first", "a like ")
			same("b", "a")
			cards("the second", "a like ", "b like card/a")
			third := same("c", "a")
			cards("the third", "a like ", "b like card/a", "c like card/a")
			edit := sample.Vote("a", bob, core.Edit)
			changed := first.Call
			changed.Digest = "another"
			edit.Edit = &changed
			must(w.Decide(w.ctx, edit))(w)
			cards("after the change of the first", "a like ", "b like card/b", "c like card/b")
			m := w.take(w.message(conversation), minute)
			ended := core.Abandon{Invocation: third.Invocation, Cancel: true, Reason: "stopped", By: ann}
			w.changed(m, core.Changes{Abandoned: []core.Abandon{ended}})
			cards("after the end of the third", "b like card/b", "c like card/b")
		},
	},
	{"a decision redraws every card of an approval", func(w *world) {
		c := w.take(w.message(conversation), minute)
		a := sample.Asks(c, "a", core.Rule{})
		direct := sample.Card(a)
		direct.Key, direct.To.Channel = direct.Key+"/bob", "bob"
		w.changed(c, core.Changes{
			Paused: sample.Paused(c, "a", 0), Approval: a, Posts: []core.Post{sample.Card(a), direct},
		})
		for _, row := range w.deliver(minute) {
			w.sent(row, "ref")
		}
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		w.equal("cards", len(w.deliver(minute)), 2)
	}},
}
