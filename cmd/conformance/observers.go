package main

import (
	"context"
	"errors"
	"sync"
	"time"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// heard is an event that an observer was given.
type heard struct {
	observer   string
	event      graph.Event
	invocation core.InvocationID
	session    core.SessionID // from the context: it is no field of the event
	failed     bool           // the observer failed on it, as the fixture asks
}

// ears are what all observers of a case have heard, in the order of delivery.
type ears struct {
	mu    sync.Mutex
	heard []heard
	runs  []core.InvocationID // in the order in which they were first heard of
	all   []graph.Event       // what the runner's own observer hears, where graphs are nested
}

func (e *ears) lenAll() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.all)
}

func (e *ears) allFrom(i int) []graph.Event {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]graph.Event(nil), e.all[i:]...)
}

func (e *ears) listen(_ context.Context, ev graph.Event) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, ev)
	return nil
}

func (e *ears) len() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.heard)
}

func (e *ears) from(i int) []heard {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]heard(nil), e.heard[i:]...)
}

func (e *ears) isFirst(id core.InvocationID) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if len(e.runs) == 0 {
		e.runs = append(e.runs, id)
	}
	return e.runs[0] == id
}

// observers registers the case's observers, on the graph or for the invocations to come.
func (w *world) observers(b *graph.Builder) {
	if w.c.mentions("subgraph") || w.c.mentions("subgraphs") {
		b.Observe(graph.Observer{Name: "runner", On: w.ears.listen})
	}
	for _, d := range w.c.get("observers").items() {
		if peek(d, "behavior").text() == "otel" { // the tracer, see watch
			for _, key := range []string{"name", "attach", "target", "behavior", "phases"} {
				d.get(key).value()
			}
			continue
		}
		o := w.observer(d)
		target := "outer"
		if t := d.get("target"); t != nil {
			target = t.text()
		}
		switch where := d.need("attach"); where.text() {
		case "graph":
			if target == "outer" {
				b.Observe(o)
			} else {
				w.attached[target] = append(w.attached[target], o)
			}
		case "invocation":
			w.scoped = append(w.scoped, o)
		default:
			where.malformed("must be graph or invocation")
		}
	}
}

func (w *world) observer(d *doc) graph.Observer {
	o := graph.Observer{Name: d.need("name").text()}
	if p := d.get("phases"); p != nil {
		o.Phases = []graph.Phase{}
		for _, one := range p.items() {
			o.Phases = append(o.Phases, graph.Phase(one.text()))
		}
	}
	first, later := pauses(d.get("sleep_ms_per_event"))
	var fail error
	switch kind := d.need("behavior"); kind.text() {
	case "record", "accumulate":
	case "raise":
		fail = errors.New("the fixture makes this observer fail")
	default:
		kind.malformed("unknown behavior")
	}
	o.On = func(ctx context.Context, e graph.Event) error {
		ids, _ := graph.InvocationFrom(ctx)
		wait := later
		if w.ears.isFirst(ids.Invocation) {
			wait = first
		}
		if wait > 0 { // the fixture's own slowness; a drain that gives up cuts it short
			select {
			case <-time.After(wait):
			case <-ctx.Done():
				return ctx.Err()
			}
		}
		w.ears.mu.Lock()
		defer w.ears.mu.Unlock()
		w.ears.heard = append(w.ears.heard, heard{o.Name, e, ids.Invocation, ids.Session, fail != nil})
		return fail
	}
	return o
}

func pauses(d *doc) (first, later time.Duration) {
	ms := func(d *doc) time.Duration { return time.Duration(d.number() * float64(time.Millisecond)) }
	switch {
	case d == nil:
		return 0, 0
	case d.isMapping():
		return ms(d.need("first_invocation")), ms(d.need("subsequent_invocations"))
	}
	return ms(d), ms(d)
}

// eventFields is an event in the fixture language.
func eventFields(e graph.Event) map[string]any {
	out := map[string]any{
		"phase": string(e.Phase), "node_name": e.Node, "namespace": plain(e.Namespace), "step": int64(e.Step),
		"attempt_index": int64(e.Attempt), "pre_state": stateFields(e.Pre),
	}
	parents := []any{}
	for _, p := range e.Parents {
		parents = append(parents, stateFields(p))
	}
	out["parent_states"] = parents
	if !e.Post.IsZero() {
		out["post_state"] = stateFields(e.Post)
	}
	if e.Err != nil {
		out["error"] = string(carrierOf(e.Err))
	}
	if e.FanOutIndex != nil {
		out["fan_out_index"] = int64(*e.FanOutIndex)
	}
	if e.Branch != "" {
		out["branch_name"] = e.Branch
	}
	if e.Descriptor != nil {
		out["descriptor"] = plain(e.Descriptor)
	}
	return out
}

func stateFields(s graph.State) map[string]any {
	values, err := s.Encode()
	if err != nil {
		return map[string]any{"unreadable": err.Error()}
	}
	out := make(map[string]any, len(values))
	for k, v := range values {
		out[k] = plain(v)
	}
	return out
}

// carrierOf is the engine's own category of an error, or the one reported where it is not the engine's.
func carrierOf(err error) core.Category {
	var e *graph.Error
	if errors.As(err, &e) {
		return e.Category
	}
	return core.CategoryOf(err)
}
