package evidence

import (
	"context"
	"errors"
	"sync"

	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/graph"
)

// Observed is an event that an observer of the fixture received.
type Observed struct {
	Observer   string
	Event      graph.Event
	Invocation core.InvocationID
	Session    core.SessionID // from the context: it is no field of the event
	Failed     bool           // the observer failed on it, as the fixture asks
}

// Events are the events that all observers of a case received, in the order of delivery.
type Events struct {
	mu       sync.Mutex
	observed []Observed
	first    core.InvocationID // the first that an observer received an event of
	all      []graph.Event     // what the runner's own observer was given
}

// Len returns how many events the fixture's observers and the runner's own have received.
func (e *Events) Len() (observed, all int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.observed), len(e.all)
}

// From returns the events after the given counts.
func (e *Events) From(observed, all int) ([]Observed, []graph.Event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Observed(nil), e.observed[observed:]...), append([]graph.Event(nil), e.all[all:]...)
}

// Add records an event that an observer of the fixture received.
func (e *Events) Add(h Observed) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.observed = append(e.observed, h)
}

// Observe is the runner's own observer.
func (e *Events) Observe(_ context.Context, ev graph.Event) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
	return nil
}

// IsFirst reports whether an invocation is the case's first.
func (e *Events) IsFirst(id core.InvocationID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.first == "" {
		e.first = id
	}
	return e.first == id
}

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
	out := make(map[string]any, len(values))
	for k, v := range values {
		out[k] = fixture.Plain(v)
	}
	return out
}

// CarrierOf returns the engine's own category of an error, or the reported one if the error is not the engine's.
func CarrierOf(err error) core.Category {
	var e *graph.Error
	if errors.As(err, &e) {
		return e.Category
	}
	return core.CategoryOf(err)
}
