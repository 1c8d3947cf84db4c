package typestate

// Kind and Schema mark the normalised form (§4).
const (
	Kind   = "premath.harness.typestate_normalized.v1"
	Schema = 1
)

// Normalized is evidence in the one form that equal turns share (§4): texts trimmed, rows sorted and unique, and everything that
// is derived from them. Its JSON is the reference's: what is empty is left out.
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

// Result is a tool's end, normalised. Error is set where Status is error, and nowhere else.
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

// Digests bind the parts of the evidence. JoinSet covers the others but for CallSpec.
type Digests struct {
	CallSpec      string `json:"callSpecDigest"`
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

// JoinState says which calls have a result and a use. JoinClosed is structural: the four differences are empty.
type JoinState struct {
	Requested  []string `json:"requestedCallIds,omitempty"`
	Results    []string `json:"resultCallIds,omitempty"`
	Used       []string `json:"usedCallIds,omitempty"`
	JoinClosed bool     `json:"joinClosed"`
	Differences
}

// Differences are where requests, results and uses do not meet.
type Differences struct {
	MissingResult []string `json:"missingResultCallIds,omitempty"` // requested, no result
	OrphanResult  []string `json:"orphanResultCallIds,omitempty"`  // a result, not requested
	MissingUse    []string `json:"missingUseCallIds,omitempty"`    // a result, no use
	UnknownUse    []string `json:"unknownUseCallIds,omitempty"`    // a use, no result
}

// ContextState says what the model can be shown when it is asked again.
type ContextState struct {
	Rendered      []string `json:"renderCallIds,omitempty"`
	Queues        []string `json:"queueIds,omitempty"`
	StateViews    []string `json:"stateViewIds,omitempty"`
	MissingRender []string `json:"missingRenderCallIds,omitempty"` // a result, no render
	ContextFlags
}

// ContextFlags are the verdicts on the context. Of no rows all are valid.
type ContextFlags struct {
	QueueReductionPresent    bool `json:"queueReductionPresent"`
	StateViewPresent         bool `json:"stateViewPresent"`
	RenderPolicyValid        bool `json:"renderPolicyValid"`
	QueuePolicyValid         bool `json:"queuePolicyValid"`
	StateViewPolicyValid     bool `json:"stateViewPolicyValid"`
	ContinuationContextReady bool `json:"continuationContextReady"`
}
