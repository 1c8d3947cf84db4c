package typestate

import (
	"bytes"
	"encoding/json"
)

// WitnessKind identifies a join check's witness.
const WitnessKind = "premath.harness.join_check.v1"

// Report is a join check's verdict. JoinClosed means that no class was found, governance included; the flag for the rows alone is
// Normalized.JoinState.JoinClosed.
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
	RequestSet                string   `json:"requestSetDigest"`
	ResultSet                 string   `json:"resultSetDigest"`
	UseSet                    string   `json:"useSetDigest"`
	ToolRenderSet             string   `json:"toolRenderSetDigest"`
	QueueSet                  string   `json:"reminderQueueSetDigest"`
	StateViewSet              string   `json:"stateViewSetDigest"`
	ProtocolState             string   `json:"protocolStateDigest"`
	Handoff                   string   `json:"handoffDigest,omitempty"`
	JoinSet                   string   `json:"joinSetDigest"`
	ReminderQueuePolicyDigest string   `json:"reminderQueuePolicyDigest"`
	ToolRenderProtocolDigest  string   `json:"toolRenderProtocolDigest"`
	StateViewPolicyDigest     string   `json:"stateViewPolicyDigest"`
	DecompositionPolicyDigest string   `json:"decompositionPolicyDigest"`
	MissingRender             []string `json:"missingRenderCallIds,omitempty"`
	JoinClosed                bool     `json:"joinClosed"` // structural
	Differences
	ContextFlags
}

// MutationInput is what readiness is judged by (§6).
type MutationInput struct {
	JoinClosed             bool     `json:"joinClosed"` // structural
	ContinuationAllowed    bool     `json:"continuationAllowed"`
	MissingRender          []string `json:"missingRenderCallIds,omitempty"`
	MutationPolicyDigest   string   `json:"mutationPolicyDigest"`
	GovernancePolicyDigest string   `json:"governancePolicyDigest"`
	NormalizerID           string   `json:"normalizerId"`
	SessionRefs            []string `json:"sessionRefs,omitempty"`
	TrajectoryRefs         []string `json:"trajectoryRefs,omitempty"`
	Differences
	ContextFlags
}

func newReport(n *Normalized, classes []Class) *Report {
	d, s, j, x := n.Digests, n.CallSpec, n.JoinState, n.ContextState
	r := &Report{Action: "harness-join-check", Result: Accepted, FailureClasses: classes, JoinClosed: len(classes) == 0, Normalized: n}
	if !r.JoinClosed {
		r.Result = Rejected
	}
	r.Witness = Witness{
		Schema: Schema, WitnessKind: WitnessKind, Digests: d,
		JoinInput: JoinInput{
			RequestSet: d.RequestSet, ResultSet: d.ResultSet, UseSet: d.UseSet, ToolRenderSet: d.ToolRenderSet, QueueSet: d.QueueSet,
			StateViewSet: d.StateViewSet, ProtocolState: d.ProtocolState, Handoff: d.Handoff, JoinSet: d.JoinSet,
			ReminderQueuePolicyDigest: s.ReminderQueuePolicyDigest, ToolRenderProtocolDigest: s.ToolRenderProtocolDigest,
			StateViewPolicyDigest: s.StateViewPolicyDigest, DecompositionPolicyDigest: s.DecompositionPolicyDigest,
			MissingRender: x.MissingRender, JoinClosed: j.JoinClosed, Differences: j.Differences, ContextFlags: x.ContextFlags,
		},
		MutationInput: MutationInput{
			JoinClosed: j.JoinClosed, ContinuationAllowed: n.ProtocolState.ContinuationAllowed, MissingRender: x.MissingRender,
			MutationPolicyDigest: s.MutationPolicyDigest, GovernancePolicyDigest: s.GovernancePolicyDigest, NormalizerID: s.NormalizerID,
			SessionRefs: n.SessionRefs, TrajectoryRefs: n.TrajectoryRefs, Differences: j.Differences, ContextFlags: x.ContextFlags,
		},
	}
	return r
}

// JSON is the report as the reference prints it: indented by two spaces, keys in the order of their bytes, no final newline.
func (r *Report) JSON() []byte { return pretty(r) }

func pretty(v any) []byte {
	var b bytes.Buffer
	_ = json.Indent(&b, canonical(v), "", "  ") // canonical JSON is JSON
	return b.Bytes()
}
