// Package invariant checks the invariants of fixtures. An invariant is a name without a definition, so each known
// published name has its own predicate here. It reads the evidence of the run and fails if that contradicts the name,
// or if the run has no turn that the name could be about. Names match exactly. A name that is not in the tables is
// unknown; the runner reports it as unchecked.
package invariant

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/llm"
)

// Predicate checks one invariant; v is its value in the fixture. turns are the turns that it is about: those of a case,
// one of them if the invariant is with a turn's assertions, or those of all cases of a file.
type Predicate func(c *evidence.Case, turns []*evidence.Turn, v *fixture.Node) error

// Named returns the predicate of a published name.
func Named(name string) (p Predicate, known bool) {
	i, known := valued[name]
	if known {
		return i.check, true
	}
	if i, known = claims[name]; !known {
		return nil, false
	}
	return func(c *evidence.Case, turns []*evidence.Turn, v *fixture.Node) error {
		if !v.Flag(true) {
			return errors.New("an invariant can't be expected not to hold")
		}
		return i.check(c, turns, v)
	}, true
}

// Names returns all names that have a predicate.
func Names() []string {
	return slices.Sorted(slices.Values(slices.AppendSeq(slices.Collect(maps.Keys(valued)), maps.Keys(claims))))
}

// invariant is a predicate that must hold for every turn of a subject, of which there must be at least one.
type invariant struct {
	subject subject
	holds   func(run) error
}

// run is one turn that an invariant is about, with all that a predicate may read.
type run struct {
	*evidence.Turn
	index int              // in turns
	turns []*evidence.Turn // all turns that the invariant is about
	c     *evidence.Case
	v     *fixture.Node // the invariant's value
}

func (i invariant) check(c *evidence.Case, turns []*evidence.Turn, v *fixture.Node) error {
	checked := false
	for n, t := range turns {
		r := run{t, n, turns, c, v}
		if !i.subject.applies(r) {
			continue
		}
		checked = true
		if err := i.holds(r); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	return require(checked, "nothing to check: there is no %s", i.subject.what)
}

// subject selects turns.
type subject struct {
	what    string
	applies func(run) bool
}

// and narrows a subject.
func (s subject) and(what string, applies func(run) bool) subject {
	return subject{what, func(r run) bool { return s.applies(r) && applies(r) }}
}

// of selects the turns of a kind.
func of(k evidence.Kind) subject {
	return subject{string(k), func(r run) bool { return r.Kind == k }}
}

// failedWith selects the turns that failed with a category.
func failedWith(c core.Category) subject {
	return subject{"turn that failed with " + string(c), func(r run) bool { return r.Errored() && r.Category == c }}
}

// The subjects.
var (
	anyTurn    = subject{"turn", func(run) bool { return true }}
	firstTurn  = subject{"first turn", func(r run) bool { return r.index == 0 }}
	secondTurn = subject{"second turn", func(r run) bool { return r.index == 1 }}
	failed     = subject{"failed turn", run.Errored}
	signalled  = subject{"signal", func(r run) bool { return r.Signal != nil }}
	invoked    = subject{"invocation of a graph", func(r run) bool { return len(r.Invoked) > 0 }}
	withStore  = invoked.and("invocation of a graph with a session store", func(r run) bool { return r.c.HasSessions })

	transmission          = of(evidence.Transmission)
	firstTransmission     = transmission.and("transmission as the first turn", firstTurn.applies)
	completedTransmission = transmission.and("completed transmission", run.Completed)
	failedTransmission    = transmission.and("failed transmission", run.Errored)

	send           = of(evidence.Send)
	completedSend  = send.and("completed send", run.Completed)
	suspendedSend  = send.and("suspended send", run.Suspended)
	failedSend     = send.and("failed send", run.Errored)
	malformedSend  = send.and("malformed message", failedWith(core.ChatMessageShapeInvalid).applies)
	loadFailedSend = send.and("send whose session could not be loaded", failedWith(core.SessionLoadFailed).applies)

	saved = subject{"turn that saved", func(r run) bool {
		return r.Count(evidence.Save, evidence.ExplicitSave) > 0
	}}
	savedProjection = saved.and("turn that saved a projection", func(r run) bool {
		return r.c.Projected != nil && len(r.c.Projected) < len(r.c.Outer)
	})
	savedAgain = saved.and("completed turn of a stored session that was saved at its end", func(r run) bool {
		return r.Completed() && r.Before != nil && r.Count(evidence.Save) > 0
	})
	savedThenFailed = failed.and("turn that saved and then failed", func(r run) bool {
		return r.Count(evidence.ExplicitSave) > 0
	})
	migrationsReported = subject{"turn that reports migrations", func(r run) bool {
		return len(r.Entry().Migrations) > 0
	}}
	migrated    = subject{"turn that migrated", func(r run) bool { return r.Count(evidence.Migration) > 0 }}
	ranSubgraph = subject{"turn that ran a subgraph", func(r run) bool {
		return len(innerEvents(r.Events)) > 0
	}}
	loadedAndRanSubgraph = ranSubgraph.and("turn of a session that ran a subgraph", func(r run) bool {
		return r.Count(evidence.Load) > 0
	})
	sessionEvents = subject{"turn of a session with events", func(r run) bool {
		return r.Session != "" && len(r.Events) > 0
	}}
	traced = subject{"turn with spans", func(r run) bool { return len(r.Spans) > 0 }}
	logged = subject{"turn with log lines", func(r run) bool { return len(r.Logs) > 0 }}

	suspended           = subject{"suspended turn", func(r run) bool { return r.Suspended() && len(r.Place) > 0 }}
	suspendedInSubgraph = suspended.and("turn that suspended in a subgraph", func(r run) bool {
		return len(r.Place) > 1
	})
	resumed        = subject{"resumed turn", func(r run) bool { return r.Resumed() && r.StartState != nil }}
	resumedNothing = signalled.and("signal that no record waits for", func(r run) bool {
		return r.ResumedRecord == nil
	})

	observed          = subject{"turn with an observer", func(r run) bool { return len(r.Observed) > 0 }}
	observedSuspended = suspended.and("suspended turn with an observer", observed.applies)
	edgeFailed        = observed.and("turn with an observer whose edge failed", func(r run) bool {
		return r.Errored() &&
			slices.Contains([]core.Category{core.RoutingError, core.EdgeException}, evidence.CarrierOf(r.Err))
	})
	drainTimedOut     = subject{"drain that reached its limit", func(r run) bool { return r.Drained.TimeoutReached }}
	drainLimited      = drainTimedOut.and("drain that reached its limit", func(r run) bool { return r.DrainLimit > 0 })
	completedTimedOut = drainTimedOut.and("completed turn whose drain reached its limit", func(r run) bool {
		return r.Completed() && invoked.applies(r)
	})
)

// valued are the invariants whose value matters.
var valued = map[string]invariant{
	"error_category_not":                  {failed, categoryNot},
	"no_events_for_node":                  {observed, noEventsForNode},
	"session_id_uniform_across_span_tree": {traced, spansCarrySession},
	"all_logs_carry_session_id":           {logged, logsCarrySession},
	"pre_node_events_count":               {observed, eventCount(isOf("pre"))},
	"process_node_events_count":           {observed, eventCount(isOf("process"))},
	"inner_event_count":                   {observed, eventCount(isInner)},
	"inner_fan_out_indices_seen":          {observed, innerSeen("fan_out_index")},
	"inner_attempt_indices_seen":          {observed, innerSeen("attempt_index")},
	"inner_branch_names_seen":             {observed, innerSeen("branch_name")},
}

// claims are the invariants whose value is true.
var claims = map[string]invariant{
	// harness
	"harness_classified_as_new_session_path":       {transmission, newSessionPath},
	"harness_auto_generated_session_id":            {transmission, sessionGenerated},
	"engine_received_session_id":                   {invoked, engineReceivedSession},
	"first_invoke_suspended_and_signal_subscribed": {firstTransmission, firstSuspendedAndSubscribed},
	"second_invoke_classified_as_signal_resume":    {secondTurn, secondIsSignalResume},
	"resume_threaded_signal_payload_into_engine":   {signalled, payloadReachedEngine},
	"harness_did_not_block_between_suspend_and_signal": {transmission.and("suspended transmission",
		run.Suspended), notBlocked},
	"completed_outcome_surfaced_as_completion_response_shape": {completedTransmission, completionShape},
	"outbound_shape_distinct_from_error_or_suspended":         {completedTransmission, shapeDistinct},
	"session_load_failed_classified_as_terminating": {
		failedWith(core.SessionLoadFailed), bucketIs(core.SessionTerminating),
	},
	"harness_did_not_auto_retry":                   {failedTransmission, notRetried},
	"outbound_marked_intervention_required":        {failedTransmission, interventionRequired},
	"stateless_harness_classified_via_path_3_0":    {transmission, statelessPath},
	"stateless_harness_did_not_resolve_session_id": {transmission, sessionNotResolved},
	"engine_did_not_invoke_session_store":          {withStore, storeNotCalled},
	"session_store_completely_untouched":           {withStore, storeNotCalled},

	// harness-chat
	"send_returns_chat_turn_outcome":                                   {send, sendReturnsOutcome},
	"replies_contain_only_new_messages_appended_during_turn":           {completedSend, repliesAreNew},
	"replies_field_contains_only_current_turn_new_messages":            {completedSend, repliesAreNew},
	"turn_2_loads_turn_1_history":                                      {secondTurn, secondLoadsFirstHistory},
	"session_messages_field_accumulates_via_append_reducer":            {send, historyAccumulates},
	"pending_message_extracted_from_state_messages_tail":               {suspendedSend, pendingIsTail},
	"chat_harness_does_not_block_on_suspended_outcome":                 {suspendedSend, notBlocked},
	"no_chat_specific_engine_hook_required_for_pending_message":        {suspendedSend, pendingFromNodes},
	"compose_pending_state_persisted_before_suspend_node_runs":         {suspendedSend, composedBeforeSuspending},
	"error_bucket_routes_to_harness_section_7_1":                       {failedSend, bucketIs(core.SessionTerminating)},
	"reply_role_is_system":                                             {failedSend, replyIsSystem},
	"chat_harness_does_not_invoke_graph_when_session_load_fails":       {loadFailedSend, noGraphWithoutSession},
	"message_validation_runs_at_send_api_boundary_before_session_load": {malformedSend, validatedBeforeLoad},
	"chat_message_shape_invalid_routes_to_user_correctable": {
		failedWith(core.ChatMessageShapeInvalid), bucketIs(core.UserCorrectable),
	},
	"graph_body_not_invoked_when_message_validation_fails": {malformedSend, noNodeRan},

	// sessions
	"second_invoke_loads_first_invoke_state":       {secondTurn, secondLoadsFirstState},
	"saved_record_overwrites_prior":                {savedAgain, saveOverwrites},
	"scratch_field_never_persisted":                {savedProjection, scratchNotStored},
	"projected_field_persists_across_invokes":      {secondTurn, projectionPersists},
	"mid_invoke_save_survives_subsequent_crash":    {savedThenFailed, explicitSaveSurvives},
	"single_migration_invocation":                  {migrationsReported, oneMigration},
	"migration_runs_before_projection_merge":       {migrated, migratedBeforeMerge},
	"subgraph_state_fields_match_subgraph_schema":  {ranSubgraph, innerFieldsMatchSchema},
	"subgraph_does_not_see_session_state_directly": {loadedAndRanSubgraph, innerSeesNoSession},
	"no_inner_session_load_or_save":                {ranSubgraph, noInnerSessionCalls},
	"node_event_does_not_carry_session_id_field":   {sessionEvents, eventsWithoutSession},
	"node_never_invoked":                           {anyTurn, noNodeRan},

	// suspension
	"suspend_returns_suspended_outcome":                  {firstTurn, suspendedOutcome},
	"resume_merges_signal_payload":                       {resumed, overlaid},
	"resume_continues_after_suspending_node":             {resumed, resumeContinues},
	"resume_against_non_suspended_raises_record_invalid": {resumedNothing, recordInvalid},
	"resume_covers_completed_and_never_existed_cases":    {resumedNothing, recordInvalidBothWays},
	"subgraph_suspend_propagates_to_outer":               {suspendedInSubgraph, suspensionPropagates},
	"resume_re_enters_at_inner_post":                     {resumed, resumeEntersAt("inner_post")},
	"after_subgraph_runs_post_resume":                    {resumed, resumeRuns("after_subgraph")},
	"single_instance_suspend_suspends_whole_fan_out": {
		suspendedInSubgraph, partSuspendsContainer("fan_out_index"),
	},
	"single_branch_suspend_suspends_whole_parallel_branches": {
		suspendedInSubgraph, partSuspendsContainer("branch_name"),
	},
	"siblings_cancelled_under_fail_fast":                    {suspendedInSubgraph, siblingsCancelled},
	"descriptor_carries_fan_out_index":                      {suspendedInSubgraph, descriptorCarries("fan_out_index")},
	"descriptor_carries_branch_name":                        {suspendedInSubgraph, descriptorCarries("branch_name")},
	"middleware_pre_next_block_runs_on_suspending_node":     {suspended, middlewareBeforeNextRan},
	"middleware_post_next_block_skipped_on_suspending_node": {suspended, middlewareAfterNextSkipped},
	"no_completed_event_for_suspending_node":                {observedSuspended, noCompletedEvent},
	"suspended_event_carries_descriptor":                    {observedSuspended, suspendedEventCarriesDescriptor},
	"started_followed_by_suspended_in_order":                {observedSuspended, startedThenSuspended},

	// graph-engine
	"drain_returned_within_timeout":              {drainLimited, drainInTime},
	"graph_state_intact_after_timeout":           {completedTimedOut, graphIntact},
	"edge_resolution_failure_in_completed_event": {edgeFailed, edgeFailureInCompleted},
	"pre_node_fan_out_index_absent":              {observed, noFanOutIndex("pre")},
	"process_node_fan_out_index_absent":          {observed, noFanOutIndex("process")},
	"inner_event_identities_unique":              {observed, innerEventsUnique},

	// observability
	"n_content_chunks_emit_n_token_events":                     {streamAnswered, tokenForEachChunk},
	"chunk_index_monotonic_from_zero":                          {streamedCall, chunksCounted},
	"ordered_deltas_concatenate_to_assembled_content":          {streamAnswered, deltasAssemble},
	"all_token_event_call_ids_match_terminal_completion_event": {streamAnswered, idsMatch},
	"exactly_one_terminal_llm_completion_event":                {called, oneEnd(evidence.LlmCompletion)},
	"exactly_one_llm_completion_event":                         {called, oneEnd(evidence.LlmCompletion)},
	"exactly_one_terminal_llm_failed_event":                    {called, oneEnd(evidence.LlmFailed)},
	"zero_llm_completion_events_on_failed_stream":              {streamFailed, noCompletion},
	"no_llm_token_failed_event_variant_exists":                 {called, noOtherVariant},
	"partial_token_events_fire_before_failure":                 {partialFailure, partsBeforeFailure},
	"zero_token_events_on_non_streamed_call":                   {calledAtOnce, noTokens},
	"tool_call_argument_deltas_emit_no_token_events":           {callsStreamed, tokenForEachChunk},
	"no_tool_call_kind_token_events": {
		streamedCall, tokensOf(llm.TokenContent, llm.TokenReasoning),
	},
	"only_content_kind_token_events_emitted":                     {streamedCall, tokensOf(llm.TokenContent)},
	"terminal_output_tool_calls_reassembled_complete_and_parsed": {callsStreamed, callsComplete},
	"reassembled_tool_calls_identical_to_non_streamed":           {callsStreamed, callsSameAtOnce},
}

// require returns an error unless ok.
func require(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// same returns an error unless two values are equal.
func same(what string, want, got any) error {
	d := fixture.DiffValues(want, got)
	return require(d == "", "%s: %s", what, d)
}

// invocation returns the turn's only call of Graph.Invoke; once is false if there were none or several.
func (r run) invocation() (in graph.Invocation, once bool) {
	if len(r.Invoked) != 1 {
		return in, false
	}
	return r.Invoked[0].Invocation, true
}

// loaded returns the session that the turn loaded first; nil if it loaded none.
func (r run) loaded() *evidence.Stored {
	if loads := r.Of(evidence.Load); len(loads) > 0 {
		return loads[0].Record
	}
	return nil
}

// ended reports whether the nodes that ran end with this one.
func (r run) ended(node string) bool {
	ran := r.Ran()
	return len(ran) > 0 && ran[len(ran)-1] == node
}
