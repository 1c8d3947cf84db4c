package typestate

import (
	"slices"
	"strings"
)

// Readiness is what MutationReady needs besides the evidence: what holds now.
type Readiness struct {
	PolicyDigest string   // of the active mutation policy; "" = none, and then nothing is ready
	WitnessRef   string   // of the recorded witness of the join check; "" = none
	Adapters     []string // the normalizerIds that may make calls from free text: the judge's own, not the evidence's
}

// Verdict is the result of the mutation gate: ready if there is no class.
type Verdict struct {
	MutationReady  bool    `json:"mutationReady"`
	FailureClasses []Class `json:"failureClasses"`
}

// JSON is the verdict as mutation-check prints it.
func (v Verdict) JSON() []byte { return pretty(v) }

func verdict(classes ...Class) Verdict {
	return Verdict{MutationReady: len(classes) == 0, FailureClasses: sorted(classes)}
}

// actionModes are those of §3.1.
var actionModes = []string{"code", "json", "text"}

// MutationReady judges whether a mutation may follow the evidence (§6), which is a closed prefix of the turn:
// everything but the mutation itself. It enforces the contract's MUSTs, in stages; the first stage that fails gives all
// of its classes, so that faults that follow from others are not reported:
//
//  1. there is a join check, otherwise mutation.use_evidence_missing;
//  2. it found nothing, and it is closed (§5), the uses are bound to the results that they name, and patterns that
//     imply decomposition or transfer are judged; a transfer has its packet;
//  3. the action mode is known, and free text went through a named adapter (§7);
//  4. the context is ready if the model is asked again (a join check without classes implies it; it is checked anyway);
//  5. the turn is bound to the active mutation policy;
//  6. session, trajectory and witness are linked, otherwise mutation.use_evidence_missing.
func MutationReady(r *Report, in Input, now Readiness) Verdict {
	if r == nil || r.Normalized == nil {
		return verdict(EvidenceMissing)
	}
	n := r.Normalized
	for _, stage := range [][]Class{
		closureClasses(r, in),
		modeClasses(n, now.Adapters),
		when(!n.ContextState.ContinuationContextReady, QueuePolicyViolation),
		when(now.PolicyDigest == "" || n.CallSpec.MutationPolicyDigest != now.PolicyDigest, PolicyMismatch),
		when(len(n.SessionRefs) == 0 || len(n.TrajectoryRefs) == 0 || strings.TrimSpace(now.WitnessRef) == "",
			EvidenceMissing),
	} {
		if len(stage) > 0 {
			return verdict(stage...)
		}
	}
	return verdict()
}

func closureClasses(r *Report, in Input) []Class {
	n := r.Normalized
	classes := append(slices.Clone(r.FailureClasses),
		when(!n.JoinState.JoinClosed || !r.JoinClosed && len(r.FailureClasses) == 0, JoinIncomplete)...)
	classes = append(classes, when(!usesBound(n), UseWithoutResult)...)
	if n.CallSpec.ExecutionPattern == "transfer" && n.Handoff == nil {
		classes = append(classes, ArtifactMissing, TargetNotAllowed, ReturnPathMissing)
	}
	return append(classes,
		when(!slices.Contains(plainPatterns, n.CallSpec.ExecutionPattern) && in.Decomposition == nil,
			DecompositionViolation)...)
}

// usesBound reports whether every use that names a result's digest names the digest of its own result.
func usesBound(n *Normalized) bool {
	return all(n.ToolUse, func(u ToolUse) bool {
		return u.ResultDigest == "" || all(n.ToolResults, func(r Result) bool {
			return r.ToolCallID != u.ToolCallID || r.ResultDigest == "" || r.ResultDigest == u.ResultDigest
		})
	})
}

// plainPatterns imply neither decomposition nor transfer: one call, calls in sequence, or parallel calls of one answer.
var plainPatterns = []string{"single", "chain", "parallel"}

func modeClasses(n *Normalized, adapters []string) []Class {
	mode := n.CallSpec.ActionMode
	// the mutation itself is a call too, and may be the first
	free := mode == "text" && !slices.Contains(adapters, n.CallSpec.NormalizerID)
	return when(!slices.Contains(actionModes, mode) || free, ActionModeInvalid)
}
