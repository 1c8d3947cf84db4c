package main

import (
	"context"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/cmd/conformance/internal/providers"
	"gatehouse/core/graph"
)

// collector is the kind of an observer that keeps typed events.
const collector = "typed_event_collector"

// models starts the servers of the case's models, if it has any, and its collectors. The case's end must call the
// result.
func (r *runner) startModels() (stop func()) {
	if !r.doc.Mentions("calls_llm") {
		return func() {}
	}
	r.models = providers.NewGraph(r.doc)
	return r.models.Close
}

// collectors registers the observers of typed events.
func (r *runner) collectors(b *graph.Builder) {
	for _, d := range r.doc.Get("typed_observers").Items() {
		name := d.Need("name").Text()
		choose(d.Need("kind"), "", map[string]bool{collector: true})
		r.behaviors[name] = collector
		b.Observe(graph.Observer{Name: name, Hear: r.recorder.Collect(name)})
	}
}

// modelStep calls a model, and sets a field to the text of its answer.
func (r *runner) modelStep(d *fixture.Node) step {
	call := r.models.Call(d)
	field := d.Get("stores_response_in").Text()
	return func(ctx context.Context, _ graph.State, u *graph.Update) error {
		c, err := call(ctx)
		r.recorder.AddCall(c)
		if err != nil {
			return err
		}
		if field != "" {
			*u = append(*u, graph.Set(field, c.Response.Message.Content.String()))
		}
		return nil
	}
}

// typedNames are the types of events that a fixture may count. The last one does not exist, which a fixture may say.
var typedNames = map[string]string{
	evidence.LlmToken: evidence.LlmToken, evidence.LlmCompletion: evidence.LlmCompletion,
	evidence.LlmFailed:    evidence.LlmFailed,
	"LlmTokenFailedEvent": "LlmTokenFailedEvent",
}

// checkCollected compares what the collectors received.
func checkCollected(r *runner, t *evidence.Turn, v *fixture.Node) {
	v.All(func(name string, d *fixture.Node) {
		if r.behaviors[name] != collector {
			d.Malformed("no observer %q collects typed events", name)
		}
		ofType := func(d *fixture.Node) (events []map[string]any) {
			kind := choose(d.Need("event_type"), "", typedNames)
			for _, h := range t.Heard {
				if h.Observer == name && h.Type == kind {
					events = append(events, h.Fields)
				}
			}
			return events
		}
		count := func(d *fixture.Node) { r.is(d.Need("count"), len(ofType(d))) }
		keys(d, map[string]func(*fixture.Node){
			"event_count": count,
			"event_counts": func(d *fixture.Node) {
				for _, item := range d.Items() {
					count(item)
				}
			},
			"contains_event": func(d *fixture.Node) { r.contains(d, ofType(d)) },
			"contains_events_in_order": func(d *fixture.Node) {
				pairwise(r, d.Need("events"), ofType(d), "events", r.eventFields)
			},
		})
	})
}

// contains checks that one of the events has the fields.
func (r *runner) contains(d *fixture.Node, events []map[string]any) {
	want, diff := d.Need("fields"), "there is none"
	want.Value()
	for _, e := range events {
		if diff = r.fieldsDiff(want, e); diff == "" {
			return
		}
	}
	r.Fault(d, "no such event: %s", diff)
}

func (r *runner) eventFields(v *fixture.Node, e map[string]any) {
	if diff := r.fieldsDiff(v, e); diff != "" {
		r.Fault(v, "%s", diff)
	}
}

// fieldsDiff compares the named fields of an event, each as a whole. An expected field must be there, even if it is
// null.
func (r *runner) fieldsDiff(v *fixture.Node, e map[string]any) (diff string) {
	v.All(func(key string, d *fixture.Node) {
		got, there := e[key]
		one := r.match.Diff(d, got, false)
		switch {
		case diff != "":
		case !there:
			diff = key + " is missing"
		case one != "":
			diff = key + ": " + one
		}
	})
	return diff
}
