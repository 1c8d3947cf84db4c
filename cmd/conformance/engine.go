package main

import (
	"context"
	"time"

	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// patience is how long anything without a limit of its own may take.
const patience = 20 * time.Second

// runEngine runs the invocations of a case of graph-engine, sessions or suspension.
func (w *world) runEngine() {
	if !w.c.has("invocations") {
		n := 1
		if d := w.c.get("run_count"); d != nil {
			n = int(d.number())
		}
		for range n - 1 {
			w.invoke(w.c)
		}
		w.checkTurn(engineChecks, w.invoke(w.c))
		w.sameRuns()
		return
	}
	for _, d := range w.c.get("invocations").items() {
		w.checkTurn(engineChecks, w.invoke(d))
	}
}

// invoke runs one invocation as the fixture describes it.
func (w *world) invoke(d *doc) *turn {
	t := w.begin("invocation", d)
	in := graph.Invocation{Observers: w.scoped}
	session := w.c.get("session_id")
	if own := d.get("session_id"); own != nil {
		session = own
	}
	in.Session = core.SessionID(session.text())
	for _, from := range []*doc{w.c, d} {
		if initial := from.get("initial_state"); !initial.isNull() {
			in.Initial = w.update(initial.fields(), keysOf(initial))
		}
	}
	if r := d.get("resume_invocation"); r != nil {
		in.Resume = w.resolve(r)
		in.Payload = payloadOf(d.get("signal_payload"))
		t.signal = &chat.Signal{Invocation: in.Resume, Payload: in.Payload}
		t.waited = w.lastPause(in.Resume)
	}
	t.session = in.Session
	if t.waited != nil {
		t.session = t.waited.Session
	}
	t.before = w.spy.look(w.ctx, t.session)
	res := w.graph.Invoke(w.ctx, w.stores, in)
	t.invoked = append(t.invoked, chat.Turn{Invocation: in, Result: res})
	w.settle(t, res)
	w.drain(t, d)
	w.end(t)
	return t
}

// lastPause is what is known of a pause where no pause store was given: the outcome that reported it, if it was not resumed since.
func (w *world) lastPause(id core.InvocationID) *core.PausedRecord {
	if rec, _ := w.spy.mem.Paused(w.ctx, id); rec != nil {
		return rec
	}
	for i := len(w.turns) - 2; i >= 0; i-- {
		t := w.turns[i]
		if t.invocation != id || errored(t) && resuming(t) && !resumed(t) { // one that was refused took nothing up
			continue
		}
		if t.status != graph.Suspended {
			return nil
		}
		return &core.PausedRecord{Invocation: id, Session: t.session, Descriptor: *t.descriptor, Frames: []core.Frame{{Node: t.result().Namespace[0]}}}
	}
	return nil
}

// settle takes an invocation's end over into the turn.
func (w *world) settle(t *turn, res graph.Result) {
	t.status, t.err, t.invocation = res.Status, res.Err, res.Invocation
	if res.Err != nil {
		t.category = core.CategoryOf(res.Err)
		t.bucket = core.BucketOf(t.category)
	}
	if res.Status == graph.Suspended {
		t.descriptor = &res.Descriptor
	}
}

// drain waits for the observers, as long as the fixture says.
func (w *world) drain(t *turn, d *doc) {
	limit := d.get("drain")
	for _, key := range []string{"invoke", "invoke_with"} {
		if inv := d.get(key); inv != nil {
			limit = inv.get("drain")
		}
	}
	begin := time.Now()
	if s := limit.get("timeout_seconds"); !s.isNull() {
		t.drainLimit = time.Duration(s.number() * float64(time.Second))
		var err error
		if t.drained, err = w.graph.DrainWithin(w.ctx, t.drainLimit); err != nil {
			w.fault(s, "%v", err)
		}
	} else {
		ctx, cancel := context.WithTimeout(w.ctx, patience)
		defer cancel()
		t.drained = w.graph.Drain(ctx)
	}
	t.drainTook = time.Since(begin)
}

// sameRuns compares all runs of one invocation (graph-engine §5).
func (w *world) sameRuns() {
	for _, t := range w.turns[1:] {
		first := w.turns[0]
		if d := w.match.diff(stateFields(first.result().State), stateFields(t.result().State), false); d != "" {
			w.faults = append(w.faults, t.name+": the final state differs from the first run's: "+d)
		}
		if d := w.match.diff(plain(first.ran()), plain(t.ran()), false); d != "" {
			w.faults = append(w.faults, t.name+": the order of nodes differs from the first run's: "+d)
		}
	}
}
