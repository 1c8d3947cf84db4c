package typestate

import (
	"reflect"
	"slices"
	"strings"

	"gatehouse/core"
)

// Normalize gives evidence its normal form (§4). It is deterministic, and reports the first fault in the order of the contract's
// sections: a blank required text, an unknown status or disposition, two different rows with one id. The error (invalid) means that there
// is no evidence; a caller that asks for readiness must treat it as a no.
func Normalize(e Evidence) (*Normalized, error) {
	c := &cleaner{}
	n := &Normalized{Schema: Schema, Kind: Kind}
	n.CallSpec = c.callSpec(e.CallSpec)
	n.ToolRequests = unique(c, "toolRequests", e.ToolRequests, c.toolRequest, func(r ToolRequest) string { return r.ToolCallID })
	n.ToolResults = unique(c, "toolResults", e.ToolResults, c.toolResult, func(r Result) string { return r.ToolCallID })
	n.ToolUse = unique(c, "toolUse", e.ToolUse, c.toolUse, func(r ToolUse) string { return r.ToolCallID })
	n.ToolRender = unique(c, "toolRender", e.ToolRender, c.toolRender, func(r ToolRender) string { return r.ToolCallID })
	n.ReminderQueue = unique(c, "reminderQueue", e.ReminderQueue, c.queue, func(r Queue) string { return r.QueueID })
	n.StateViews = unique(c, "stateViews", e.StateViews, c.stateView, func(r StateView) string { return r.ViewID })
	n.ProtocolState = ProtocolState{lower(c.required(e.ProtocolState.StopReason, "protocolState.stopReason")), e.ProtocolState.ContinuationAllowed}
	if e.Handoff != nil {
		n.Handoff = &Handoff{
			c.required(e.Handoff.Target, "handoff.target"), refs(e.Handoff.RequiredArtifactRefs), strings.TrimSpace(e.Handoff.ReturnPathRef),
		}
	}
	n.SessionRefs, n.TrajectoryRefs = refs(e.SessionRefs), refs(e.TrajectoryRefs)
	if c.err != nil {
		return nil, c.err
	}
	n.derive()
	return n, nil
}

// cleaner cleans rows and keeps the first fault. strings.TrimSpace trims the same characters as the reference: Unicode's White_Space.
type cleaner struct{ err error }

func (c *cleaner) fail(format string, args ...any) {
	if c.err == nil {
		c.err = core.Errorf(core.Invalid, format, args...)
	}
}

func (c *cleaner) required(s, field string) string {
	if s = strings.TrimSpace(s); s == "" {
		c.fail("%s must be non-empty", field)
	}
	return s
}

// lower changes only ASCII letters, as the reference does; strings.ToLower would also change İ and K (the Kelvin sign).
func lower(s string) string {
	b := []byte(s)
	for i, ch := range b {
		if 'A' <= ch && ch <= 'Z' {
			b[i] = ch + 'a' - 'A'
		}
	}
	return string(b)
}

// refs is a list of references as a set: trimmed, without blanks, sorted by bytes.
func refs(list []string) []string {
	var set []string
	for _, r := range list {
		if r = strings.TrimSpace(r); r != "" {
			set = append(set, r)
		}
	}
	slices.Sort(set)
	return slices.Compact(set)
}

// unique cleans rows and sorts them by their key. A second row with the same key is dropped if it is equal after cleaning.
func unique[In, Out any](c *cleaner, surface string, list []In, clean func(In) Out, key func(Out) string) []Out {
	seen := map[string]Out{}
	var set []Out
	for _, raw := range list {
		row := clean(raw)
		first, twice := seen[key(row)]
		switch {
		case !twice:
			seen[key(row)] = row
			set = append(set, row)
		case !reflect.DeepEqual(first, row):
			c.fail("%s contains conflicting duplicate toolCallId: %s", surface, key(row))
		}
	}
	slices.SortFunc(set, func(a, b Out) int { return strings.Compare(key(a), key(b)) })
	return set
}

func (c *cleaner) callSpec(s CallSpec) CallSpec {
	return CallSpec{
		CallID:                    c.required(s.CallID, "callSpec.callId"),
		ModelRef:                  c.required(s.ModelRef, "callSpec.modelRef"),
		ActionMode:                lower(c.required(s.ActionMode, "callSpec.actionMode")),
		ExecutionPattern:          lower(c.required(s.ExecutionPattern, "callSpec.executionPattern")),
		NormalizerID:              c.required(s.NormalizerID, "callSpec.normalizerId"),
		MutationPolicyDigest:      c.required(s.MutationPolicyDigest, "callSpec.mutationPolicyDigest"),
		GovernancePolicyDigest:    c.required(s.GovernancePolicyDigest, "callSpec.governancePolicyDigest"),
		ToolRenderProtocolDigest:  c.required(s.ToolRenderProtocolDigest, "callSpec.toolRenderProtocolDigest"),
		ReminderQueuePolicyDigest: c.required(s.ReminderQueuePolicyDigest, "callSpec.reminderQueuePolicyDigest"),
		StateViewPolicyDigest:     c.required(s.StateViewPolicyDigest, "callSpec.stateViewPolicyDigest"),
		DecompositionPolicyDigest: c.required(s.DecompositionPolicyDigest, "callSpec.decompositionPolicyDigest"),
	}
}

func (c *cleaner) toolRequest(r ToolRequest) ToolRequest {
	return ToolRequest{
		c.required(r.ToolCallID, "toolRequests[].toolCallId"), c.required(r.ToolName, "toolRequests[].toolName"),
		strings.TrimSpace(r.SchemaDigest), strings.TrimSpace(r.CallerID), strings.TrimSpace(r.SearchRefDigest),
	}
}

func (c *cleaner) toolUse(u ToolUse) ToolUse {
	d := lower(c.required(u.Disposition, "toolUse[].disposition"))
	if !slices.Contains([]string{Consumed, Observed, Discarded}, d) {
		c.fail("toolUse[].disposition invalid: unsupported value `%s` (expected consumed|observed|discarded)", d)
	}
	return ToolUse{c.required(u.ToolCallID, "toolUse[].toolCallId"), d, strings.TrimSpace(u.ResultDigest)}
}

func (c *cleaner) toolRender(r ToolRender) ToolRender {
	return ToolRender{
		c.required(r.ToolCallID, "toolRender[].toolCallId"),
		c.required(r.OperatorPayloadDigest, "toolRender[].operatorPayloadDigest"),
		c.required(r.ReminderRenderDigest, "toolRender[].reminderRenderDigest"),
		lower(c.required(r.InjectionPoint, "toolRender[].injectionPoint")),
		c.required(r.PolicyDigest, "toolRender[].policyDigest"),
	}
}

func (c *cleaner) queue(q Queue) Queue {
	return Queue{
		c.required(q.QueueID, "reminderQueue[].queueId"), c.required(q.ReducedDigest, "reminderQueue[].reducedDigest"),
		c.required(q.PolicyDigest, "reminderQueue[].policyDigest"),
	}
}

func (c *cleaner) stateView(v StateView) StateView {
	return StateView{
		c.required(v.ViewID, "stateViews[].viewId"), c.required(v.ViewDigest, "stateViews[].viewDigest"),
		c.required(v.PolicyDigest, "stateViews[].policyDigest"), refs(v.SourceRefs),
	}
}
