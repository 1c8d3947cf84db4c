package main

import (
	"context"

	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// newHarness makes the case's harness, over spies, and with a subscription that is written down.
func (w *world) newHarness(transmissionsOnly bool) {
	o := chat.Options{
		Graph: w.graph, Sessions: w.stores.Sessions, Pauses: w.stores.Pauses, Observers: w.scoped, TransmissionsOnly: transmissionsOnly,
		Register: func(_ context.Context, s core.Suspended) error {
			w.subscribed = append(w.subscribed, s)
			return nil
		},
		Watch: func(t chat.Turn) {
			now := w.turns[len(w.turns)-1]
			now.invoked = append(now.invoked, t)
		},
	}
	d := w.c.get("harness")
	switch mode := d.need("mode"); mode.text() {
	case "sessioned":
	case "stateless":
		o.Mode = chat.Stateless
	default:
		mode.malformed("must be sessioned or stateless")
	}
	if c := d.get("signal_coordinator"); c != nil {
		inMemory(c)
	}
	h, err := chat.New(o)
	if err != nil {
		d.malformed("%v", err)
	}
	w.harness = h
}

// runTransmissions runs a case of harness: each transmission through Harness.Transmit.
func (w *world) runTransmissions() {
	w.newHarness(true)
	for _, d := range w.c.need("transmissions").items() {
		t := w.begin("transmission", d)
		p := d.get("payload")
		given := p.fields()
		text := func(key string) string { // the ids may stand in the payload or beside it
			if s, _ := given[key].(string); s != "" {
				return s
			}
			return d.get(key).text()
		}
		tr := chat.Transmission{
			Intent:  chat.Intent(d.get("dispatch_intent").text()),
			Session: core.SessionID(text("session_id")),
			Signal:  chat.Signal{SignalID: core.SignalID(text("signal_id")), Payload: payloadOf(d.get("signal_payload"))},
		}
		for _, at := range []*doc{d, p} {
			if id := at.get("invocation_id"); id != nil {
				tr.Signal.Invocation = w.resolve(id)
			}
		}
		if tr.Signal.Invocation != "" || tr.Signal.SignalID != "" {
			t.signal = &tr.Signal
			t.waited = w.waitingFor(tr.Signal)
		}
		t.session = tr.Session
		if t.waited != nil {
			t.session = t.waited.Session
		}
		t.before = w.spy.look(w.ctx, t.session)
		r := w.harness.Transmit(w.ctx, tr)
		t.response, t.path, t.status, t.err, t.category, t.bucket = &r, r.Path, r.Status, r.Err, r.Category, r.Bucket
		if r.Status == graph.Suspended {
			t.descriptor = &r.Result.Descriptor
		}
		if r.Path == chat.PathStateless {
			t.session = "" // whatever the payload names
		}
		w.graph.Drain(w.ctx)
		w.end(t)
		w.checkTurn(harnessChecks, t)
	}
}

// waitingFor is the record that a signal is meant for, past the journal.
func (w *world) waitingFor(s chat.Signal) *core.PausedRecord {
	if s.Invocation != "" {
		rec, _ := w.spy.mem.Paused(w.ctx, s.Invocation)
		return rec
	}
	rec, _ := w.spy.mem.BySignal(w.ctx, s.SignalID)
	return rec
}

// harnessChecks are the assertions of harness.
var harnessChecks map[string]check

func init() {
	harnessChecks = map[string]check{
		"dispatch_path": checkPath, "invoke_outcome": checkOutcome, "invoke_args": checkInvokeArgs,
		"final_state": checkFinalState, "suspended_state": checkSuspendedState, "descriptor": checkDescriptor,
		"error_category": checkCategory, "error_bucket": checkBucket, "execution_order": checkExecutionOrder,
		"signal_subscription_registered": checkSubscribed, "harness_signal_subscription_registered": checkSubscribed,
		"descriptor_read_from_outcome": checkSubscribed, "harness_did_not_block": checkNotBlocked,
		"signal_correlation_resolved": checkCorrelated,
		"resolved_to_invocation_id": func(w *world, t *turn, v *doc) {
			if len(t.invoked) != 1 || t.invoked[0].Invocation.Resume != w.resolve(v) {
				w.fault(v, "the signal did not wake %q", w.resolve(v))
			}
		},
		"outbound_shape": func(w *world, t *turn, v *doc) { w.is(v, t.response.Shape) },
		"outbound_payload_includes": func(w *world, t *turn, v *doc) {
			if d := w.match.diff(v.value(), plain(t.response.Body), true); d != "" {
				w.fault(v, "%s", d)
			}
		},
		"harness_auto_retried":     func(w *world, t *turn, v *doc) { w.is(v, len(t.invoked) > 1) },
		"session_store_load_calls": func(w *world, t *turn, v *doc) { w.is(v, t.count("load")) },
		"session_store_save_calls": func(w *world, t *turn, v *doc) { w.is(v, t.count("save", "explicit save")) },
		"saved_session_assertions": checkSaved, "store_after": checkStoreAfter,
		"invariants": func(w *world, t *turn, v *doc) { w.invariants(v, []*turn{t}) },
	}
}

func checkPath(w *world, t *turn, v *doc) { w.is(v, string(t.path)) }

func checkCategory(w *world, t *turn, v *doc) {
	t.errorExpected = true
	w.is(v, string(t.category))
}

func checkBucket(w *world, t *turn, v *doc) {
	t.errorExpected = true
	w.is(v, string(t.bucket))
}

// checkInvokeArgs compares what Graph.Invoke was called with.
func checkInvokeArgs(w *world, t *turn, v *doc) {
	if len(t.invoked) == 0 {
		w.fault(v, "the graph was not invoked (%v)", t.err)
		v.value()
		return
	}
	in := t.invoked[len(t.invoked)-1].Invocation
	given := t.givenSession()
	v.each(func(key string, d *doc) bool {
		switch key {
		case "session_id":
			w.is(d, string(in.Session))
		case "session_id_present":
			w.is(d, in.Session != "")
		case "session_id_absent_verified":
			w.is(d, in.Session == "")
		case "session_id_auto_generated":
			w.is(d, in.Session != "" && given == "")
		case "session_id_caller_supplied":
			w.is(d, in.Session != "" && string(in.Session) == given)
		case "resume_invocation":
			if want := w.resolve(d); in.Resume != want {
				w.fault(d, "it is %q, not %q", in.Resume, want)
			}
		case "signal_payload":
			w.is(d, in.Payload)
		default:
			return false
		}
		return true
	})
}

// checkSubscribed: the subscription was registered, once, with the outcome's descriptor.
func checkSubscribed(w *world, t *turn, v *doc) {
	ok := t.newSubs == 1 && t.descriptor != nil
	if ok {
		last := w.subscribed[len(w.subscribed)-1]
		ok = w.match.diff(plain(*t.descriptor), plain(last.Descriptor), false) == "" && last.Invocation == t.invocation
	}
	if ok != v.flag(true) {
		w.fault(v, "%d subscriptions were registered, the outcome is %s", t.newSubs, t.status)
	}
}

// checkNotBlocked: the call came back while the invocation still waits for its signal.
func checkNotBlocked(w *world, t *turn, v *doc) {
	if ok := t.waits != nil && t.took < patience; ok != v.flag(true) {
		w.fault(v, "it returned after %s, the record waits: %v", t.took, t.waits != nil)
	}
}

// checkCorrelated: the signal was mapped to the invocation that waited for it, and that one was resumed.
func checkCorrelated(w *world, t *turn, v *doc) {
	ok := t.waited != nil && len(t.invoked) == 1 && t.invoked[0].Invocation.Resume == t.waited.Invocation
	if ok != v.flag(true) {
		w.fault(v, "a record waited: %v, invocations: %d (%v)", t.waited != nil, len(t.invoked), t.err)
	}
}
