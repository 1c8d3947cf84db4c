package storagetest

import (
	"time"

	"gatehouse/core"
	"gatehouse/storage/storagetest/sample"
)

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
		f = must(w.Figures(w.ctx))(w)
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
