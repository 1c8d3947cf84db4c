package interp

import (
	"encoding/json"

	"gatehouse/core/hrf"
)

// Program is an envelope that can be run. It is read-only and safe for concurrent use.
type Program struct {
	Envelope *hrf.Envelope
	Limits   Limits
	// Tool tells whether a recipient exists, and its JSON Schema of arguments (nil: none). All recipients are checked before the first effect.
	Tool       func(recipient string) (schema json.RawMessage, known bool)
	StrictVars bool // a variable that nothing has set is an error
}

// Limits bound a run; what is zero has the default.
type Limits struct {
	Steps, Depth, ToolCalls, ModelCalls, Size int
}

// State is where a run is. It is JSON.
type State struct{}

// Result is what the last effect gave. The zero Result begins a run.
type Result struct {
	Value any    // a tool's result as JSON, a model's text
	Err   string // the effect failed: what happened, for the error's message
}

// Effect is what the caller must do next: CallTool, AskModel, Done or Failed.
type Effect interface{ effect() }

// CallTool calls a tool. Its result goes to the next Next.
type CallTool struct {
	Recipient string
	Args      map[string]any
	Pointer   string // of the step or the message
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

// Failed ends the run with a fault, always of the code HRF_EXECUTION_ERROR.
type Failed struct{ Err *hrf.Error }

func (CallTool) effect() {}
func (AskModel) effect() {}
func (Done) effect()     {}
func (Failed) effect()   {}

// Start returns the state before the first step. input is data as strictjson.Value.Any gives it.
func (p *Program) Start(input map[string]any) State { return State{} }

// Next goes on to the next effect. It is deterministic and has no side effects.
func (p *Program) Next(s State, r Result) (State, Effect) { return s, Done{} }
