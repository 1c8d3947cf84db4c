package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/harness"
	"gatehouse/cmd/conformance/internal/product"
	"gatehouse/core"
	"gatehouse/core/graph"
)

// productSuites are the suites whose cases have counterparts in the product.
var productSuites = []string{"harness-chat", "harness", "suspension"}

// noCounterpart returns why the product has no counterpart of a case; "" if it has one.
func noCounterpart(capability string, doc *fixture.Node) string {
	turns := func(key string) []*fixture.Node { return doc.Peek(key).Items() }
	initial := func(turn *fixture.Node) bool { return len(turn.Peek("initial_state").Keys()) > 0 }
	nameless := func(turn *fixture.Node) bool { return turn.Peek("session_id").Name() == "" }
	hasText := func(c core.Category) bool { return doc.HasText(string(c)) }
	for _, lack := range []struct {
		applies bool
		why     string
	}{
		{!slices.Contains(productSuites, capability), "the suite is about the engine alone"},
		{doc.Has("expected_compile_error"), "a graph that does not compile is never run"},
		{doc.Has("seeded_session") || doc.Has("session_migrations"), "only turns write sessions"},
		{
			doc.Has("initial_state") ||
				slices.ContainsFunc(slices.Concat(turns("invocations"), turns("chat_turns"), turns("transmissions")),
					initial),
			"a turn starts with a message alone",
		},
		{
			hasText(core.SuspensionPayloadInvalid),
			"an approval is decided once, so a payload that does not fit can't be corrected",
		},
		{
			hasText(core.HarnessSessionUnresolved) || slices.ContainsFunc(turns("chat_turns"), nameless),
			"every message has a conversation",
		},
		{hasText(core.HarnessPathAmbiguous), "events have kinds and no intents"},
		{hasText(core.HarnessCorrelationFailed), "a signal names its approval"},
		{doc.Mentions("mark_node_completed"), "each pause has a signal id of its own"},
		{doc.Peek("harness").Peek("mode").Name() == string(harness.Stateless), "every turn has a session"},
	} {
		if lack.applies {
			return lack.why
		}
	}
	return ""
}

// noCounterpartOf are the assertions and harness invariants that have no counterpart in the product, by the reason.
var noCounterpartOf = map[string][]string{
	"events have kinds and no intents": {
		"dispatch_path", "harness_classified_as_new_session_path", "second_invoke_classified_as_signal_resume",
	},
	"the dispatcher makes the session's id": {
		"invoke_args", "otel_spans", "span_tree", "log_records", "harness_auto_generated_session_id",
		"engine_received_session_id",
	},
	"a graph without replies sends nothing": {
		"outbound_shape", "outbound_payload_includes", "completed_outcome_surfaced_as_completion_response_shape",
		"outbound_shape_distinct_from_error_or_suspended",
	},
	"the signal is the approval's": {
		"resolved_to_invocation_id", "signal_correlation_resolved", "resume_threaded_signal_payload_into_engine",
	},
	"the state of a failed turn is not kept":    {"final_state_at_error"},
	"the dispatcher reads too":                  {"session_store_load_calls"},
	"the dispatcher saves":                      {"session_store_save_calls"},
	"the process drains, not the turn":          {"drain_summary"},
	"a reply has a bucket and no flags":         {"outbound_marked_intervention_required"},
	"the dispatcher retries transient failures": {"harness_auto_retried", "harness_did_not_auto_retry"},
}

// withoutCounterpart reports whether an assertion has no counterpart, and records it.
func (r *runner) withoutCounterpart(key string, v *fixture.Node) bool {
	// a chat's path follows from the loaded history
	if r.gateway == nil || r.doc.Has("chat_turns") && key == "dispatch_path" {
		return false
	}
	retries := strings.Contains(key, "auto_retr")
	transient := func(t *evidence.Turn) bool { return t.Bucket == core.RetryableTransient }
	for why, keys := range noCounterpartOf {
		if slices.Contains(keys, key) && (!retries || slices.ContainsFunc(r.Turns, transient)) {
			v.Value()
			r.Unmatched = append(r.Unmatched, fmt.Sprintf("%s: %s", v.Path, why))
			return true
		}
	}
	return false
}

// startProduct starts the gateway that runs the turns of the case.
func (r *runner) startProduct() (stop func()) {
	var err error
	r.gateway, err = product.Start(r.ctx, r.Graph, r.recorder, r.store.Faults)
	panicOn(err)
	r.HasSessions, r.HasPauses = true, true
	return r.gateway.Close
}

// panicOn panics for an error of the runner's own surroundings.
func panicOn(err error) {
	if err != nil {
		panic(err)
	}
}

// productTurn runs an invocation or a transmission: a signal, or otherwise a message, whose content does not matter.
func (r *runner) productTurn(t *evidence.Turn) {
	if t.Signal != nil {
		r.productSignal(t)
		return
	}
	conversation := cmp.Or(t.Given, core.SessionID(fmt.Sprintf("conversation-%d", len(r.Turns))))
	r.productMessage(t, conversation, core.Message{Role: core.User, Content: core.Text("Begin.")})
}

// productMessage runs the turn of a message.
func (r *runner) productMessage(t *evidence.Turn, conversation core.SessionID, m core.Message) {
	t.Session = r.gateway.Session(conversation)
	t.Before = r.stored(t.Session)
	ended, err := r.gateway.Send(r.ctx, conversation, m)
	panicOn(err)
	r.ended(t, ended, 1) // after the message itself
}

// productSignal resumes a paused turn. Its listeners are called with its outcome.
func (r *runner) productSignal(t *evidence.Turn) {
	ended, err := r.gateway.Signal(r.ctx, *t.Signal, t.ResumedRecord)
	panicOn(err)
	from := 0
	if t.ResumedRecord != nil {
		from = t.ResumedRecord.Messages
	}
	r.ended(t, ended, from)
	for _, l := range r.listeners {
		if l.session == t.Session {
			l.calls = append(l.calls, t.Outcome)
		}
	}
}

// ended records what was stored and delivered of a turn. from is the number of its first own message in the invocation.
func (r *runner) ended(t *evidence.Turn, e product.Ended, from int) {
	t.ID, t.Session, t.Retries = e.Event.Invocation, e.Event.Session, e.Event.Retries
	own := append([]core.Message{}, e.Messages[min(from, len(e.Messages)):]...)
	switch e.Event.End.Kind {
	case core.EndReplied, core.EndNothing:
		take(t, core.Completed{Replies: own})
	case core.EndSuspended:
		take(t, core.Suspended{Descriptor: e.Paused.Descriptor, Pending: own, Invocation: e.Paused.Invocation})
	default:
		take(t, failure(e))
	}
	if len(e.Approvals) == 1 {
		r.Subscriptions = append(r.Subscriptions,
			core.Suspended{Descriptor: core.Descriptor{
				SignalID: core.SignalID(e.Approvals[0].ID), Metadata: t.Descriptor.Metadata,
			}, Invocation: e.Approvals[0].Invocation})
	}
	r.Graph.Drain(r.ctx)
	r.end(t)
	for _, s := range []*evidence.Stored{t.Before, t.After} {
		r.dropAdded(s.Fields())
	}
	r.delivered(t, e)
	r.states(t)
}

// failure returns the outcome of a turn that did not complete, with the reply that was delivered.
func failure(e product.Ended) core.Errored {
	end := e.Event.End
	out := core.Errored{
		Category: end.Category, Bucket: core.BucketOf(end.Category), Err: core.Errorf(end.Category, "%s", end.Cause),
	}
	for _, d := range e.Delivered {
		if d.Kind == core.PostError {
			out.Bucket, out.Reply = d.Bucket, core.Message{Role: core.System, Content: core.Text(d.Text)}
		}
	}
	return out
}

// delivered compares the replies that the platform received with those of the turn.
func (r *runner) delivered(t *evidence.Turn, e product.Ended) {
	want, got := []string{}, []string{}
	for _, m := range append(t.Replies, t.Pending...) {
		if text := m.Content.String(); m.Role == core.Assistant && text != "" {
			want = append(want, text)
		}
	}
	cards := 0
	for _, d := range e.Delivered {
		switch d.Kind {
		case core.PostReply:
			got = append(got, d.Text)
		case core.PostCard:
			cards++
		}
	}
	if d := fixture.DiffValues(want, got); d != "" {
		r.Faults = append(r.Faults, fmt.Sprintf("%s: what was delivered: %s", t.Name, d))
	}
	if t.Suspended() && cards != 1 {
		r.Faults = append(r.Faults, fmt.Sprintf("%s: %d cards were delivered", t.Name, cards))
	}
}

// dropAdded removes the messages from a state, if the case does not declare them.
func (r *runner) dropAdded(fields map[string]any) {
	if r.product && !slices.Contains(r.Outer, graph.Messages.Name()) {
		delete(fields, graph.Messages.Name())
	}
}

// states reads from events and records where the turn stopped and what its states were.
func (r *runner) states(t *evidence.Turn) {
	for i, e := range t.Events {
		if i == 0 {
			first := e.Pre
			if len(e.Parents) > 0 {
				first = e.Parents[0]
			}
			t.StartState = evidence.StateFields(first)
			r.dropAdded(t.StartState)
		}
		stopped := e.Phase == graph.PhaseSuspended || e.Err != nil
		if stopped && len(e.Namespace) > len(t.Place) {
			t.Place = e.Namespace
		}
	}
	switch {
	case t.Suspended():
		t.State = fixture.PlainFields(t.PausedRecord.Frames[0].State)
	case t.Completed() && t.After != nil:
		t.State = t.After.State
	}
}
