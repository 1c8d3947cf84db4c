package wire

import (
	"bytes"
	"encoding/json"
)

// Response is an answer. Optional fields that are empty are left out.
type Response struct {
	ProtocolVersion       string         `json:"protocol_version"`
	RequestID             string         `json:"request_id,omitempty"`
	CorrelationID         string         `json:"correlation_id,omitempty"`
	SupportedVersions     []string       `json:"supported_protocol_versions,omitempty"`
	SupportedCapabilities map[string]any `json:"supported_capabilities,omitempty"`
	Denials               []Denial       `json:"capability_denials,omitempty"`
	Body                  Body           `json:"response"`
}

// Body is what became of a request.
type Body struct {
	Status     string         `json:"status"`                     // success or error
	Directives []Directive    `json:"action_directives,omitzero"` // nil is left out; empty is written
	Error      *Error         `json:"error,omitempty"`
	Extensions map[string]any `json:"extensions,omitempty"`
}

// The two values of Body.Status.
const (
	Success = "success"
	Failure = "error"
)

// Error is why a request failed. Its texts go to people and logs.
type Error struct {
	Code      string         `json:"code"`
	Message   string         `json:"message,omitempty"`
	Retryable bool           `json:"retryable"` // always written, as the protocol gives its absence no meaning
	Details   map[string]any `json:"details,omitempty"`
}

// Directive is one thing that a Shell shows or does. There is no requires_user_approval: it asks a Shell to have the
// directive itself approved, before it shows the question of an approval.
type Directive struct {
	ActionType string         `json:"action_type"`
	Priority   string         `json:"priority,omitempty"`
	Execution  string         `json:"execution,omitempty"`
	RiskTier   string         `json:"risk_tier,omitempty"`
	DeadlineMS *int64         `json:"deadline_ms,omitempty"` // from the receipt
	Payload    map[string]any `json:"payload,omitempty"`
	Extensions map[string]any `json:"extensions,omitempty"`
}

// New begins the answer to a request, accepted or refused: all but the body.
func New(r Request) Response {
	return Response{
		ProtocolVersion: Version, RequestID: r.ID, CorrelationID: r.Correlation, SupportedVersions: []string{Version},
		SupportedCapabilities: map[string]any{Approval: true, Upload: true, Streaming: false, EventsSSE: eventsPath},
		Denials:               r.Denials(),
	}
}

// Encode gives the JSON of r, without a line break at its end. A response with a value that JSON lacks, such as NaN in
// a payload, becomes an error response: a Shell gets an envelope in any case.
func (r Response) Encode() []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		b.Reset()
		r.SupportedCapabilities = nil
		r.Body = Body{
			Status: Failure, Error: &Error{Code: "internal_error", Message: "The answer could not be written."},
		}
		_ = e.Encode(r) // of strings: can't fail
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
