package main

import (
	"errors"
	"fmt"
	"regexp"

	"gatehouse/core"
)

// predicate is a real check behind the name of an invariant, on what happened in turns. One that finds nothing to look at says so
// (errNothing) and has not succeeded: it would hold of everything.
type predicate func(w *world, ts []*turn, arg *doc) error

var errNothing = errors.New("there is nothing to check it on")

func nothing(what string) error { return fmt.Errorf("%w: no %s", errNothing, what) }

// rule gives names to a predicate. Names of invariants are prose, and those that we have not seen follow the same few meanings: a
// rule's pattern tells them by their words. The first rule that fits counts, so the narrow ones stand first, and behind all of them
// topics. For a name that we know, nothing to look at is a fault of the case; for one that a pattern only guessed it means that the
// guess was wrong, and the next rule that fits is asked. A name that no rule can check is unchecked.
type rule struct {
	name   *regexp.Regexp
	check  predicate
	valued bool // the invariant's value is not true but says something, which the check reads
}

func named(pattern string, p predicate) rule {
	return rule{name: regexp.MustCompile(pattern), check: p}
}

func valued(pattern string, p predicate) rule {
	return rule{name: regexp.MustCompile(pattern), check: p, valued: true}
}

// invariants checks every name of a mapping.
func (w *world) invariants(d *doc, ts []*turn) {
	if d == nil {
		return
	}
	d.all(func(name string, v *doc) { w.invariant(name, v, ts) })
}

func (w *world) invariant(name string, v *doc, ts []*turn) {
	holds, isBool := v.value().(bool)
	for _, list := range [][]rule{nestedRules, rules, topics} {
		for _, r := range list {
			if !r.name.MatchString(name) || r.valued == isBool {
				continue
			}
			if isBool && !holds {
				v.malformed("an invariant can't be expected not to hold")
			}
			err := r.check(w, ts, v)
			if errors.Is(err, errNothing) && !known[name] {
				continue
			}
			if err != nil {
				w.fault(v, "%v", err)
			}
			return
		}
	}
	w.unchecked = append(w.unchecked, name)
}

// refusals are what an invariant may say of a graph that was refused when it was built: that nothing came of it.
var refusals = regexp.MustCompile(`regist|compile|build|never|not_|no_|ambigu|before|untouched|unchanged`)

// registration checks invariants of a graph that was refused when it was built, of which t tells.
func (w *world) registration(name string, v *doc, t *turn) {
	if !refusals.MatchString(name) || name == "error_category_not" {
		w.invariant(name, v, []*turn{t})
		return
	}
	v.value()
	if w.journal.len() > 0 || t.category == core.Internal {
		w.fault(v, "something ran before the graph was refused")
	}
}

// each asks a predicate of every turn that is meant, at least one.
func each(ts []*turn, what string, meant func(*turn) bool, holds func(*turn) error) error {
	n := 0
	for _, t := range ts {
		if !meant(t) {
			continue
		}
		n++
		if err := holds(t); err != nil {
			return fmt.Errorf("%s: %w", t.name, err)
		}
	}
	if n == 0 {
		return nothing(what)
	}
	return nil
}

// both is two predicates.
func both(a, b predicate) predicate {
	return func(w *world, ts []*turn, arg *doc) error {
		if err := a(w, ts, arg); err != nil {
			return err
		}
		return b(w, ts, arg)
	}
}

// rules is the registry.
var rules = []rule{
	// values
	valued(`^error_category_not$`, categoryNot),
	valued(`^no_events_for_node$`, noEventsFor),

	// events
	named(`edge_resolution_failure_in_completed_event`, edgeFailureInCompleted),
	named(`no_completed_event_for_suspending_node|completed_and_suspended_(are_)?mutually_exclusive`, suspendingPhases),
	named(`suspended_event_carries_descriptor|started_followed_by_suspended_in_order|suspended_(phase|event)`, suspendingPhases),
	named(`event_does_not_carry_session|session_id_(is_)?not_(a_)?(field|on).*event`, eventWithoutSession),
	named(`fan_out_index_absent|branch_name_absent`, eventsOutsideFanOut),
	named(`attempt_ind(ex|ices).*(zero|default)|attempt_index_default`, attemptsZero),
	named(`raising_observer|observer_(error|failure|exception)s?_(is_)?isolat|observer_error_does_not`, observersIsolated),
	named(`drain_(returned|returns|completed)_(within|before|prompt)`, drainWithin),
	named(`graph_(state_)?(intact|usable|remains_usable)|usable_after_(timeout|drain)|unaffected_by`, graphUsable),
	named(`no_(events_)?undelivered|all_events_delivered|drain_waits?_for_all`, allDelivered),

	// migrations
	named(`(later|subsequent|second|remaining)_migrations?_(not|never)`, laterMigrationsNotRun),
	named(`single_migration_invocation|migration_(runs|invoked|applied)_once`, migrationsRan(1)),
	named(`migration.*(not_(consulted|invoked|run|applied)|never_(invoked|runs|ran))|no_migration|registry_not_consulted`, noOtherMigration),
	named(`migration_runs_before|migration.*before_(projection|merge|node|graph)`, both(migratedInOrder, loadBeforeNodes)),
	named(`migrat.*(order|chain|shortest|sequence)|intermediate`, migratedInOrder),
	named(`(stored|seeded)_record_(left_)?(untouched|unchanged)|record_.*not_(over)?written|store_(left_)?unchanged`, historyUnchanged),

	// store calls
	named(`(mid_invoke|explicit).*sav.*surviv`, midInvokeSaveSurvives),
	named(`no_auto_save|auto_save_?\w*(disabled|suppress|off|skip|does_not|not_)`, noAutoSave),
	named(`(explicit|mid_invoke)_save_(still_)?(works|commits|persist|is_only)`, explicitSaveStands),
	named(`overwrites_prior|record_overwrit|last_write_wins`, lastSaveStands),
	named(`(load|session_load)_fail.*(categor|classif|surfac|bucket|terminat|rout)`, routed),
	named(`chat_message_shape_invalid_(routes|is|maps)|shape_invalid.*(user_correctable|bucket)`, routed),
	named(`validation_runs|validat\w*_(before|at_send|precedes)|before_(session_)?load|before_any_(load|lock)`, validatedFirst),
	named(`(graph|node)\w*_(never|not)_(be_)?(invoked|run|ran|executed|reached)|does_not_invoke_graph|not_invoke_graph|graph_(does_)?not_(run|execut)|no_node_(runs|ran|executed)|invoke_must_not_proceed`, nodesNeverRan),
	named(`(stateless|no_session_id|session_id_absent|omitted).*(save|load|store)|store\w*_(completely_)?untouched|not_invoke_session_store|never_touches_store`, storeUntouched),

	// projection
	named(`scratch|not_projected|excluded_from|never_persisted`, scratchNotStored),
	named(`projected_field|projection_(applied|narrow)|only_projected`, projectionPersists),

	// history and tail of a chat
	named(`reply_role_is_system|system_(role|shaped)|reply_is_system`, replyIsSystem),
	named(`diagnostic|upstream_(message|detail)`, diagnosticShown),
	named(`history_(is_)?(unchanged|unmodified|not_(changed|modified|persisted|saved|updated))|user_message_not_in_history|errored_turn.*(history|not_saved)|failed_turn`, historyUnchanged),
	named(`reply_(is_)?not_(appended|in_history|persisted)|error_reply_not`, errorReplyNotStored),
	named(`pending_messages?_(not_repeated|not_in_replies|excluded)|replies_(do_not|exclude).*pending`, tails),
	named(`no_chat_specific_engine_hook|pending.*graph_primitives`, pendingFromNodes),
	named(`pending_message|pending_tail`, tails),
	named(`loads?_turn|loads?_(prior|previous|first)|turn_\d+_(loads|observes|sees)|second_invoke_loads|history_(is_)?loaded|observes_prior`, loadsWhatWasSaved),
	named(`accumulat|append_reducer|history_(grows|appended)|messages_.*append`, historyGrows),
	named(`empty_(tail|repl)|replies_(is|are)_empty`, both(emptyReplies, tails)),
	named(`repl(y|ies)_?\w*(only|new|tail|order|all_roles|contain)|all_roles|tail_extract|tool_(call|role|loop)|multi_message|extracted_by_index|three_messages|graph_execution_order`, tails),
	named(`content_blocks?|multimodal|image_block|blocks_(preserved|round_trip|threaded)|user_message_(preserved|in_history|appended|threaded)`, userMessageStored),
	named(`send_returns_chat_turn_outcome|returns_(completed|errored|suspended)_outcome|outcome_is_(completed|errored|suspended)|discriminat`, outcomesWhole),

	// listeners and signals
	named(`listener.*(not_(fire|fired|called|invoked)|never|silent).*(suspend|original|initial)|does_not_fire_on`, listenersNotBySend),
	named(`listener|callback|fires_(exactly_)?once|exactly_once|subscri(bed|ption)_delivers`, listenersOnce),
	named(`(did|does)_not_block|non_?blocking|without_blocking|not_blocked`, notBlocked),
	named(`correlation_id`, idsKept),
	named(`correlat.*(fail|unknown)|unknown_signal`, correlationFails),
	named(`correlat|coordinator`, signalsCorrelated),
	named(`subscri`, suspensionsSubscribed),

	// dispatch paths and arguments
	named(`classified_(as|via)?_?.*(terminating|transient|retryable|correctable)|(bucket|routes|routed).*(7_[123]|terminating|transient|retryable|correctable)|(terminating|transient|retryable|correctable)_(bucket|shaped|outbound)`, routed),
	named(`path_?3_0|via_path_3_0|stateless.*(classified|path)`, onPath("3.0")),
	named(`path_?3_1|new_session_path|classified_as_new`, onPath("3.1")),
	named(`path_?3_2|existing_(active_)?session_path|classified_as_existing`, onPath("3.2")),
	named(`path_?3_3|signal_resume_path|classified_as_signal`, onPath("3.3")),
	named(`auto_generated|minted|fresh_session_id|assigned_fresh`, sessionMinted),
	named(`caller_supplied|supplied_session_id|session_id_from_payload`, sessionFromPayload),
	named(`(did|does)_not_resolve_session|no_session_id|without_session_id|session_free`, withoutSession),
	named(`received_session_id|threaded_session_id|session_id_(was_)?threaded|threads_session_id`, sessionThreaded),
	named(`(thread|pass)\w*_signal_payload|signal_payload_(was_)?(thread|pass|reach)`, payloadThreaded),
	named(`auto_retr|retried|no_retry|not_retry`, notRetried),
	named(`intervention|retry_safe|user_action|outbound_marked|marked_`, outboundFlags),
	named(`outbound|(response|acknowledg?ment|completion)_shape|shape_distinct`, outboundShapes),

	// suspension
	named(`atomic|persist\w*_together|neither_(is_)?persist|not_resumable|both_or_neither`, atomicPause),
	named(`persisted_before|state_persisted|persist\w*_(at|on|the|paused|suspend)|paused_(record|invocation|state).*(persist|exist|stored|saved)|record_persist|saved_at_suspend|session_(record_)?(saved|persisted)`, pausePersisted),
	named(`paused_record_(exists|type)|record_type|record_carries|discriminator`, pausePersisted),
	named(`payload_invalid|rejects?_payload|invalid_payload|still_resumable|remains_resumable|not_consumed`, payloadInvalidKeepsRecord),
	named(`covers_completed_and_never_existed`, recordInvalidBothWays),
	named(`record_invalid|non_suspended|already_resumed|second_resume|resume_twice|unknown_invocation`, recordInvalid),
	named(`undeclared`, undeclaredDropped),
	named(`(payload|signal).*(replac|overlay|merge|overwrit|reduc|thread|visible|observ|applied)|merges_(signal_)?payload|replaces?_field|not_reduced|reducers?_not`, payloadOverlaid),
	named(`(not|never|without)_re_?(run|execut)`, resumeContinues),
	named(`re_?runs?_(the_)?(suspending|gate|node)|node_(re_?run|re_?executed)|mark_node_completed_false|(^|_)re_?(run|execut)`, resumeReruns),
	named(`(resume|continu).*(after|next)|continues_|skips?_|earlier_nodes`, resumeContinues),
	named(`invocation_id.*(reus|same|preserv|unchanged|stable)|(reuse|same)s?_invocation_id`, idsKept),
	named(`session_id.*(inherit|record|carri|preserv|same)|inherits?_session_id`, idsKept),
	named(`unsupported_context`, unsupportedContext),
	named(`suspend_returns|returns_suspended|suspended_outcome|first_invoke_suspended|outcome_suspended|descriptor`, suspendedOutcome),

	// what is left of the errors' ways
	named(`categor`, routed),
	named(`session_(state|history)_(carries|accumulates|grows)|state_carries_over`, loadsWhatWasSaved),
}
