package providers

import (
	"errors"
	"fmt"
	"slices"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// invariants checks every name of a mapping against calls: one, or all of a case. A name that is not published is
// reported as unchecked.
func (s *scope) invariants(d *fixture.Node, calls []*call) {
	d.All(func(name string, v *fixture.Node) {
		holds, known := published[name]
		if !known {
			v.Value()
			s.unchecked = append(s.unchecked, name)
			return
		}
		if !v.Flag(true) {
			s.Fault(v, "an invariant can't be expected not to hold")
			return
		}
		for _, c := range calls {
			if err := holds(s, c); err != nil {
				s.Fault(v, "%v", err)
			}
		}
	})
}

var published = map[string]func(*scope, *call) error{
	"call_returns_successful_response_after_transient_retry": afterTransientRetry,
	"n_attempts_emit_n_llm_spans":                            spanForEachAttempt,
	"attempt_index_attribute_distinct_per_span":              indexesDiffer,
	"every_attempt_span_carries_error_category":              spansFailed,
	"exactly_one_attempt_span_for_non_transient":             oneSpanOfAFailure,
	"non_transient_exits_retry_loop_on_first_occurrence":     nonTransientEnds,
	"exhaustion_propagates_final_error":                      exhausted,
	"exception_propagates_out_of_complete":                   propagated,
	"rejection_category_is_provider_invalid_request":         invalidRequest,
	"no_backoff_sleep_invoked":                               neverWaited,

	"raw_usage_prompt_tokens_verbatim_malformed":                   rawKeepsMalformed("prompt_tokens"),
	"raw_usage_input_tokens_verbatim_malformed":                    rawKeepsMalformed("input_tokens"),
	"raw_usage_all_counters_verbatim_malformed":                    rawKeepsMalformed(),
	"malformed_terminal_counter_nulled_on_normalized_usage":        terminalCounterNulled,
	"terminal_chunk_usage_preserved_verbatim_on_raw":               terminalUsageOnRaw,
	"usage_and_finish_reason_sourced_from_terminal_chunks":         terminalChunks,
	"finish_reason_tool_calls_sourced_from_terminal_content_chunk": callsFinish,

	"managed_structural_model_conflict_rejected_pre_send": modelConflictRejected,
	"no_request_issued":                          nothingSent,
	"bound_model_not_silently_overridden":        modelIsBound,
	"extras_model_neither_dropped_nor_forwarded": modelConflictRejected,

	"wire_stop_is_merged_union":                           stopIsUnion,
	"wire_stop_sequences_is_merged_union":                 stopIsUnion,
	"declared_stop_first_in_merge_order":                  declaredStopFirst,
	"declared_first_in_merge_order":                       declaredStopFirst,
	"matching_stop_collapses_to_single_element":           stopCollapsed,
	"matching_stop_sequences_collapses_to_single_element": stopCollapsed,
	"scalar_string_extras_stop_coerced_to_list":           stopCoerced,
	"malformed_extras_stop_treated_as_absent":             malformedStopAbsent,
	"malformed_list_not_salvaged":                         malformedListNotSalvaged,
	"no_error_raised_on_malformed_extras":                 malformedStopAnswered,
	"no_scalar_string_coercion_on_anthropic":              scalarNotCoerced,
	"wire_stop_is_declared_value_only":                    stopIsDeclared,

	"declared_scalar_temperature_conflict_rejected_pre_send": temperatureConflictRejected,
	"declared_temperature_not_silently_overridden":           temperatureConflictRejected,
	"extras_temperature_neither_dropped_nor_forwarded":       temperatureConflictRejected,
	"matching_extras_temperature_no_op":                      temperatureMatches,
	"wire_temperature_is_declared_value_once":                temperatureOnce,

	"stream_unsupported_mapping_rejects_pre_send":                     unsupportedRejected,
	"no_silent_atomic_fallback":                                       noFallback,
	"no_token_events_on_rejected_stream":                              noTokensOfRejected,
	"zero_token_events_on_non_streamed_call":                          noTokensAtOnce,
	"atomic_call_unaffected_by_streaming_rejection":                   unsupportedAnswers,
	"atomic_path_unchanged_by_streaming_capability":                   atOnceUnchanged,
	"atomic_mapping_extras_stream_conflict_rejected_pre_send":         atomicStreamConflict,
	"unary_call_conflicting_stream_rejected_pre_send":                 streamConflictOf(false),
	"streaming_call_conflicting_stream_rejected_pre_send":             streamConflictOf(true),
	"stream_neither_dropped_nor_forwarded":                            streamConflict,
	"stream_always_managed_on_unary_side":                             streamManagedAtOnce,
	"extras_stream_not_smuggled_to_wire":                              streamNotSmuggled,
	"matching_extras_stream_false_no_op":                              streamMatches(false),
	"matching_extras_stream_no_op":                                    streamMatches(true),
	"wire_carries_no_stream_key":                                      noStreamKey,
	"streamed_request_sends_stream_true_and_include_usage":            streamAsked,
	"conditionally_managed_stream_options_conflict_rejected_pre_send": optionsConflict,
	"stream_options_neither_dropped_nor_forwarded":                    optionsConflict,
	"non_streaming_stream_options_unmanaged_rides_untouched":          optionsUntouched,

	"assembled_content_is_ordered_concatenation_of_deltas":        contentConcatenated,
	"content_delta_assembles_into_text_block":                     contentConcatenated,
	"reasoning_delta_assembles_into_thinking_block":               reasoningConcatenated,
	"streamed_tool_call_arguments_reassemble_and_parse":           callsReassembled,
	"assembled_response_equals_non_streamed_equivalent":           sameAtOnce,
	"reassembled_tool_calls_equal_non_streamed_equivalent":        sameCallsAtOnce,
	"streamed_reasoning_response_shape_identical_to_non_streamed": sameReasoningAtOnce,
}

func require(ok bool, format string, args ...any) error {
	if ok {
		return nil
	}
	return fmt.Errorf(format, args...)
}

func afterTransientRetry(_ *scope, c *call) error {
	if !c.answered || len(c.spans) < 2 {
		return fmt.Errorf("%d attempts were made; answered: %t", len(c.spans), c.answered)
	}
	for _, failed := range c.spans[:len(c.spans)-1] {
		if !llm.IsTransient(&core.Error{Category: failed.category}) {
			return fmt.Errorf("attempt %d failed with %q", failed.index, failed.category)
		}
	}
	return require(c.spans[len(c.spans)-1].category == "", "the last attempt failed")
}

func spanForEachAttempt(_ *scope, c *call) error {
	return require(len(c.sent) > 0 && len(c.spans) == len(c.sent), "%d attempts made %d spans", len(c.sent),
		len(c.spans))
}

func indexesDiffer(_ *scope, c *call) error {
	seen := map[any]bool{}
	for _, one := range c.spans {
		seen[one.attributes["openarmature.llm.attempt_index"]] = true
	}
	return require(len(seen) == len(c.spans) && len(seen) > 1 && !seen[nil], "the indexes of %d spans are %v",
		len(c.spans), seen)
}

func nothingSent(_ *scope, c *call) error {
	return require(len(c.sent) == 0 && c.err != nil, "%d requests were sent", len(c.sent))
}

func modelConflictRejected(s *scope, c *call) error {
	if extra, set := c.request.Config.Extra["model"]; !set || fixture.Equal(extra, s.mock.model) {
		return errors.New("no extra setting contradicts the bound model")
	}
	return errors.Join(nothingSent(s, c),
		require(core.CategoryOf(c.err) == core.ProviderInvalidRequest, "the error is %v", c.err))
}

func modelIsBound(s *scope, c *call) error {
	for _, sent := range c.sent {
		if body, _ := bodyOf(sent.Body).(map[string]any); body["model"] != s.mock.model {
			return fmt.Errorf("the model %v was asked, not %s", body["model"], s.mock.model)
		}
	}
	return require(c.request.Config.Extra["model"] != nil, "no extra setting names a model")
}

// stops are the stop sequences of a call: declared, extra, and on the wire.
func stops(c *call) (declared, extra, wire []any, err error) {
	for _, one := range c.request.Config.StopSequences {
		declared = append(declared, one)
	}
	key, value := c.extraStop()
	switch v := value.(type) {
	case []any:
		extra = v
	case string:
		extra = []any{v}
	}
	if len(c.sent) == 0 || len(declared) == 0 || len(extra) == 0 {
		return nil, nil, nil, errors.New("nothing to check: there are no declared and extra stop sequences, or " +
			"nothing was sent")
	}
	wire, isList := c.lastBody()[key].([]any)
	return declared, extra, wire, require(isList, "%s is %v on the wire", key, c.lastBody()[key])
}

// extraStop is the extra setting of stop sequences, under its vendor's name.
func (c *call) extraStop() (key string, value any) {
	for _, key := range []string{"stop", "stop_sequences"} {
		if extra, set := c.request.Config.Extra[key]; set {
			return key, fixture.Plain(extra)
		}
	}
	return "", nil
}

// lastBody is the last request that was sent.
func (c *call) lastBody() map[string]any {
	if len(c.sent) == 0 {
		return nil
	}
	body, _ := bodyOf(c.sent[len(c.sent)-1].Body).(map[string]any)
	return body
}

func stopIsUnion(_ *scope, c *call) error {
	declared, extra, wire, err := stops(c)
	if err != nil {
		return err
	}
	var union []any
	for _, one := range slices.Concat(declared, extra) {
		if !slices.Contains(union, one) {
			union = append(union, one)
		}
	}
	contains := func(all []any, some []any) bool {
		return !slices.ContainsFunc(some, func(one any) bool { return !slices.Contains(all, one) })
	}
	return require(len(wire) == len(union) && contains(wire, union), "stop is %v on the wire, not %v", wire, union)
}

func declaredStopFirst(_ *scope, c *call) error {
	declared, _, wire, err := stops(c)
	if err != nil {
		return err
	}
	return require(len(wire) > len(declared) && slices.Equal(wire[:len(declared)], declared),
		"stop is %v on the wire, declared is %v", wire, declared)
}

func stopCollapsed(_ *scope, c *call) error {
	declared, extra, wire, err := stops(c)
	if err != nil {
		return err
	}
	return require(slices.Equal(declared, extra) && len(wire) == 1 && slices.Equal(wire, declared),
		"stop is %v on the wire", wire)
}

func stopCoerced(_ *scope, c *call) error {
	_, extra, wire, err := stops(c)
	if err != nil {
		return err
	}
	_, isText := fixture.Plain(c.request.Config.Extra["stop"]).(string)
	return require(isText && slices.Contains(wire, extra[0]), "the extra stop is %s, and stop is %v on the wire",
		c.request.Config.Extra["stop"], wire)
}

// Checks reports whether an invariant of this name is checked.
func Checks(name string) bool { return published[name] != nil }
