package storagetest

import (
	"fmt"
	"slices"
	"time"

	"gatehouse/core"
	"gatehouse/core/audit"
	"gatehouse/storage/storagetest/sample"
)

func (w *world) due(life time.Duration) []string {
	w.Helper()
	all := []string{}
	for _, t := range must(w.ClaimTasks(w.ctx, 10, life))(w) {
		all = append(all, t.Key)
	}
	return all
}

var scheduleExamples = []example{
	{"a task is claimed when it is due", func(w *world) {
		w.ok(w.AddTask(w.ctx, core.Task{Key: "k", Kind: "remind", Subject: "s"}, minute))
		w.equal("before", w.due(minute), []string{})
		w.db.Advance(minute)
		tasks := must(w.ClaimTasks(w.ctx, 10, minute))(w)
		if len(tasks) != 1 || tasks[0].Key != "k" || tasks[0].Kind != "remind" || tasks[0].Subject != "s" ||
			tasks[0].Due.IsZero() {
			w.Fatalf("got %+v", tasks)
		}
	}},
	{"the earliest comes first, no more than the limit", func(w *world) {
		w.ok(w.AddTask(w.ctx, core.Task{Key: "later"}, 0))
		w.ok(w.AddTask(w.ctx, core.Task{Key: "sooner"}, -minute))
		w.equal("one", must(w.ClaimTasks(w.ctx, 1, minute))(w)[0].Key, "sooner")
		w.equal("the rest", w.due(minute), []string{"later"})
	}},
	{"a known key is not added again, but due no later", func(w *world) {
		w.ok(w.AddTask(w.ctx, core.Task{Key: "k", Subject: "first"}, 2*minute))
		w.ok(w.AddTask(w.ctx, core.Task{Key: "k", Subject: "second"}, minute))
		w.ok(w.AddTask(w.ctx, core.Task{Key: "k", Subject: "third"}, 2*minute))
		w.equal("now", w.due(minute), []string{})
		w.db.Advance(minute)
		w.equal("the subject", must(w.ClaimTasks(w.ctx, 1, minute))(w)[0].Subject, "first")
	}},
	{"a task that is not ended is claimed again", func(w *world) {
		w.ok(w.AddTask(w.ctx, core.Task{Key: "k"}, 0))
		w.equal("first", w.due(minute), []string{"k"})
		w.equal("meanwhile", w.due(minute), []string{})
		w.restart()
		w.db.Advance(minute)
		w.equal("then", w.due(minute), []string{"k"})
	}},
	{"EndTask removes or delays a task", func(w *world) {
		w.ok(w.AddTask(w.ctx, core.Task{Key: "a"}, 0))
		w.ok(w.AddTask(w.ctx, core.Task{Key: "b"}, 0))
		w.due(over)
		w.ok(w.EndTask(w.ctx, "a", 0))
		w.ok(w.EndTask(w.ctx, "a", 0))
		w.ok(w.EndTask(w.ctx, "b", minute))
		w.equal("now", w.due(minute), []string{})
		w.db.Advance(minute)
		w.equal("later", w.due(minute), []string{"b"})
		w.ok(w.AddTask(w.ctx, core.Task{Key: "a"}, 0)) // its key is free again
		w.equal("again", w.due(minute), []string{"a"})
	}},
	{"a reminder adds its posts once, while the approval is open", func(w *world) {
		w.suspend(conversation,
			"a",
			core.Rule{
				Timeout: minute, Approvers: []string{bob.ID},
				Escalate: core.Escalation{After: minute / 2, To: []string{cleo.ID}},
			})
		w.sent(w.first(minute), "ref")
		again := core.Post{
			Key: "card/a/1", To: core.Address{Platform: platform, Channel: "elsewhere"}, Conversation: conversation,
			Kind: core.PostCard, Approval: "a",
			Occasion: core.Reminder, Reminds: "card/a",
		}
		remind := core.Decision{
			Approval: "a", Remind: core.Reminder, Posts: []core.Post{again}, By: core.Actor{ID: "clock"},
		}
		for range 2 {
			got := must(w.Decide(w.ctx, remind))(w)
			if !got.Counted || got.Settled || got.Approval.State != core.Open {
				w.Fatalf("got %+v", got)
			}
		}
		var row core.OutboxRow
		for _, due := range w.deliver(minute) {
			if due.Key == "card/a" { // it is redrawn: its message may have been deleted
				w.sent(due, "ref")
			} else {
				row = due
			}
		}
		w.equal("the reminder", row.Key, again.Key)
		w.equal("the card that it reminds of", row.First, core.Ref("ref"))
		w.sent(row, "ref-1")
		w.equal("due", len(w.deliver(minute)), 0)
		remind.Posts[0].Reminds = "card/none"
		remind.Remind, remind.Posts[0].Key = core.Escalated, "card/a/2"
		for range 2 {
			must(w.Decide(w.ctx, remind))(w)
		}
		rows := w.deliver(minute)
		w.equal("posted or redrawn", len(rows), 2) // the new card waits for the one before it in its channel
		for _, row := range rows {
			w.sent(row, "ref")
		}
		row = w.first(minute)
		w.equal("a card that is not there", row.First, core.Ref(""))
		w.sent(row, "ref-2")
		if rule := must(w.LoadApproval(w.ctx, "a"))(w).Rule; !slices.Equal(rule.Approvers, []string{cleo.ID, bob.ID}) ||
			rule.Escalate.After != 0 {
			w.Errorf("who may decide now: %+v", rule)
		}
		w.equal("the log", steps(must(w.AuditLog(w.ctx, 0, 0))(w)), []string{"opened", audit.Reminded, audit.Escalated})
		w.db.Advance(2 * minute)
		remind.Posts[0].Key = "card/a/3"
		_, err := w.Decide(w.ctx, remind)
		w.fails(err, core.ApprovalExpired)
		must(w.Decide(w.ctx, core.Decision{Approval: "a", Expire: true}))(w)
		_, err = w.Decide(w.ctx, remind)
		w.fails(err, core.ApprovalDecided)
	}},
	{"of overdue reminders only the latest is posted; the others are recorded", func(w *world) {
		w.suspend(conversation,
			"a", core.Rule{Timeout: 10 * minute, Remind: []time.Duration{minute, 2 * minute, 5 * minute}})
		w.sent(w.first(minute), "ref")
		remind := func(n int) {
			w.Helper()
			task := fmt.Sprintf("remind/a/%d", n)
			card := core.Post{
				Key: "card/a/" + task, To: core.Address{Platform: platform, Channel: "elsewhere"},
				Conversation: conversation, Kind: core.PostCard, Approval: "a", Occasion: core.Reminder,
			}
			must(
				w.Decide(w.ctx,
					core.Decision{
						Approval: "a", Remind: core.Reminder, Task: task, Posts: []core.Post{card},
						By: core.Actor{ID: "clock"},
					}))(w)
		}
		w.db.Advance(3 * minute) // the process was down
		for range 2 {
			remind(1)
			remind(2)
		}
		row := w.first(minute)
		w.equal("which", row.Key, "card/a/remind/a/2")
		w.sent(row, "ref-2")
		w.db.Advance(3 * minute)
		remind(2) // its end was not stored
		remind(3)
		w.equal("then", w.first(minute).Key, "card/a/remind/a/3")
		log := must(w.AuditLog(w.ctx, 0, 0))(w)
		w.equal("the log", steps(log), []string{"opened", audit.Overtaken, audit.Reminded, audit.Reminded})
		w.equal("which was overtaken", log[slices.IndexFunc(log, func(e audit.Entry) bool {
			return e.Action == audit.Overtaken
		})].Detail, "remind/a/1")
	}},
	{"working hours move reminders and the escalation, and not the deadline", func(w *world) {
		w.suspend(conversation, "x", core.Rule{})
		opened := must(w.LoadApproval(w.ctx, "x"))(w).CreatedAt.UTC()
		rule := core.Rule{
			Approvers: []string{bob.ID}, Timeout: 100 * time.Hour, Remind: []time.Duration{minute},
			Escalate: core.Escalation{After: 2 * minute, To: []string{cleo.ID}},
			Hours:    core.Hours{Zone: "UTC", Days: []time.Weekday{opened.Add(48 * time.Hour).Weekday()}, To: 24 * 60},
		}
		w.suspend(other, "a", rule)
		w.equal("the deadline", must(w.LoadApproval(w.ctx, "a"))(w).Deadline.Sub(opened) < 100*time.Hour+minute, true)
		w.db.Advance(10 * minute)
		w.equal("before", w.due(minute), []string{})
		_, err := w.Decide(w.ctx, sample.Vote("a", cleo, core.Approve))
		w.equal("cleo before", core.CategoryOf(err), core.NotAllowed)
		w.restart()
		w.db.Advance(48 * time.Hour)
		due := w.due(minute)
		slices.Sort(due)
		w.equal("then", due, []string{"escalate/a", "remind/a/1"})
		w.equal("cleo then", must(w.Decide(w.ctx, sample.Vote("a", cleo, core.Approve)))(w).Settled, true)
	}},
	{"the tasks of an approval end with it", func(w *world) {
		rule := core.Rule{
			Timeout: 10 * minute, Remind: []time.Duration{minute, 2 * minute},
			Escalate: core.Escalation{After: 3 * minute, To: []string{cleo.ID}},
		}
		w.suspend(conversation, "a", rule)
		w.suspend(other, "b", rule)
		w.db.Advance(minute)
		due := func() (all []string) {
			for _, task := range must(w.ClaimTasks(w.ctx, 10, minute))(w) {
				all = append(all, task.Key)
			}
			slices.Sort(all)
			return all
		}
		w.equal("after a minute", due(), []string{"remind/a/1", "remind/b/1"})
		w.ok(w.EndTask(w.ctx, "remind/a/1", 0))
		must(w.Decide(w.ctx, sample.Vote("b", bob, core.Deny)))(w)
		w.db.Advance(2 * minute)
		w.equal("later", due(), []string{"escalate/a", "remind/a/2"})
	}},
}

// old advances the clock by more than a day.
func (w *world) old() { w.db.Advance(48 * time.Hour) }

func (w *world) prune() int {
	w.Helper()
	return must(w.Prune(w.ctx, 24*time.Hour))(w)
}

var pruneExamples = []example{
	{"Prune removes what ended long ago, and nothing else", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		w.sent(w.first(minute), "card")
		must(w.Decide(w.ctx, w.click("a", bob, core.Approve)))(w)
		w.done(w.controls(1, minute)[0], core.Finish{End: core.End{Kind: core.EndDecided}})
		s := w.claim(minute)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.ok(w.FinishIntent(w.ctx, s, "a", core.ToolResult{}))
		w.changed(s, core.Changes{Resumed: c.Event.Invocation, Posts: []core.Post{sample.Reply(s, "done")}})
		for _, row := range w.deliver(minute) {
			w.sent(row, "r")
		}
		for _, row := range w.deliver(minute) {
			w.sent(row, "r")
		}
		w.equal("at once", w.prune(), 0)
		w.old()
		log := must(w.AuditLog(w.ctx, 0, 0))(w)
		if n := w.prune(); n < 6 {
			w.Fatalf("only %d rows were removed", n)
		}
		v := w.contents(c.Session)
		if len(v.Events)+len(v.Posts)+len(v.Approvals) != 0 {
			w.Fatalf("left: %+v", v)
		}
		if rec := must(w.LoadIntent(w.ctx, "a"))(w); rec != nil {
			w.Fatalf("left: %+v", rec)
		}
		w.equal("the audit log", v.Audit, log)
		w.equal("the messages", w.texts(c.Session, core.Writer{}), []string{"do a"})
		w.equal("again", w.prune(), 0)
		next := w.message(conversation)
		if next <= s.Event.Seq {
			w.Fatalf("number %d was given out again", next)
		}
	}},
	{"Prune keeps what an open approval needs", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{Quorum: 2})
		w.sent(w.first(minute), "card")
		d := w.click("a", bob, core.Approve)
		must(w.Decide(w.ctx, d))(w)
		w.done(w.controls(1, minute)[0], core.Finish{End: core.End{Kind: core.EndDecided}})
		w.sent(w.first(minute), "card")
		before := w.contents(c.Session)
		w.old()
		w.equal("removed", w.prune(), 0)
		w.equal("the database", w.contents(c.Session), before)
		w.equal("the repeat of a click", must(w.Decide(w.ctx, d))(w).Counted, true)
	}},
	{"Prune keeps what a paused invocation needs, decided or not", func(w *world) {
		c := w.suspend(conversation, "a", core.Rule{})
		w.sent(w.first(minute), "card")
		must(w.Decide(w.ctx, sample.Vote("a", bob, core.Approve)))(w)
		w.sent(w.first(minute), "card")
		w.old()
		w.equal("removed", w.prune(), 0)
		s := w.claim(minute)
		must(w.BeginIntent(w.ctx, s, sample.Intent(c, "a")))(w)
		w.old()
		w.equal("while it runs", w.prune(), 0)
		w.changed(s, core.Changes{Resumed: c.Event.Invocation})
	}},
	{"Prune keeps what waits, is dead or in doubt", func(w *world) {
		dead := w.message(conversation)
		w.done(w.take(dead, minute),
			core.Finish{
				End: core.End{Kind: core.EndDead},
				Changes: core.Changes{Posts: []core.Post{
					post("dead", conversation), post("doubt", other), post("waits", "plat:c"),
				}},
			})
		rows := w.deliver(minute)
		rows[0].State, rows[1].State = core.RowDead, core.RowUnknown
		w.ok(w.release(rows[0], 0))
		w.ok(w.release(rows[1], 0))
		w.message(conversation)
		w.old()
		w.equal("removed", w.prune(), 0)
		w.ok(w.Drop(w.ctx, dead))
		w.equal("a dropped letter", w.prune(), 1)
		w.ok(w.DropPost(w.ctx, rows[0].Seq))
		w.equal("a dropped post", w.prune(), 1)
	}},
	{"a retry is kept as long as the event it retries", func(w *world) {
		dead := w.message(conversation)
		w.done(w.take(dead, minute), core.Finish{End: core.End{Kind: core.EndDead}})
		again := must(w.Retry(w.ctx, dead))(w)
		w.done(w.take(again.Seq, minute), core.Finish{})
		w.old()
		w.prune()
		w.equal("the receipt", must(w.Retry(w.ctx, dead))(w).Seq, again.Seq)
	}},
	{"Prune keeps the generations", func(w *world) {
		w.changed(w.take(w.message(conversation), minute), core.Changes{NewGeneration: true})
		w.old()
		w.prune()
		w.message(conversation)
		w.equal("the session", w.claim(minute).Session, conversation.Session(2))
	}},
}
