package interp

import "gatehouse/core/hrf"

// Result is what the last effect gave. The zero Result begins a run.
type Result struct {
	Value any    // a tool's result, anything that is JSON; a model's text
	Err   string // the effect failed: what happened, for the error's message
}

// Effect is what the caller must do next: CallTool, AskModel, Done or Failed.
type Effect interface{ effect() }

// CallTool calls a tool. Its result goes to the next Next.
type CallTool struct {
	Recipient string
	Args      map[string]any // read-only; as strictjson.Value.Any gives it
	Pointer   string         // of the step or the message
}

// AskModel asks the model for a text.
type AskModel struct {
	Messages []Line // what the model is shown
}

// Line is one message for the model.
type Line struct {
	Role string `json:"role"` // system, user or assistant
	Text string `json:"text"`
}

// Done ends the run.
type Done struct {
	Text string // what is said; may be empty
}

// Failed ends the run with a fault, always of the code HRF_EXECUTION_ERROR and with Details.
type Failed struct{ Err *hrf.Error }

func (CallTool) effect() {}
func (AskModel) effect() {}
func (Done) effect()     {}
func (Failed) effect()   {}

// Details say where and why a run failed.
type Details struct {
	Pointer string `json:"pointer"` // of the step or the message; "" for the run as a whole
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	// the limit that was exceeded: steps, depth, tool_calls, model_calls or size
	Limit      string   `json:"limit,omitempty"`
	Allowed    int      `json:"allowed,omitempty"` // and its value
	Recipient  string   `json:"recipient,omitempty"`
	Recipients []string `json:"recipients,omitempty"` // those that do not exist
	Variable   string   `json:"variable,omitempty"`   // the one that nothing has set
}

func at(p hrf.Place) Details { return Details{Pointer: p.Pointer, Line: p.Line, Column: p.Column} }
