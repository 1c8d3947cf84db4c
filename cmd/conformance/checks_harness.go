package main

import (
	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
)

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
		"resolved_to_invocation_id": func(r *runner, t *evidence.Turn, v *fixture.Node) {
			r.must(len(t.Invoked) == 1 && r.sameInvocation(v, t.Invoked[0].Invocation.Resume), v, "the signal did not resume %q", v.Text())
		},
		"outbound_shape":            func(r *runner, t *evidence.Turn, v *fixture.Node) { r.is(v, t.Response.Shape) },
		"outbound_payload_includes": func(r *runner, t *evidence.Turn, v *fixture.Node) { r.includes(v, t.Response.Body) },
		"harness_auto_retried":      func(r *runner, t *evidence.Turn, v *fixture.Node) { r.is(v, len(t.Invoked) > 1 || t.Retries > 0) },
		"session_store_load_calls":  func(r *runner, t *evidence.Turn, v *fixture.Node) { r.is(v, t.Count(evidence.Load)) },
		"session_store_save_calls": func(r *runner, t *evidence.Turn, v *fixture.Node) {
			r.is(v, t.Count(evidence.Save, evidence.ExplicitSave))
		},
		"saved_session_assertions": checkSaved, "store_after": checkStoreAfter,
		"invariants": checkTurnInvariants,
	}
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

// checkSubscribed: the subscription was registered, once, with the outcome's descriptor.
func checkSubscribed(r *runner, t *evidence.Turn, v *fixture.Node) {
	ok := t.Subscribed == 1 && t.Descriptor != nil
	if ok {
		last := r.Subscriptions[len(r.Subscriptions)-1]
		ok = fixture.DiffValues(fixture.Plain(*t.Descriptor), fixture.Plain(last.Descriptor)) == "" && last.Invocation == t.ID
	}
	r.must(ok == v.Flag(true), v, "%d subscriptions were registered, the outcome is %s", t.Subscribed, t.Status)
}

// checkNotBlocked: the call came back while the invocation still waits for its signal.
func checkNotBlocked(r *runner, t *evidence.Turn, v *fixture.Node) {
	ok := t.Waits != nil && t.Took < evidence.Patience
	r.must(ok == v.Flag(true), v, "it returned after %s, the record waits: %v", t.Took, t.Waits != nil)
}

// checkCorrelated: the signal was mapped to the invocation that waited for it, and that one was resumed.
func checkCorrelated(r *runner, t *evidence.Turn, v *fixture.Node) {
	ok := t.Waited != nil && len(t.Invoked) == 1 && t.Invoked[0].Invocation.Resume == t.Waited.Invocation
	r.must(ok == v.Flag(true), v, "a record waited: %v, invocations: %d (%v)", t.Waited != nil, len(t.Invoked), t.Err)
}
