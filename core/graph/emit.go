package graph

import (
	"context"
	"slices"
)

// Report is an event that something which a node calls reports while the node runs, such as the token of a model's
// answer (graph-engine §6). Event is of the reporter's own type, by which observers tell them apart; the rest says
// which attempt of which node it belongs to, as in an Event.
type Report struct {
	Event       any
	Node        string
	Namespace   []string
	Attempt     int
	FanOutIndex *int
	Branch      string
}

func (r Report) copied() Report {
	r.Namespace, r.FanOutIndex = slices.Clone(r.Namespace), clone(r.FanOutIndex)
	return r
}

// Emit has the observers hear a typed event, after all that happened before it and before the node's end. It does not
// wait for them. Outside a running node it does nothing: in middleware, after the node has returned, and where there is
// no graph.
func Emit(ctx context.Context, event any) {
	scope := scopeFrom(ctx)
	if scope == nil || scope.middleware {
		return
	}
	scope.mu.Lock()
	defer scope.mu.Unlock()
	if nr, r := scope.node, scope.node.graph; !scope.closed {
		report := &Report{event, nr.name, nr.namespace(), scope.attempt, r.fanOutIndex, r.branch}
		r.seg.events.put(delivery{Event: Event{Node: nr.name}, report: report, observers: r.observers})
	}
}
