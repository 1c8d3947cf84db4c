// Package invariant checks the invariants of fixtures. An invariant is a name without a definition, so each known published name has
// its own predicate here. It reads the evidence of the run and fails if that contradicts the name, or if there is nothing that the
// name could be about. Names match exactly. A name that is not in the map is unknown; the runner reports it as unchecked.
package invariant

import (
	"errors"
	"fmt"
	"slices"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
)

// Predicate checks one invariant; v is its value in the fixture. turns are the turns that it is about: those of a case, one of them
// if the invariant is with a turn's assertions, or those of all cases of a file.
type Predicate func(c *evidence.Case, turns []*evidence.Turn, v *fixture.Node) error

// Named returns the predicate of a published name.
func Named(name string) (p Predicate, known bool) {
	if p, known = valued[name]; known {
		return p, true
	}
	claim, known := claims[name]
	if !known {
		return nil, false
	}
	return func(c *evidence.Case, turns []*evidence.Turn, v *fixture.Node) error {
		if !v.Flag(true) {
			return errors.New("an invariant can't be expected not to hold")
		}
		return claim(c, turns)
	}, true
}

// Names returns all names that have a predicate.
func Names() []string {
	var out []string
	for name := range valued {
		out = append(out, name)
	}
	for name := range claims {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// claim is a predicate whose invariant's value is true.
type claim func(c *evidence.Case, turns []*evidence.Turn) error

// valued are the invariants whose value matters.
var valued = map[string]Predicate{
	"error_category_not":                  categoryNot,
	"no_events_for_node":                  noEventsForNode,
	"session_id_uniform_across_span_tree": spansCarrySession,
	"all_logs_carry_session_id":           logsCarrySession,
	"pre_node_events_count":               eventCount("pre"),
	"process_node_events_count":           eventCount("process"),
	"inner_event_count":                   innerEventCount,
	"inner_fan_out_indices_seen":          innerSeen("fan_out_index"),
	"inner_attempt_indices_seen":          innerSeen("attempt_index"),
	"inner_branch_names_seen":             innerSeen("branch_name"),
}

// claims are the invariants whose value is true.
var claims = map[string]claim{
	// harness
	"harness_classified_as_new_session_path":                  newSessionPath,
	"harness_auto_generated_session_id":                       sessionGenerated,
	"engine_received_session_id":                              engineReceivedSession,
	"first_invoke_suspended_and_signal_subscribed":            firstSuspendedAndSubscribed,
	"second_invoke_classified_as_signal_resume":               secondIsSignalResume,
	"resume_threaded_signal_payload_into_engine":              payloadReachedEngine,
	"harness_did_not_block_between_suspend_and_signal":        notBlocked(evidence.Transmission),
	"completed_outcome_surfaced_as_completion_response_shape": completionShape,
	"outbound_shape_distinct_from_error_or_suspended":         shapeDistinct,
	"session_load_failed_classified_as_terminating":           loadFailureTerminates,
	"harness_did_not_auto_retry":                              notRetried,
	"outbound_marked_intervention_required":                   interventionRequired,
	"stateless_harness_classified_via_path_3_0":               statelessPath,
	"stateless_harness_did_not_resolve_session_id":            sessionNotResolved,
	"engine_did_not_invoke_session_store":                     storeNotCalled,
	"session_store_completely_untouched":                      storeNotCalled,

	// harness-chat
	"send_returns_chat_turn_outcome":                                   sendReturnsOutcome,
	"replies_contain_only_new_messages_appended_during_turn":           repliesAreNew,
	"replies_field_contains_only_current_turn_new_messages":            repliesAreNew,
	"turn_2_loads_turn_1_history":                                      secondLoadsFirstHistory,
	"session_messages_field_accumulates_via_append_reducer":            historyAccumulates,
	"pending_message_extracted_from_state_messages_tail":               pendingIsTail,
	"chat_harness_does_not_block_on_suspended_outcome":                 notBlocked(evidence.Send),
	"no_chat_specific_engine_hook_required_for_pending_message":        pendingFromNodes,
	"compose_pending_state_persisted_before_suspend_node_runs":         composedBeforeSuspending,
	"error_bucket_routes_to_harness_section_7_1":                       terminatingBucket,
	"reply_role_is_system":                                             replyIsSystem,
	"chat_harness_does_not_invoke_graph_when_session_load_fails":       noGraphWithoutSession,
	"message_validation_runs_at_send_api_boundary_before_session_load": validatedBeforeLoad,
	"chat_message_shape_invalid_routes_to_user_correctable":            shapeIsCorrectable,
	"graph_body_not_invoked_when_message_validation_fails":             noGraphWithoutMessage,

	// sessions
	"second_invoke_loads_first_invoke_state":       secondLoadsFirstState,
	"saved_record_overwrites_prior":                saveOverwrites,
	"scratch_field_never_persisted":                scratchNotStored,
	"projected_field_persists_across_invokes":      projectionPersists,
	"mid_invoke_save_survives_subsequent_crash":    explicitSaveSurvives,
	"single_migration_invocation":                  oneMigration,
	"migration_runs_before_projection_merge":       migratedBeforeMerge,
	"subgraph_state_fields_match_subgraph_schema":  innerFieldsMatchSchema,
	"subgraph_does_not_see_session_state_directly": innerSeesNoSession,
	"no_inner_session_load_or_save":                noInnerSessionCalls,
	"node_event_does_not_carry_session_id_field":   eventsWithoutSession,
	"node_never_invoked":                           noNodeRan,

	// suspension
	"suspend_returns_suspended_outcome":                      suspendedOutcome,
	"resume_merges_signal_payload":                           payloadMerged,
	"resume_continues_after_suspending_node":                 resumeContinues,
	"resume_against_non_suspended_raises_record_invalid":     recordInvalid,
	"resume_covers_completed_and_never_existed_cases":        recordInvalidBothWays,
	"subgraph_suspend_propagates_to_outer":                   suspensionPropagates,
	"resume_re_enters_at_inner_post":                         resumeEntersAt("inner_post"),
	"after_subgraph_runs_post_resume":                        resumeRuns("after_subgraph"),
	"single_instance_suspend_suspends_whole_fan_out":         partSuspendsContainer("fan_out_index"),
	"single_branch_suspend_suspends_whole_parallel_branches": partSuspendsContainer("branch_name"),
	"siblings_cancelled_under_fail_fast":                     siblingsCancelled,
	"descriptor_carries_fan_out_index":                       descriptorCarries("fan_out_index"),
	"descriptor_carries_branch_name":                         descriptorCarries("branch_name"),
	"middleware_pre_next_block_runs_on_suspending_node":      middlewareBeforeNextRan,
	"middleware_post_next_block_skipped_on_suspending_node":  middlewareAfterNextSkipped,
	"no_completed_event_for_suspending_node":                 noCompletedEvent,
	"suspended_event_carries_descriptor":                     suspendedEventCarriesDescriptor,
	"started_followed_by_suspended_in_order":                 startedThenSuspended,

	// graph-engine
	"drain_returned_within_timeout":              drainInTime,
	"graph_state_intact_after_timeout":           graphIntact,
	"edge_resolution_failure_in_completed_event": edgeFailureInCompleted,
	"pre_node_fan_out_index_absent":              noFanOutIndex("pre"),
	"process_node_fan_out_index_absent":          noFanOutIndex("process"),
	"inner_event_identities_unique":              innerEventsUnique,
}

// every applies a predicate to every turn that it applies to; there must be at least one.
func every(turns []*evidence.Turn, what string, applies func(*evidence.Turn) bool, holds func(*evidence.Turn) error) error {
	n := 0
	for _, t := range turns {
		if !applies(t) {
			continue
		}
		n++
		if err := holds(t); err != nil {
			return fmt.Errorf("%s: %w", t.Name, err)
		}
	}
	if n == 0 {
		return fmt.Errorf("there is nothing to check it on: no %s", what)
	}
	return nil
}

// that returns an error unless ok.
func that(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

// same returns an error unless two values are equal.
func same(what string, want, got any) error {
	d := fixture.DiffValues(want, got)
	return that(d == "", "%s: %s", what, d)
}

// of matches turns of a kind.
func of(k evidence.Kind) func(*evidence.Turn) bool {
	return func(t *evidence.Turn) bool { return t.Kind == k }
}

// both combines two conditions of a turn.
func both(a, b func(*evidence.Turn) bool) func(*evidence.Turn) bool {
	return func(t *evidence.Turn) bool { return a(t) && b(t) }
}

// two returns the first two turns.
func two(turns []*evidence.Turn) (first, second *evidence.Turn, err error) {
	if len(turns) < 2 {
		return nil, nil, errors.New("there is nothing to check it on: no second turn")
	}
	return turns[0], turns[1], nil
}
