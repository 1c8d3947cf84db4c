package tool

import (
	"context"
	"encoding/json"
	"slices"

	"gatehouse/core"
)

// Tool is something the agent can do. Each is made in a file of its own, with its clock and clients as arguments.
type Tool struct {
	Name        string
	Description string          // for the model
	Schema      json.RawMessage // JSON Schema of the arguments, an object
	Mutating    bool            // it changes something in the world and runs only with an approval
	Risk        core.Risk       // of a mutating tool: how much care an approver must take

	// Summarize describes in one sentence what a call with these arguments will do. Approvers read it. Only for mutating tools.
	Summarize func(args json.RawMessage) string
	// Check refuses invalid arguments before an approval is requested; nil accepts all. The error is an *Error of category
	// tool_arguments.
	Check func(args json.RawMessage) error
	// Do runs the tool and gives the text that the model reads. Of an *Error the model reads category and message; any other
	// error becomes tool_failed, and is logged.
	Do func(ctx context.Context, args json.RawMessage) (string, error)
}

// Registry holds the tools of one agent: fixed ones, and those of sources.
type Registry struct {
	tools   []Tool
	sources []Source
}

// NewRegistry keeps tools in their order. It panics on two tools of one name and on a tool without Do or Summarize.
func NewRegistry(tools ...Tool) *Registry {
	r := &Registry{}
	for _, t := range tools {
		if _, twice := r.Get(t.Name); twice || t.Do == nil || t.Mutating && t.Summarize == nil {
			panic("tool " + t.Name + ": registered twice, or without Do or Summarize")
		}
		r.tools = append(r.tools, t)
	}
	return r
}

// Get gives the tool of that name.
func (r *Registry) Get(name string) (Tool, bool) {
	all := r.all()
	i := slices.IndexFunc(all, func(t Tool) bool { return t.Name == name })
	if i < 0 {
		return Tool{}, false
	}
	return all[i], true
}

// Find gives the tool that a call names, and checks the arguments. Errors: tool_unknown, tool_arguments.
func (r *Registry) Find(call core.ToolCall) (Tool, error) {
	t, ok := r.Get(call.Name)
	if !ok {
		return Tool{}, r.missing(call.Name)
	}
	if string(call.Arguments) == "null" || len(call.Arguments) == 0 {
		return Tool{}, core.Errorf(core.ToolArguments, "The arguments of %s must be a JSON object.", call.Name)
	}
	if t.Check != nil {
		if err := t.Check(call.Arguments); err != nil {
			return Tool{}, err
		}
	}
	return t, nil
}

// Secrets gives the secrets in the arguments of a call: those that the tool's schema, their names or their form mark as such.
func (r *Registry) Secrets(call core.ToolCall) []string {
	t, _ := r.Get(call.Name) // without a tool there is no schema
	return core.Secrets(call.Arguments, t.Secret(call.Arguments)...)
}

// Tools gives all tools of now in the order they were registered.
func (r *Registry) Tools() []Tool { return slices.Clone(r.all()) }
