package hrf

import "gatehouse/core/hrf/expr"

// Step is one step of a script (HRF §3.2): *ExtractInput, *ToolCall, *If, *AssistantMessage or *Halt.
type Step interface {
	Where() Place
}

// Place is where a step or a message stands.
type Place struct {
	Pointer      string // RFC 6901, from the root of the envelope
	Line, Column int
}

// Where returns the place itself.
func (p Place) Where() Place { return p }

// ExtractInput sets variables from expressions, in the order of the text: later ones see earlier ones.
type ExtractInput struct {
	Place
	Output []Assignment
}

// Assignment sets one variable.
type Assignment struct {
	Name  string
	Value *expr.Expr
}

// ToolCall calls a tool and saves its result.
type ToolCall struct {
	Place
	Recipient string
	Args      *expr.Args
	SaveAs    string
}

// If runs one of two lists of steps.
type If struct {
	Place
	Condition  *expr.Condition
	Then, Else []Step
}

// AssistantMessage sets the final text, or shows a text to the model alone (channel analysis). A final text that is
// blank or "." is left to the model.
type AssistantMessage struct {
	Place
	Channel  string
	Content  string
	Template *expr.Template // nil: there is none, or it is blank or "."
}

// Halt ends the script.
type Halt struct{ Place }
