package providers

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/llm"
)

// invariants checks every name of a mapping against calls: one, or all of a case. A name that is not published is reported as unchecked.
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
	"raw_usage_prompt_tokens_verbatim_malformed":             rawKeepsMalformed,
	"managed_structural_model_conflict_rejected_pre_send":    modelConflictRejected,
	"no_request_issued":                                      nothingSent,
	"bound_model_not_silently_overridden":                    modelIsBound,
	"extras_model_neither_dropped_nor_forwarded":             modelConflictRejected,
	"wire_stop_is_merged_union":                              stopIsUnion,
	"declared_stop_first_in_merge_order":                     declaredStopFirst,
	"matching_stop_collapses_to_single_element":              stopCollapsed,
	"scalar_string_extras_stop_coerced_to_list":              stopCoerced,
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
	return require(len(c.sent) > 0 && len(c.spans) == len(c.sent), "%d attempts made %d spans", len(c.sent), len(c.spans))
}

func indexesDiffer(_ *scope, c *call) error {
	seen := map[any]bool{}
	for _, one := range c.spans {
		seen[one.attributes["openarmature.llm.attempt_index"]] = true
	}
	return require(len(seen) == len(c.spans) && len(seen) > 1 && !seen[nil], "the indexes of %d spans are %v", len(c.spans), seen)
}

func rawKeepsMalformed(s *scope, c *call) error {
	sent := fixture.Plain(s.sentTo(c).Peek("usage").Peek("prompt_tokens").Value())
	if n, isNumber := sent.(float64); sent == nil || isNumber && n >= 0 && n == float64(int64(n)) {
		return fmt.Errorf("the server sent a sound counter, %v", sent)
	}
	var raw struct {
		Usage struct {
			PromptTokens any `json:"prompt_tokens"`
		} `json:"usage"`
	}
	if err := json.Unmarshal(c.response.Raw, &raw); err != nil {
		return err
	}
	return require(fixture.Equal(sent, raw.Usage.PromptTokens) && c.response.Usage.Prompt == nil, "raw has %v, the response %v", raw.Usage.PromptTokens, c.response.Usage.Prompt)
}

func nothingSent(_ *scope, c *call) error {
	return require(len(c.sent) == 0 && c.err != nil, "%d requests were sent", len(c.sent))
}

func modelConflictRejected(s *scope, c *call) error {
	if extra, set := c.request.Config.Extra["model"]; !set || fixture.Equal(extra, s.mock.model) {
		return errors.New("no extra setting contradicts the bound model")
	}
	return errors.Join(nothingSent(s, c), require(core.CategoryOf(c.err) == core.ProviderInvalidRequest, "the error is %v", c.err))
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
	switch v := fixture.Plain(c.request.Config.Extra["stop"]).(type) {
	case []any:
		extra = v
	case string:
		extra = []any{v}
	}
	if len(c.sent) == 0 || len(declared) == 0 || len(extra) == 0 {
		return nil, nil, nil, errors.New("nothing to check: there are no declared and extra stop sequences, or nothing was sent")
	}
	body, _ := bodyOf(c.sent[len(c.sent)-1].Body).(map[string]any)
	wire, isList := body["stop"].([]any)
	return declared, extra, wire, require(isList, "stop is %v on the wire", body["stop"])
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
	return require(len(wire) > len(declared) && slices.Equal(wire[:len(declared)], declared), "stop is %v on the wire, declared is %v", wire, declared)
}

func stopCollapsed(_ *scope, c *call) error {
	declared, extra, wire, err := stops(c)
	if err != nil {
		return err
	}
	return require(slices.Equal(declared, extra) && len(wire) == 1 && slices.Equal(wire, declared), "stop is %v on the wire", wire)
}

func stopCoerced(_ *scope, c *call) error {
	_, extra, wire, err := stops(c)
	if err != nil {
		return err
	}
	_, isText := fixture.Plain(c.request.Config.Extra["stop"]).(string)
	return require(isText && slices.Contains(wire, extra[0]), "the extra stop is %s, and stop is %v on the wire", c.request.Config.Extra["stop"], wire)
}
