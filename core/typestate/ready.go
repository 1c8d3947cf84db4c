package typestate

import (
	"slices"
	"strings"
)

// Readiness is what MutationReady is judged against: what holds today, and not in the evidence.
type Readiness struct {
	PolicyDigest string   // the active mutation policy's; "" is no policy, and nothing is ready under none
	WitnessRef   string   // where the join check's witness is recorded; "" = it is not
	Adapters     []string // the normalizerIds that may turn free text into calls
}

// Verdict is a mutation gate's answer. Ready where there is no class.
type Verdict struct {
	MutationReady  bool    `json:"mutationReady"`
	FailureClasses []Class `json:"failureClasses"`
}

// JSON is the verdict as the command prints it.
func (v Verdict) JSON() []byte { return pretty(v) }

func verdict(classes ...Class) Verdict {
	return Verdict{MutationReady: len(classes) == 0, FailureClasses: sorted(classes)}
}

// actionModes are those of §3.1.
var actionModes = []string{"code", "json", "text"}

// MutationReady judges whether a mutation may follow the evidence (§6), which is a closed prefix of the turn: everything but the
// mutation itself. It enforces what the contract says MUST, and asks in stages; the first stage that fails gives all of its
// classes, so that what follows from another fault is not reported beside it:
//
//  1. there is a join check at all, else mutation.use_evidence_missing;
//  2. it found nothing, and it is closed (§5), with the uses bound to the results they name, and the patterns that imply
//     decomposition or transfer judged;
//  3. the action mode is typed, and free text went through a named adapter (§7);
//  4. the context is ready where the model is asked again (a join check that found nothing implies it; asked again all the same);
//  5. the turn is bound to the active mutation policy;
//  6. session, trajectory and witness are linked, else mutation.use_evidence_missing.
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
		when(len(n.SessionRefs) == 0 || len(n.TrajectoryRefs) == 0 || strings.TrimSpace(now.WitnessRef) == "", EvidenceMissing),
	} {
		if len(stage) > 0 {
			return verdict(stage...)
		}
	}
	return verdict()
}

func closureClasses(r *Report, in Input) []Class {
	n := r.Normalized
	classes := append(slices.Clone(r.FailureClasses), when(!n.JoinState.JoinClosed || !r.JoinClosed && len(r.FailureClasses) == 0, JoinIncomplete)...)
	classes = append(classes, when(!usesBound(n), UseWithoutResult)...)
	return append(classes, when(!slices.Contains(plainPatterns, n.CallSpec.ExecutionPattern) && in.Decomposition == nil, DecompositionViolation)...)
}

// usesBound reports whether every use that names a result's digest names that of its own result.
func usesBound(n *Normalized) bool {
	return all(n.ToolUse, func(u ToolUse) bool {
		return u.ResultDigest == "" || all(n.ToolResults, func(r Result) bool {
			return r.ToolCallID != u.ToolCallID || r.ResultDigest == "" || r.ResultDigest == u.ResultDigest
		})
	})
}

// plainPatterns imply neither decomposition nor transfer: one call, one after the other, or several of one answer side by side.
var plainPatterns = []string{"single", "chain", "parallel"}

func modeClasses(n *Normalized, adapters []string) []Class {
	mode := n.CallSpec.ActionMode
	free := mode == "text" && len(n.ToolRequests) > 0 && !slices.Contains(adapters, n.CallSpec.NormalizerID)
	return when(!slices.Contains(actionModes, mode) || free, ActionModeInvalid)
}
