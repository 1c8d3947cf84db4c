package typestate

import "slices"

// derive computes what follows from the rows: the differences, the context's state, and the digests.
func (n *Normalized) derive() {
	j, x := &n.JoinState, &n.ContextState
	j.Requested = ids(n.ToolRequests)
	j.Results = ids(n.ToolResults)
	j.Used = ids(n.ToolUse)
	x.Rendered = ids(n.ToolRender)
	x.Queues = ids(n.ReminderQueue)
	x.StateViews = ids(n.StateViews)

	j.MissingResult, j.OrphanResult = without(j.Requested, j.Results), without(j.Results, j.Requested)
	j.MissingUse, j.UnknownUse = without(j.Results, j.Used), without(j.Used, j.Results)
	x.MissingRender = without(j.Results, x.Rendered)
	j.JoinClosed = len(j.MissingResult)+len(j.OrphanResult)+len(j.MissingUse)+len(j.UnknownUse) == 0

	x.QueueReductionPresent, x.StateViewPresent = len(n.ReminderQueue) > 0, len(n.StateViews) > 0
	x.RenderPolicyValid = all(n.ToolRender, func(r ToolRender) bool {
		return r.PolicyDigest == n.CallSpec.ToolRenderProtocolDigest
	})
	x.QueuePolicyValid = all(n.ReminderQueue, func(q Queue) bool {
		return q.PolicyDigest == n.CallSpec.ReminderQueuePolicyDigest
	})
	x.StateViewPolicyValid = all(n.StateViews, func(v StateView) bool {
		return v.PolicyDigest == n.CallSpec.StateViewPolicyDigest
	})
	x.ContinuationContextReady = !n.ProtocolState.ContinuationAllowed ||
		len(x.MissingRender) == 0 && x.QueueReductionPresent &&
			x.StateViewPresent && x.RenderPolicyValid && x.QueuePolicyValid && x.StateViewPolicyValid
	n.digest()
}

func ids[T interface{ id() string }](rows []T) []string {
	all := make([]string, len(rows))
	for i, r := range rows {
		all[i] = r.id()
	}
	return all
}

// without gives what is in a and not in b; both are sorted. The result is never nil: the join set's digest includes
// empty lists.
func without(a, b []string) []string {
	rest := []string{}
	for _, id := range a {
		if _, found := slices.BinarySearch(b, id); !found {
			rest = append(rest, id)
		}
	}
	return rest
}

func all[T any](rows []T, holds func(T) bool) bool {
	return !slices.ContainsFunc(rows, func(r T) bool { return !holds(r) })
}

// set gives a copy that is never nil: the digest of no rows is that of [].
func set[T any](rows []T) []T { return append([]T{}, rows...) }

func (n *Normalized) digest() {
	d := &n.Digests
	d.CallSpec = digestOf(n.CallSpec)
	d.RequestSet, d.ResultSet, d.UseSet = digestOf(set(n.ToolRequests)), digestOf(set(n.ToolResults)),
		digestOf(set(n.ToolUse))
	d.ToolRenderSet, d.QueueSet, d.StateViewSet = digestOf(set(n.ToolRender)), digestOf(set(n.ReminderQueue)),
		digestOf(set(n.StateViews))
	d.ProtocolState = digestOf(n.ProtocolState)
	var handoff any // null if there is none
	if n.Handoff != nil {
		d.Handoff = digestOf(n.Handoff)
		handoff = d.Handoff
	}
	j, x := n.JoinState, n.ContextState
	d.JoinSet = digestOf(map[string]any{
		"requestSetDigest": d.RequestSet, "resultSetDigest": d.ResultSet, "useSetDigest": d.UseSet,
		"toolRenderSetDigest": d.ToolRenderSet, "reminderQueueSetDigest": d.QueueSet,
		"stateViewSetDigest":  d.StateViewSet,
		"protocolStateDigest": d.ProtocolState, "handoffDigest": handoff,
		"requestedCallIds": j.Requested, "resultCallIds": j.Results, "usedCallIds": j.Used,
		"renderCallIds": x.Rendered, "queueIds": x.Queues, "stateViewIds": x.StateViews,
		"missingResultCallIds": j.MissingResult, "orphanResultCallIds": j.OrphanResult,
		"missingUseCallIds": j.MissingUse, "unknownUseCallIds": j.UnknownUse, "missingRenderCallIds": x.MissingRender,
		"queueReductionPresent": x.QueueReductionPresent, "stateViewPresent": x.StateViewPresent,
		"renderPolicyValid": x.RenderPolicyValid, "queuePolicyValid": x.QueuePolicyValid,
		"stateViewPolicyValid":     x.StateViewPolicyValid,
		"continuationContextReady": x.ContinuationContextReady,
	})
}
