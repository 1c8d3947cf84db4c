package graph

import (
	"context"
	"fmt"
	"slices"

	"gatehouse/core"
)

// Phase is what an event reports about an attempt of a node. Each attempt has one PhaseStarted and then one of the others (graph-engine §6).
type Phase string

// The phases.
const (
	PhaseStarted   Phase = "started"
	PhaseCompleted Phase = "completed" // after the merge and the edge, whose failures it reports too
	PhaseSuspended Phase = "suspended"
)

// Event is one thing that happened to a node. Step counts the attempts of the whole invocation from 0, all its resumes included;
// both events of an attempt have the same. A subgraph has neither events nor a step; its nodes have. Namespace is the path
// of node names, outermost first; Parents are the states of the enclosing graphs, outermost first (graph-engine §6). The session's id
// is in the context.
type Event struct {
	Phase      Phase
	Node       string
	Namespace  []string
	Step       int
	Attempt    int
	Pre        State
	Post       State // of a success
	Err        error // of a failure
	Descriptor *core.Descriptor
	Parents    []State

	FanOutIndex *int   // of the innermost fan-out instance that the node belongs to
	Branch      string // of the innermost branch
}

// Observer receives events, in order, one at a time. On may be slow, fail or panic without effect on the graph, other observers or
// later events. Its context has the invocation's ids and ends when a drain gives up.
type Observer struct {
	Name   string
	Phases []Phase // nil = all three; an empty list is refused when it is registered
	On     func(ctx context.Context, e Event) error
}

func (o Observer) wants(p Phase) bool { return o.Phases == nil || slices.Contains(o.Phases, p) }

// validate is what registering asks of an observer.
func (o Observer) validate() error {
	if o.On == nil {
		return core.Errorf(core.Invalid, "observer %q has no function", o.Name)
	}
	if o.Phases != nil && len(o.Phases) == 0 {
		return core.Errorf(core.Invalid, "observer %q subscribes to no phase", o.Name)
	}
	for _, p := range o.Phases {
		if p != PhaseStarted && p != PhaseCompleted && p != PhaseSuspended {
			return core.Errorf(core.Invalid, "observer %q subscribes to an unknown phase %q", o.Name, p)
		}
	}
	return nil
}

// deliver calls the observer with a copy of the event. A panic becomes an error.
func (o Observer) deliver(ctx context.Context, e Event) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = newPanic(p)
		}
	}()
	e.Namespace, e.Parents = slices.Clone(e.Namespace), slices.Clone(e.Parents)
	if e.FanOutIndex != nil {
		e.FanOutIndex = clone(e.FanOutIndex)
	}
	if e.Descriptor != nil {
		e.Descriptor = clone(e.Descriptor)
	}
	if err := o.On(ctx, e); err != nil {
		return fmt.Errorf("observer %q: %w", o.Name, err)
	}
	return nil
}
