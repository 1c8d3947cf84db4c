package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core/graph"
)

// observers registers the case's observers, on the graph or for the next invocations.
func (r *runner) observers(b *graph.Builder) {
	b.Observe(graph.Observer{Name: "runner", On: r.recorder.Observe})
	r.collectors(b)
	for _, d := range r.doc.Get("observers").Items() {
		behavior := d.Peek("behavior").Text()
		r.behaviors[d.Peek("name").Text()] = behavior
		if behavior == tracing { // see trace
			for _, key := range []string{"name", "attach", "target", "behavior", "phases"} {
				d.Get(key).Value()
			}
			continue
		}
		o, target := r.observer(d), cmp.Or(d.Get("target").Text(), "outer")
		switch scoped := choose(d.Need("attach"), "", map[string]bool{"graph": false, "invocation": true}); {
		case !scoped && target != "outer":
			r.attached[target] = append(r.attached[target], o)
		case scoped && !r.doc.Has("chat_turns") && !r.product:
			// for those two, the runner does not invoke the graph itself
			r.scoped = append(r.scoped, o)
		default:
			b.Observe(o)
		}
	}
}

// tracing is the behavior of an observer that captures spans.
const tracing = "otel"

// checkTargets adds a fault for observers that are attached to a missing subgraph. "inner" matches any.
func (r *runner) checkTargets() {
	for _, d := range r.doc.Get("observers").Items() {
		target := d.Peek("target")
		_, known := r.Inner[target.Text()]
		if target != nil && target.Text() != "outer" && !known && (target.Text() != "inner" || len(r.Inner) == 0) {
			target.Malformed("there is no subgraph %q", target.Text())
		}
	}
}

func (r *runner) observer(d *fixture.Node) graph.Observer {
	o := graph.Observer{Name: d.Need("name").Text()}
	if p := d.Get("phases"); p != nil {
		o.Phases = []graph.Phase{}
		for _, name := range p.Texts() {
			o.Phases = append(o.Phases, graph.Phase(name))
		}
	}
	first, later := pauses(d.Get("sleep_ms_per_event"))
	fail := choose(d.Need("behavior"), "", map[string]error{
		"record": nil, "accumulate": nil, "raise": errors.New("the fixture makes this observer fail"),
	})
	o.On = func(ctx context.Context, e graph.Event) error {
		ids, _ := graph.InvocationFrom(ctx)
		wait := later
		if r.recorder.IsFirst(ids.Invocation) {
			wait = first
		}
		if wait > 0 { // the fixture asks for a slow observer; the end of a drain interrupts it
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		r.recorder.AddObserved(evidence.Observed{Observer: o.Name, Event: e, Failed: fail != nil})
		return fail
	}
	return o
}

func pauses(d *fixture.Node) (first, later time.Duration) {
	ms := func(d *fixture.Node) time.Duration { return time.Duration(d.Number() * float64(time.Millisecond)) }
	switch {
	case d == nil:
		return 0, 0
	case d.IsMapping():
		return ms(d.Need("first_invocation")), ms(d.Need("subsequent_invocations"))
	}
	return ms(d), ms(d)
}

// trace makes the case's tracer if spans are needed.
func (r *runner) trace(b *graph.Builder) {
	traced := r.doc.Mentions("span_tree") || r.doc.Mentions("otel_spans") ||
		r.doc.Mentions("session_id_uniform_across_span_tree")
	for _, behavior := range r.behaviors {
		traced = traced || behavior == tracing
	}
	if traced {
		b.Trace(r.recorder.Tracer(graphVersion))
	}
}
