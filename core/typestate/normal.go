package typestate

// Kind and Schema identify the normal form (§4).
const (
	Kind   = "premath.harness.typestate_normalized.v1"
	Schema = 1
)

// Normalized is the normal form of evidence (§4): texts trimmed, rows sorted and unique, and everything derived from
// them. Equal turns have equal normal forms. Its JSON is the reference's: empty parts are left out.
type Normalized struct {
	Schema         int           `json:"schema"`
	Kind           string        `json:"kind"`
	CallSpec       CallSpec      `json:"callSpec"`
	ToolRequests   []ToolRequest `json:"toolRequests,omitempty"`
	ToolResults    []Result      `json:"toolResults,omitempty"`
	ToolUse        []ToolUse     `json:"toolUse,omitempty"`
	ProtocolState  ProtocolState `json:"protocolState"`
	Handoff        *Handoff      `json:"handoff,omitempty"`
	ToolRender     []ToolRender  `json:"toolRender,omitempty"`
	ReminderQueue  []Queue       `json:"reminderQueue,omitempty"`
	StateViews     []StateView   `json:"stateViews,omitempty"`
	Digests        Digests       `json:"digests"`
	JoinState      JoinState     `json:"joinState"`
	ContextState   ContextState  `json:"contextState"`
	SessionRefs    []string      `json:"sessionRefs,omitempty"`
	TrajectoryRefs []string      `json:"trajectoryRefs,omitempty"`
}

// Result is the normal form of a tool's result. Error is set if and only if Status is error.
type Result struct {
	ToolCallID   string    `json:"toolCallId"`
	Status       string    `json:"status"`
	ResultDigest string    `json:"resultDigest,omitempty"`
	Error        *Envelope `json:"error,omitempty"`
}

// Envelope is the typed error of a result; the message itself is not kept.
type Envelope struct {
	ErrorCode          string `json:"errorCode"`
	Retryable          bool   `json:"retryable"`
	ErrorMessageDigest string `json:"errorMessageDigest"`
}

// Digests bind the parts of the evidence. JoinSet covers all others except CallSpec.
type Digests struct {
	CallSpec string `json:"callSpecDigest"`
	SetDigests
}

// SetDigests are the digests of a join check's input.
type SetDigests struct {
	RequestSet    string `json:"requestSetDigest"`
	ResultSet     string `json:"resultSetDigest"`
	UseSet        string `json:"useSetDigest"`
	ToolRenderSet string `json:"toolRenderSetDigest"`
	QueueSet      string `json:"reminderQueueSetDigest"`
	StateViewSet  string `json:"stateViewSetDigest"`
	ProtocolState string `json:"protocolStateDigest"`
	Handoff       string `json:"handoffDigest,omitempty"`
	JoinSet       string `json:"joinSetDigest"`
}

// JoinState is which calls have a result and a use. JoinClosed means that the four differences are empty.
type JoinState struct {
	Requested  []string `json:"requestedCallIds,omitempty"`
	Results    []string `json:"resultCallIds,omitempty"`
	Used       []string `json:"usedCallIds,omitempty"`
	JoinClosed bool     `json:"joinClosed"`
	Differences
}

// Differences are the ids for which requests, results and uses do not match.
type Differences struct {
	MissingResult []string `json:"missingResultCallIds,omitempty"` // requested, no result
	OrphanResult  []string `json:"orphanResultCallIds,omitempty"`  // a result, not requested
	MissingUse    []string `json:"missingUseCallIds,omitempty"`    // a result, no use
	UnknownUse    []string `json:"unknownUseCallIds,omitempty"`    // a use, no result
}

// ContextState is what the next model call can be shown.
type ContextState struct {
	Rendered   []string `json:"renderCallIds,omitempty"`
	Queues     []string `json:"queueIds,omitempty"`
	StateViews []string `json:"stateViewIds,omitempty"`
	ContextVerdicts
}

// ContextVerdicts are what was found about the context. Without rows all policies are valid.
type ContextVerdicts struct {
	MissingRender            []string `json:"missingRenderCallIds,omitempty"` // a result, no render
	QueueReductionPresent    bool     `json:"queueReductionPresent"`
	StateViewPresent         bool     `json:"stateViewPresent"`
	RenderPolicyValid        bool     `json:"renderPolicyValid"`
	QueuePolicyValid         bool     `json:"queuePolicyValid"`
	StateViewPolicyValid     bool     `json:"stateViewPolicyValid"`
	ContinuationContextReady bool     `json:"continuationContextReady"`
}
