package tool

import (
	"context"
	"encoding/json"

	"gatehouse/core"
)

// Tool is something the agent can do. A tool is a value, made in a file of its own, with its clock and clients as arguments.
type Tool struct {
	Name        string
	Description string          // for the model
	Schema      json.RawMessage // JSON Schema of the arguments, an object
	Mutating    bool            // it changes something in the world: it runs only approved
	Risk        core.Risk       // of a mutating tool: how much care its approval needs

	// Summarize says in one sentence what a call with these arguments will do: what an approver reads. Only for mutating tools.
	Summarize func(args json.RawMessage) string
	// Check refuses arguments that do not fit, before anybody is asked; nil accepts all. The error is an *Error of category
	// tool_arguments.
	Check func(args json.RawMessage) error
	// Do runs the tool and gives what the model reads. An error that is an *Error goes to the model with its category and
	// message; any other is shown as a plain failure, and logged.
	Do func(ctx context.Context, args json.RawMessage) (string, error)
}

// Registry is the tools of one agent, by name.
type Registry struct {
	tools map[string]Tool
	names []string
}

// NewRegistry keeps tools in their order. Two of one name, or one without Do, are a programming mistake and panic.
func NewRegistry(tools ...Tool) *Registry {
	r := &Registry{tools: map[string]Tool{}}
	for _, t := range tools {
		if _, twice := r.tools[t.Name]; twice || t.Do == nil || t.Mutating && t.Summarize == nil {
			panic("tool " + t.Name + ": registered twice, or without Do or Summarize")
		}
		r.tools[t.Name] = t
		r.names = append(r.names, t.Name)
	}
	return r
}

// Get gives the tool of that name.
func (r *Registry) Get(name string) (Tool, bool) {
	t, ok := r.tools[name]
	return t, ok
}

// Find gives the tool that a call names, its arguments checked. Errors: tool_unknown, tool_arguments.
func (r *Registry) Find(call core.ToolCall) (Tool, error) {
	t, ok := r.tools[call.Name]
	if !ok {
		return Tool{}, core.Errorf(core.ToolUnknown, "There is no tool %q.", call.Name)
	}
	if string(call.Arguments) == "null" || len(call.Arguments) == 0 {
		return Tool{}, core.Errorf(core.ToolArguments, "The arguments of %s could not be read as a JSON object.", call.Name)
	}
	if t.Check != nil {
		if err := t.Check(call.Arguments); err != nil {
			return Tool{}, err
		}
	}
	return t, nil
}

// Tools gives all tools in the order they were registered.
func (r *Registry) Tools() []Tool {
	all := make([]Tool, len(r.names))
	for i, n := range r.names {
		all[i] = r.tools[n]
	}
	return all
}
