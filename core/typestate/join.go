package typestate

import (
	"slices"
	"strings"
)

// JoinCheck normalises a turn's evidence and judges whether its typestate is closed (§5). It applies every rule; the
// failures are a set of classes. An error (invalid) means that the evidence has no normal form.
func JoinCheck(in Input) (*Report, error) {
	n, err := Normalize(in.Evidence)
	if err != nil {
		return nil, err
	}
	classes := slices.Concat(joinClasses(n), protocolClasses(in.Protocol, n), decompositionClasses(in.Decomposition, n),
		contextClasses(n),
		handoffClasses(in.Handoff, n.Handoff), truncationClasses(in.Truncation),
		envelopeClasses(in.Evidence.ToolResults), governanceClasses(in.Governance))
	return newReport(n, sorted(classes)), nil
}

// sorted gives each class once, in the order of their bytes; never nil.
func sorted(classes []Class) []Class {
	set := append([]Class{}, classes...)
	slices.Sort(set)
	return slices.Compact(set)
}

// when gives the class if the condition holds.
func when(holds bool, c Class) []Class {
	if holds {
		return []Class{c}
	}
	return nil
}

func joinClasses(n *Normalized) []Class {
	j := n.JoinState
	return slices.Concat(
		when(len(j.MissingResult) > 0, ResultMissing),
		when(len(j.OrphanResult) > 0, ResultOrphan),
		when(len(j.MissingUse) > 0, UseMissing),
		when(len(j.UnknownUse) > 0, UseWithoutResult),
		when(!j.JoinClosed, JoinIncomplete),
	)
}

// StopReasons are the stop reasons that the protocol policy admits. Others fail closed.
var StopReasons = []string{"tool_use", "pause_turn", "max_tokens", "end_turn"}

func protocolClasses(p *Protocol, n *Normalized) []Class {
	invalid := p != nil && p.ParallelTransportOrderValid != nil && !*p.ParallelTransportOrderValid
	return append(when(!slices.Contains(StopReasons, n.ProtocolState.StopReason), StopReasonUnhandled),
		when(invalid, TransportOrderInvalid)...)
}

func decompositionClasses(d *Decomposition, n *Normalized) []Class {
	if d == nil {
		return nil
	}
	pattern, digest := lower(strings.TrimSpace(d.ExpectedExecutionPattern)), strings.TrimSpace(d.ExpectedPolicyDigest)
	return when(d.Admissible != nil && !*d.Admissible ||
		pattern != "" && pattern != n.CallSpec.ExecutionPattern ||
		digest != "" && digest != n.CallSpec.DecompositionPolicyDigest, DecompositionViolation)
}

// contextClasses judges the context if the model is asked again or a result was given to it.
func contextClasses(n *Normalized) []Class {
	x := n.ContextState
	if !n.ProtocolState.ContinuationAllowed && all(n.ToolUse, func(u ToolUse) bool {
		return u.Disposition != Consumed
	}) {
		return nil
	}
	return append(when(len(x.MissingRender) > 0 || !x.StateViewPresent, InjectionPointMissing),
		when(!x.QueueReductionPresent || !x.RenderPolicyValid || !x.QueuePolicyValid || !x.StateViewPolicyValid,
			QueuePolicyViolation)...)
}

// handoffClasses judges the packet. A missing packet contains nothing of what is required.
func handoffClasses(rules *HandoffRules, h *Handoff) []Class {
	if rules == nil {
		return nil
	}
	if h == nil {
		h = &Handoff{}
	}
	targets := refs(rules.AllowedTargets)
	return slices.Concat(
		when(len(without(refs(rules.RequiredArtifactRefs), h.RequiredArtifactRefs)) > 0, ArtifactMissing),
		when(len(targets) > 0 && !slices.Contains(targets, h.Target), TargetNotAllowed),
		when(rules.RequireReturnPath && h.ReturnPathRef == "", ReturnPathMissing),
	)
}

func truncationClasses(t *Truncation) []Class {
	return when(t != nil && t.Required && !t.Valid, TruncationViolation)
}

func envelopeClasses(results []ToolResult) []Class {
	return when(slices.ContainsFunc(results, func(r ToolResult) bool {
		return failing(r) && !complete(r)
	}), SchemaInvalid)
}

// GovernanceProfile is the only profile that can be claimed.
const GovernanceProfile = "profile.doctrine_inf_governance.v0"

// governanceClasses gives at most one class. An invalid claim id is a failure even if nothing is claimed.
func governanceClasses(g *Governance) []Class {
	if g == nil {
		return nil
	}
	if id := strings.TrimSpace(g.ClaimID); id != "" && id != GovernanceProfile {
		return []Class{ClaimIDInvalid}
	}
	if !g.Claimed {
		return nil
	}
	p := g.Provenance
	if p == nil || !p.Pinned {
		return []Class{PackageUnpinned}
	}
	expected, bound := strings.TrimSpace(p.ExpectedDigest), strings.TrimSpace(p.BoundDigest)
	if strings.TrimSpace(p.PackageRef) == "" || expected == "" || bound == "" {
		return []Class{PackageUnpinned}
	}
	return when(expected != bound, PackageMismatch)
}
