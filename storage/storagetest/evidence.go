package storagetest

import (
	"encoding/json"

	"gatehouse/core"
)

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
		w.done(c, core.Finish{Paused: paused(c, "a", 1), Approval: asks(c, "a", core.Rule{}), Evidence: json.RawMessage(`{"leg":1}`)})
		w.equal("paused", w.evidence(id), `{"leg":1}`)
		s := w.take(w.signal(conversation, id), minute)
		w.restart()
		s = w.take(s.Event.Seq, minute)
		w.done(s, core.Finish{Resumed: id, Evidence: json.RawMessage(`{"leg":"<2>"}`)})
		w.equal("ended", w.evidence(id), `{"leg":"<2>"}`)
	}},
	{"a turn without evidence leaves earlier evidence alone", func(w *world) {
		c := w.take(w.message(conversation), minute)
		id := c.Event.Invocation
		w.done(c, core.Finish{Paused: paused(c, "a", 1), Evidence: json.RawMessage(`{"leg":1}`)})
		s := w.take(w.signal(conversation, id), minute)
		w.done(s, core.Finish{Resumed: id})
		w.equal("kept", w.evidence(id), `{"leg":1}`)
	}},
	{"evidence is stored with the turn or not at all", func(w *world) {
		seq := w.message(conversation)
		c := w.take(seq, over)
		w.take(seq, minute)
		w.fails(w.Finish(w.ctx, finish(c, core.Finish{Evidence: json.RawMessage(`{}`)})), core.LeaseLost)
		w.equal("of a lost conversation", w.evidence(c.Event.Invocation), "")
	}},
	{"a turn that is retried stores no evidence", func(w *world) {
		c := w.take(w.message(conversation), minute)
		w.fails(w.Finish(w.ctx, finish(c, core.Finish{Retry: &core.Retry{}, Evidence: json.RawMessage(`{}`)})), core.Internal)
		w.done(c, core.Finish{})
	}},
	{"old evidence is pruned, except a paused turn's", func(w *world) {
		c := w.take(w.message(conversation), minute)
		w.done(c, core.Finish{Evidence: json.RawMessage(`{"a":1}`)})
		d := w.take(w.message(conversation), minute)
		w.done(d, core.Finish{Paused: paused(d, "p", 1), Approval: asks(d, "p", core.Rule{}), Evidence: json.RawMessage(`{"b":1}`)})
		w.prune()
		w.equal("young", w.evidence(c.Event.Invocation), `{"a":1}`)
		w.old()
		w.prune()
		w.equal("old", w.evidence(c.Event.Invocation), "")
		w.equal("of a paused turn", w.evidence(d.Event.Invocation), `{"b":1}`)
	}},
	{"evidence is deleted with its session", func(w *world) {
		c := w.take(w.message(conversation), minute)
		w.done(c, core.Finish{Session: w.session(c, 0, "x"), Evidence: json.RawMessage(`{"a":1}`)})
		d := w.take(w.message(other), minute)
		w.done(d, core.Finish{Session: w.session(d, 0, "y"), Evidence: json.RawMessage(`{"b":1}`)})
		w.ok(w.DeleteSession(w.ctx, c.Session))
		w.equal("gone", w.evidence(c.Event.Invocation), "")
		w.equal("another's", w.evidence(d.Event.Invocation), `{"b":1}`)
	}},
}
