package tool

import "gatehouse/core"

// Bind returns what an approval of a call is bound to: its arguments with their digest, its summary, its risk, and
// where its secrets are. Errors: tool_arguments, if the arguments have no canonical form.
func Bind(t Tool, call core.ToolCall) (core.Call, error) {
	digest, err := Digest(call.Name, call.Arguments)
	if err != nil {
		return core.Call{}, err
	}
	bound := core.Call{
		Tool: call.Name, CallID: call.ID, Arguments: call.Arguments, Secret: t.Secret(call.Arguments), Digest: digest,
		Summary: "Run " + call.Name, Risk: t.CallRisk(), Annotations: t.Annotations,
	}
	if t.Summarize != nil {
		said := t.Summarize(call.Arguments)
		bound.Summary = bound.Mask(said)
		bound.Said = t.Says != nil && t.Says(call.Arguments) && bound.Summary == said
	}
	return bound, nil
}

// Bind finds a call's tool, checks the arguments and binds the call. Errors: those of Find and of the function Bind.
func (r *Registry) Bind(call core.ToolCall) (core.Call, error) {
	t, err := r.Find(call)
	if err != nil {
		return core.Call{}, err
	}
	return Bind(t, call)
}

// AnyCall is a call of the tool without arguments, as rules know it.
func (t Tool) AnyCall() core.Call {
	return core.Call{Tool: t.Name, Arguments: []byte("{}"), Risk: t.CallRisk(), Annotations: t.Annotations}
}

// CallRisk is the risk of a call of the tool, as rules know it.
func (t Tool) CallRisk() core.Risk {
	if !t.Mutating {
		return core.ReadOnly
	}
	return t.Risk
}
