package evidence

import (
	"errors"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/graph"
)

// EventFields returns an event in the fixture language.
func EventFields(e graph.Event) map[string]any {
	out := map[string]any{
		"phase": string(e.Phase), "node_name": e.Node, "namespace": fixture.Plain(e.Namespace), "step": int64(e.Step),
		"attempt_index": int64(e.Attempt), "pre_state": StateFields(e.Pre),
	}
	parents := []any{}
	for _, p := range e.Parents {
		parents = append(parents, StateFields(p))
	}
	out["parent_states"] = parents
	if !e.Post.IsZero() {
		out["post_state"] = StateFields(e.Post)
	}
	if e.Err != nil {
		out["error"] = string(CarrierOf(e.Err))
	}
	if e.FanOutIndex != nil {
		out["fan_out_index"] = int64(*e.FanOutIndex)
	}
	if e.Branch != "" {
		out["branch_name"] = e.Branch
	}
	if e.Descriptor != nil {
		out["descriptor"] = fixture.Plain(e.Descriptor)
	}
	return out
}

// StateFields returns a state as plain values.
func StateFields(s graph.State) map[string]any {
	values, err := s.Encode()
	if err != nil {
		return map[string]any{"unreadable": err.Error()}
	}
	return fixture.PlainFields(values)
}

// CarrierOf returns the engine's own category of an error, or the reported one if the error is not the engine's.
func CarrierOf(err error) core.Category {
	var e *graph.Error
	if errors.As(err, &e) {
		return e.Category
	}
	return core.CategoryOf(err)
}
