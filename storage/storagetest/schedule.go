package storagetest

import (
	"time"

	"gatehouse/core"
)

func (w *world) due(lease time.Duration) []string {
	w.Helper()
	all := []string{}
	for _, t := range must(w.ClaimTasks(w.ctx, 10, lease))(w) {
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
		if len(tasks) != 1 || tasks[0].Key != "k" || tasks[0].Kind != "remind" || tasks[0].Subject != "s" || tasks[0].Due.IsZero() {
			w.Fatalf("got %+v", tasks)
		}
	}},
	{"the earliest comes first, no more than the limit", func(w *world) {
		w.ok(w.AddTask(w.ctx, core.Task{Key: "later"}, 0))
		w.ok(w.AddTask(w.ctx, core.Task{Key: "sooner"}, -minute))
		w.equal("one", must(w.ClaimTasks(w.ctx, 1, minute))(w)[0].Key, "sooner")
		w.equal("the rest", w.due(minute), []string{"later"})
	}},
	{"a known key is not added again", func(w *world) {
		w.ok(w.AddTask(w.ctx, core.Task{Key: "k", Subject: "first"}, minute))
		w.ok(w.AddTask(w.ctx, core.Task{Key: "k", Subject: "second"}, 0))
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
		must(w.BeginIntent(w.ctx, s, intent(c, "a")))(w)
		w.ok(w.FinishIntent(w.ctx, s, "a", core.ToolResult{}))
		w.done(s, core.Finish{Resumed: c.Event.Invocation, Posts: []core.Post{reply(s, "done")}})
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
		must(w.Decide(w.ctx, vote("a", bob, core.Approve)))(w)
		w.sent(w.first(minute), "card")
		w.old()
		w.equal("removed", w.prune(), 0)
		s := w.claim(minute)
		must(w.BeginIntent(w.ctx, s, intent(c, "a")))(w)
		w.old()
		w.equal("while it runs", w.prune(), 0)
		w.done(s, core.Finish{Resumed: c.Event.Invocation})
	}},
	{"Prune keeps what waits, is dead or in doubt", func(w *world) {
		dead := w.message(conversation)
		w.done(w.take(dead, minute), core.Finish{End: core.End{Kind: core.EndDead}, Posts: []core.Post{post("dead", conversation), post("doubt", other), post("waits", "plat:c")}})
		rows := w.deliver(minute)
		rows[0].State, rows[1].State = core.RowDead, core.RowUnknown
		w.ok(w.ReleasePost(w.ctx, rows[0], 0))
		w.ok(w.ReleasePost(w.ctx, rows[1], 0))
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
		w.done(w.take(w.message(conversation), minute), core.Finish{NewGeneration: true})
		w.old()
		w.prune()
		w.message(conversation)
		w.equal("the session", w.claim(minute).Session, conversation.Session(2))
	}},
}
