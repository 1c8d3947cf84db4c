package typestate

import "encoding/json"

// Input is the input of a join check: one turn's evidence, and constraints beyond the contract's own rules. A blank
// optional text counts as absent. Its JSON is the input of the command join-check.
type Input struct {
	Evidence      Evidence       `json:"evidence"`
	Governance    *Governance    `json:"governanceProfile,omitempty"`
	Protocol      *Protocol      `json:"protocolConstraints,omitempty"`
	Handoff       *HandoffRules  `json:"handoffConstraints,omitempty"`
	Truncation    *Truncation    `json:"truncationConstraints,omitempty"`
	Decomposition *Decomposition `json:"decompositionConstraints,omitempty"`
}

// Evidence is the record of one turn, in rows (§3).
type Evidence struct {
	CallSpec       CallSpec      `json:"callSpec"`
	ToolRequests   []ToolRequest `json:"toolRequests,omitempty"`
	ToolResults    []ToolResult  `json:"toolResults,omitempty"`
	ToolUse        []ToolUse     `json:"toolUse,omitempty"`
	ProtocolState  ProtocolState `json:"protocolState"`
	Handoff        *Handoff      `json:"handoff,omitempty"`
	ToolRender     []ToolRender  `json:"toolRender,omitempty"`
	ReminderQueue  []Queue       `json:"reminderQueue,omitempty"`
	StateViews     []StateView   `json:"stateViews,omitempty"`
	SessionRefs    []string      `json:"sessionRefs,omitempty"`
	TrajectoryRefs []string      `json:"trajectoryRefs,omitempty"`
}

// CallSpec is what the turn is bound to (§3.1). All fields are required.
type CallSpec struct {
	CallID                    string `json:"callId"`
	ModelRef                  string `json:"modelRef"`
	ActionMode                string `json:"actionMode" case:"lower"`
	ExecutionPattern          string `json:"executionPattern" case:"lower"`
	NormalizerID              string `json:"normalizerId"`
	MutationPolicyDigest      string `json:"mutationPolicyDigest"`
	GovernancePolicyDigest    string `json:"governancePolicyDigest"`
	ToolRenderProtocolDigest  string `json:"toolRenderProtocolDigest"`
	ReminderQueuePolicyDigest string `json:"reminderQueuePolicyDigest"`
	StateViewPolicyDigest     string `json:"stateViewPolicyDigest"`
	DecompositionPolicyDigest string `json:"decompositionPolicyDigest"`
}

// Bound is the digest that an approval is bound to: of the spec without its execution pattern, which is known only when
// evidence is judged. The spec is a normalised one.
func (s CallSpec) Bound() string {
	return digestOf(struct {
		CallSpec
		ExecutionPattern string `json:"executionPattern,omitempty"` // stands in for the spec's own
	}{CallSpec: s})
}

// ToolRequest is a call that the model requested. Name and id are required.
type ToolRequest struct {
	ToolCallID      string `json:"toolCallId"`
	ToolName        string `json:"toolName"`
	SchemaDigest    string `json:"schemaDigest,omitempty"`
	CallerID        string `json:"callerId,omitempty"`
	SearchRefDigest string `json:"searchRefDigest,omitempty"`
}

// ToolResult is the observed result of a call: typed, raw, or both.
type ToolResult struct {
	ToolCallID   string          `json:"toolCallId"`
	Status       string          `json:"status,omitempty"` // ok or error; "" = derived from the other fields
	ResultDigest string          `json:"resultDigest,omitempty"`
	Payload      json.RawMessage `json:"payload,omitempty"` // digested if ResultDigest is not given
	ErrorCode    string          `json:"errorCode,omitempty"`
	Retryable    *bool           `json:"retryable,omitempty"`
	ErrorMessage string          `json:"errorMessage,omitempty"`
	RawError     json.RawMessage `json:"rawError,omitempty"`
}

// ToolUse is how a result was used: consumed (given to the next model call), observed or discarded.
type ToolUse struct {
	ToolCallID   string `json:"toolCallId"`
	Disposition  string `json:"disposition" case:"lower"`
	ResultDigest string `json:"resultDigest,omitempty"`
}

// ProtocolState is how the model's last answer ended, and whether another one follows.
type ProtocolState struct {
	StopReason          string `json:"stopReason" case:"lower"`
	ContinuationAllowed bool   `json:"continuationAllowed" default:"false"`
}

// Handoff is a packet that transfers the work.
type Handoff struct {
	Target               string   `json:"target"`
	RequiredArtifactRefs []string `json:"requiredArtifactRefs,omitempty"`
	ReturnPathRef        string   `json:"returnPathRef,omitempty"`
}

// ToolRender is how a result was shown to the operator and to the model.
type ToolRender struct {
	ToolCallID            string `json:"toolCallId"`
	OperatorPayloadDigest string `json:"operatorPayloadDigest"`
	ReminderRenderDigest  string `json:"reminderRenderDigest"`
	InjectionPoint        string `json:"injectionPoint" case:"lower"`
	PolicyDigest          string `json:"policyDigest"`
}

// Queue is the reduction of a queue of reminders.
type Queue struct {
	QueueID       string `json:"queueId"`
	ReducedDigest string `json:"reducedDigest"`
	PolicyDigest  string `json:"policyDigest"`
}

// StateView is the part of the state that the model was shown.
type StateView struct {
	ViewID       string   `json:"viewId"`
	ViewDigest   string   `json:"viewDigest"`
	PolicyDigest string   `json:"policyDigest"`
	SourceRefs   []string `json:"sourceRefs,omitempty"`
}

// Governance is a claim of the governance profile, and the provenance of its policy package.
type Governance struct {
	ClaimID    string      `json:"claimId,omitempty"`
	Claimed    bool        `json:"claimed"`
	Provenance *Provenance `json:"policyProvenance,omitempty"`
}

// Provenance pins a policy package.
type Provenance struct {
	Pinned         bool   `json:"pinned"`
	PackageRef     string `json:"packageRef,omitempty"`
	ExpectedDigest string `json:"expectedDigest,omitempty"`
	BoundDigest    string `json:"boundDigest,omitempty"`
}

// Protocol is what the transport observed. Nil = not checked.
type Protocol struct {
	ParallelTransportOrderValid *bool `json:"parallelTransportOrderValid,omitempty"`
}

// HandoffRules define what a handoff packet must contain.
type HandoffRules struct {
	RequiredArtifactRefs []string `json:"requiredArtifactRefs,omitempty"`
	AllowedTargets       []string `json:"allowedTargets,omitempty"`
	RequireReturnPath    bool     `json:"requireReturnPath,omitempty"`
}

// Truncation is whether the policy required results to be truncated, and whether they were truncated correctly.
type Truncation struct {
	Required bool `json:"required,omitempty"`
	Valid    bool `json:"valid,omitempty"`
}

// Decomposition is what the turn's execution pattern must be. Nil Admissible = it was not judged.
type Decomposition struct {
	Admissible               *bool  `json:"admissible,omitempty"`
	ExpectedExecutionPattern string `json:"expectedExecutionPattern,omitempty"`
	ExpectedPolicyDigest     string `json:"expectedPolicyDigest,omitempty"`
}
