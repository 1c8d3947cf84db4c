package typestate

import (
	"bytes"
	"encoding/json"
)

// WitnessKind identifies a join check's witness.
const WitnessKind = "premath.harness.join_check.v1"

// Report is a join check's verdict. JoinClosed means that no class was found, governance included; the flag for the
// rows alone is Normalized.JoinState.JoinClosed.
type Report struct {
	Action         string      `json:"action"`
	Result         string      `json:"result"` // accepted or rejected
	FailureClasses []Class     `json:"failureClasses"`
	JoinClosed     bool        `json:"joinClosed"`
	Witness        Witness     `json:"witness"`
	Normalized     *Normalized `json:"normalized"`
}

// The results of a report.
const (
	Accepted = "accepted"
	Rejected = "rejected"
)

// Witness is the part of a join check that a later gate needs.
type Witness struct {
	Schema        int           `json:"schema"`
	WitnessKind   string        `json:"witnessKind"`
	Digests       Digests       `json:"digests"`
	JoinInput     JoinInput     `json:"joinInput"`
	MutationInput MutationInput `json:"mutationInput"`
}

// Ref identifies the witness: the hash of all of it.
func (w Witness) Ref() string { return "witness://join/" + digestOf(w) }

// JoinInput is what the closure was judged by.
type JoinInput struct {
	SetDigests
	ReminderQueuePolicyDigest string `json:"reminderQueuePolicyDigest"`
	ToolRenderProtocolDigest  string `json:"toolRenderProtocolDigest"`
	StateViewPolicyDigest     string `json:"stateViewPolicyDigest"`
	DecompositionPolicyDigest string `json:"decompositionPolicyDigest"`
	JoinClosed                bool   `json:"joinClosed"` // structural
	Differences
	ContextVerdicts
}

// MutationInput is what readiness is judged by (§6).
type MutationInput struct {
	JoinClosed             bool     `json:"joinClosed"` // structural
	ContinuationAllowed    bool     `json:"continuationAllowed"`
	MutationPolicyDigest   string   `json:"mutationPolicyDigest"`
	GovernancePolicyDigest string   `json:"governancePolicyDigest"`
	NormalizerID           string   `json:"normalizerId"`
	SessionRefs            []string `json:"sessionRefs,omitempty"`
	TrajectoryRefs         []string `json:"trajectoryRefs,omitempty"`
	Differences
	ContextVerdicts
}

func newReport(n *Normalized, classes []Class) *Report {
	s, j, x := n.CallSpec, n.JoinState, n.ContextState.ContextVerdicts
	r := &Report{
		Action: "harness-join-check", Result: Accepted, FailureClasses: classes, JoinClosed: len(classes) == 0,
		Normalized: n,
	}
	if !r.JoinClosed {
		r.Result = Rejected
	}
	r.Witness = Witness{
		Schema: Schema, WitnessKind: WitnessKind, Digests: n.Digests,
		JoinInput: JoinInput{
			SetDigests: n.Digests.SetDigests, ReminderQueuePolicyDigest: s.ReminderQueuePolicyDigest,
			ToolRenderProtocolDigest: s.ToolRenderProtocolDigest, StateViewPolicyDigest: s.StateViewPolicyDigest,
			DecompositionPolicyDigest: s.DecompositionPolicyDigest, JoinClosed: j.JoinClosed,
			Differences: j.Differences, ContextVerdicts: x,
		},
		MutationInput: MutationInput{
			JoinClosed: j.JoinClosed, ContinuationAllowed: n.ProtocolState.ContinuationAllowed,
			MutationPolicyDigest: s.MutationPolicyDigest, GovernancePolicyDigest: s.GovernancePolicyDigest,
			NormalizerID: s.NormalizerID,
			SessionRefs:  n.SessionRefs, TrajectoryRefs: n.TrajectoryRefs, Differences: j.Differences,
			ContextVerdicts: x,
		},
	}
	return r
}

// JSON is the report as the reference prints it: indented by two spaces, keys in the order of their bytes, no final
// newline.
func (r *Report) JSON() []byte { return pretty(r) }

func pretty(v any) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, canonical(v), "", "  ") // canonical JSON is JSON
	return b.Bytes()
}
