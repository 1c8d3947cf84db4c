package main

import (
	"context"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/harness"
	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// runTransmissions runs a case of harness: each transmission through the abstract harness.
func (r *runner) runTransmissions() {
	h := &harness.Harness{
		Graph: r.Graph, Mode: r.mode(r.doc.Get("harness")), Stores: r.stores, Observers: r.scoped,
		Register: func(_ context.Context, s core.Suspended) error {
			r.Subscriptions = append(r.Subscriptions, s)
			return nil
		},
		Invoked: func(in graph.Invocation, res graph.Result) {
			r.Turns[len(r.Turns)-1].Settle(in, res)
		},
	}
	for _, d := range r.doc.Need("transmissions").Items() {
		t := r.begin(evidence.Transmission, d)
		in := r.transmission(t, d)
		t.Before = r.stored(t.Session)
		if r.gateway != nil {
			r.productTurn(t)
		} else {
			res := h.Transmit(r.ctx, in)
			t.Response, t.Path, t.Status, t.Err, t.Category, t.Bucket = &res, res.Path, res.Status, res.Err,
				res.Category, res.Bucket
			if t.Path == harness.PathStateless {
				t.Session = "" // even if the payload names one
			}
			r.Graph.Drain(r.ctx)
			r.end(t)
		}
		r.checkTurn(harnessChecks, t)
	}
}

// transmission reads a transmission. Its ids may be in the payload or next to it.
func (r *runner) transmission(t *evidence.Turn, d *fixture.Node) harness.Transmission {
	p := d.Get("payload")
	fields := p.Fields()
	text := func(key string) string {
		if s, _ := fields[key].(string); s != "" {
			return s
		}
		return d.Get(key).Text()
	}
	in := harness.Transmission{
		Intent:  harness.Intent(d.Get("dispatch_intent").Text()),
		Session: core.SessionID(text("session_id")),
		Signal:  chat.Signal{SignalID: core.SignalID(text("signal_id")), Payload: payload(d.Get("signal_payload"))},
	}
	for _, at := range []*fixture.Node{d, p} {
		if id := at.Get("invocation_id"); id != nil {
			in.Signal.Invocation = r.invocationID(id)
		}
	}
	t.Session, t.Given = in.Session, in.Session
	if in.Signal.Invocation != "" || in.Signal.SignalID != "" {
		r.signal(t, in.Signal)
	}
	return in
}

// harnessChecks are the assertions of harness.
var harnessChecks = map[string]check{
	"dispatch_path": checkPath, "invoke_outcome": checkOutcome, "invoke_args": checkInvokeArgs,
	"final_state": checkFinalState, "suspended_state": checkSuspendedState, "descriptor": checkDescriptor,
	"error_category": checkCategory, "error_bucket": checkBucket, "execution_order": checkExecutionOrder,
	"signal_subscription_registered": checkSubscribed, "harness_signal_subscription_registered": checkSubscribed,
	"descriptor_read_from_outcome": checkSubscribed, "harness_did_not_block": checkNotBlocked,
	"signal_correlation_resolved": checkCorrelated,
	"resolved_to_invocation_id": func(r *runner, t *evidence.Turn, v *fixture.Node) {
		r.must(len(t.Invoked) == 1 && r.sameInvocation(v, t.Invoked[0].Invocation.Resume), v,
			"the signal did not resume %q", v.Text())
	},
	"outbound_shape":            func(r *runner, t *evidence.Turn, v *fixture.Node) { r.is(v, t.Response.Shape) },
	"outbound_payload_includes": func(r *runner, t *evidence.Turn, v *fixture.Node) { r.includes(v, t.Response.Body) },
	"harness_auto_retried": func(r *runner, t *evidence.Turn, v *fixture.Node) {
		r.is(v, len(t.Invoked) > 1 || t.Retries > 0)
	},
	"session_store_load_calls": func(r *runner, t *evidence.Turn, v *fixture.Node) { r.is(v, t.Count(evidence.Load)) },
	"session_store_save_calls": func(r *runner, t *evidence.Turn, v *fixture.Node) {
		r.is(v, t.Count(evidence.Save, evidence.ExplicitSave))
	},
	"saved_session_assertions": checkSaved, "store_after": checkStoreAfter,
	"invariants": checkTurnInvariants,
}

// checkInvokeArgs compares what Graph.Invoke was called with.
func checkInvokeArgs(r *runner, t *evidence.Turn, v *fixture.Node) {
	if !r.must(len(t.Invoked) > 0, v, "the graph was not invoked (%v)", t.Err) {
		return
	}
	in := t.Invoked[len(t.Invoked)-1].Invocation
	keys(v, map[string]func(*fixture.Node){
		"session_id":                 func(d *fixture.Node) { r.is(d, in.Session) },
		"session_id_present":         func(d *fixture.Node) { r.is(d, in.Session != "") },
		"session_id_absent_verified": func(d *fixture.Node) { r.is(d, in.Session == "") },
		"session_id_auto_generated":  func(d *fixture.Node) { r.is(d, in.Session != "" && t.Given == "") },
		"session_id_caller_supplied": func(d *fixture.Node) { r.is(d, in.Session != "" && in.Session == t.Given) },
		"resume_invocation": func(d *fixture.Node) {
			r.must(r.sameInvocation(d, in.Resume), d, "it is %q, not %q", in.Resume, d.Text())
		},
		"signal_payload": func(d *fixture.Node) { r.is(d, in.Payload) },
	})
}

// checkSubscribed checks that the subscription was registered once, with the outcome's descriptor.
func checkSubscribed(r *runner, t *evidence.Turn, v *fixture.Node) {
	ok := t.Subscribed == 1 && t.Descriptor != nil
	if ok {
		last := r.Subscriptions[len(r.Subscriptions)-1]
		ok = fixture.Equal(*t.Descriptor, last.Descriptor) && last.Invocation == t.ID
	}
	r.must(ok == v.Flag(true), v, "%d subscriptions were registered, the outcome is %s", t.Subscribed, t.Status)
}

// checkNotBlocked checks that the call returned while the invocation waits for its signal.
func checkNotBlocked(r *runner, t *evidence.Turn, v *fixture.Node) {
	ok := t.PausedRecord != nil && t.Took < evidence.Patience
	r.must(ok == v.Flag(true), v, "it returned after %s, the record waits: %v", t.Took, t.PausedRecord != nil)
}

// checkCorrelated checks that the signal was mapped to the invocation that waited for it, which was resumed.
func checkCorrelated(r *runner, t *evidence.Turn, v *fixture.Node) {
	ok := t.ResumedRecord != nil && len(t.Invoked) == 1 && t.Invoked[0].Invocation.Resume == t.ResumedRecord.Invocation
	r.must(ok == v.Flag(true), v, "a record waited: %v, invocations: %d (%v)", t.ResumedRecord != nil, len(t.Invoked),
		t.Err)
}
