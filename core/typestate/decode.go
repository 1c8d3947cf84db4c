package typestate

// Decode parses a join check's input: strictly typed, exact keys, unknown keys ignored. The error is of category invalid; its
// message says where and what. Blank texts are judged by Normalize.
func Decode(data []byte) (Input, error) {
	r := &reader{}
	tree := r.parse(data)
	if r.err != nil {
		return Input{}, r.err
	}
	in := r.input(r.object("the input", tree).top())
	return in, r.err
}

// top is the outermost object, whose members are named without a prefix.
func (o object) top() object {
	o.at = ""
	return o
}

func (r *reader) input(o object) Input {
	in := Input{Evidence: evidence(o.child("evidence"))}
	if g, ok := o.maybeChild("governanceProfile"); ok {
		in.Governance = governance(g)
	}
	if p, ok := o.maybeChild("protocolConstraints"); ok {
		in.Protocol = &Protocol{p.maybeFlag("parallelTransportOrderValid")}
	}
	if h, ok := o.maybeChild("handoffConstraints"); ok {
		in.Handoff = &HandoffRules{h.texts("requiredArtifactRefs"), h.texts("allowedTargets"), h.flagOr("requireReturnPath")}
	}
	if t, ok := o.maybeChild("truncationConstraints"); ok {
		in.Truncation = &Truncation{t.flagOr("required"), t.flagOr("valid")}
	}
	if d, ok := o.maybeChild("decompositionConstraints"); ok {
		in.Decomposition = &Decomposition{d.maybeFlag("admissible"), d.maybe("expectedExecutionPattern"), d.maybe("expectedPolicyDigest")}
	}
	return in
}

func governance(o object) *Governance {
	g := &Governance{ClaimID: o.maybe("claimId"), Claimed: o.flag("claimed")}
	if p, ok := o.maybeChild("policyProvenance"); ok {
		g.Provenance = &Provenance{p.flag("pinned"), p.maybe("packageRef"), p.maybe("expectedDigest"), p.maybe("boundDigest")}
	}
	return g
}

func evidence(o object) Evidence {
	e := Evidence{
		CallSpec:      callSpec(o.child("callSpec")),
		ToolRequests:  rows(o, "toolRequests", toolRequest),
		ToolResults:   rows(o, "toolResults", toolResult),
		ToolUse:       rows(o, "toolUse", toolUse),
		ProtocolState: protocolState(o.child("protocolState")),
		ToolRender:    rows(o, "toolRender", toolRender),
		ReminderQueue: rows(o, "reminderQueue", queue),
		StateViews:    rows(o, "stateViews", stateView),
		SessionRefs:   o.texts("sessionRefs"), TrajectoryRefs: o.texts("trajectoryRefs"),
	}
	if h, ok := o.maybeChild("handoff"); ok {
		e.Handoff = &Handoff{h.text("target"), h.texts("requiredArtifactRefs"), h.maybe("returnPathRef")}
	}
	return e
}

func callSpec(o object) CallSpec {
	return CallSpec{
		CallID: o.text("callId"), ModelRef: o.text("modelRef"), ActionMode: o.text("actionMode"),
		ExecutionPattern: o.text("executionPattern"), NormalizerID: o.text("normalizerId"),
		MutationPolicyDigest: o.text("mutationPolicyDigest"), GovernancePolicyDigest: o.text("governancePolicyDigest"),
		ToolRenderProtocolDigest: o.text("toolRenderProtocolDigest"), ReminderQueuePolicyDigest: o.text("reminderQueuePolicyDigest"),
		StateViewPolicyDigest: o.text("stateViewPolicyDigest"), DecompositionPolicyDigest: o.text("decompositionPolicyDigest"),
	}
}

func toolRequest(o object) ToolRequest {
	return ToolRequest{o.text("toolCallId"), o.text("toolName"), o.maybe("schemaDigest"), o.maybe("callerId"), o.maybe("searchRefDigest")}
}

func toolResult(o object) ToolResult {
	return ToolResult{
		ToolCallID: o.text("toolCallId"), Status: o.maybe("status"), ResultDigest: o.maybe("resultDigest"), Payload: o.raw("payload"),
		ErrorCode: o.maybe("errorCode"), Retryable: o.maybeFlag("retryable"), ErrorMessage: o.maybe("errorMessage"), RawError: o.raw("rawError"),
	}
}

func toolUse(o object) ToolUse {
	return ToolUse{o.text("toolCallId"), o.text("disposition"), o.maybe("resultDigest")}
}

func protocolState(o object) ProtocolState {
	return ProtocolState{o.text("stopReason"), o.flagOr("continuationAllowed")}
}

func toolRender(o object) ToolRender {
	return ToolRender{
		o.text("toolCallId"), o.text("operatorPayloadDigest"), o.text("reminderRenderDigest"), o.text("injectionPoint"), o.text("policyDigest"),
	}
}

func queue(o object) Queue {
	return Queue{o.text("queueId"), o.text("reducedDigest"), o.text("policyDigest")}
}

func stateView(o object) StateView {
	return StateView{o.text("viewId"), o.text("viewDigest"), o.text("policyDigest"), o.texts("sourceRefs")}
}
