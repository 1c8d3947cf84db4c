package main

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core/graph"
)

// scope is a graph under construction: the case's own, or one of its subgraphs.
type scope struct {
	d            *fixture.Node
	outer        *scope // nil for the case's own graph
	graph        *graph.Graph
	conversation bool              // the schema declares graph.Messages
	subs         map[string]*scope // its subgraphs
	items        []string          // its fields that hold the item of a fan-out
	fields       []string
}

// subgraphs compiles the definitions in a graph's "subgraph" and "subgraphs". A definition sees those before it and
// around it.
func (r *runner) subgraphs(sc *scope) {
	sc.subs = map[string]*scope{}
	if d := sc.d.Get("subgraph"); d != nil {
		r.subgraph(sc, cmp.Or(d.Get("name").Text(), "inner"), d)
	}
	sc.d.Get("subgraphs").Each(func(name string, d *fixture.Node) bool {
		d.Get("name")
		r.subgraph(sc, name, d)
		return true
	})
}

func (r *runner) subgraph(sc *scope, name string, d *fixture.Node) {
	b := graph.New(name, graphVersion)
	in := &scope{d: d, outer: sc}
	r.define(b, in)
	for target, observers := range r.attached {
		if target == name || target == "inner" {
			b.Observe(observers...)
		}
	}
	var err error
	if in.graph, err = b.Compile(); err != nil {
		r.subFault = cmp.Or(r.subFault, err)
		in.graph = empty // the case ends with the fault anyway
	}
	sc.subs[name], r.Inner[name] = in, in.fields
}

// empty replaces a subgraph that does not compile.
var empty, _ = graph.New("empty", "1").Node("a", func(context.Context, graph.State) (graph.Update, error) {
	return nil, nil
}).
	Entry("a").Edge("a", graph.END).Compile()

// lookup returns the subgraph that a node names.
func (sc *scope) lookup(d *fixture.Node) *scope {
	for s := sc; s != nil; s = s.outer {
		if sub := s.subs[d.Text()]; sub != nil {
			return sub
		}
	}
	d.Malformed("there is no subgraph %q", d.Text())
	return nil
}

// container adds a node with inner graphs; it returns false if the node has none. A recorder wraps it, for the order of
// execution.
func (r *runner) container(b *graph.Builder, sc *scope, name string, d *fixture.Node) bool {
	switch {
	case d.Has("subgraph"):
		b.Subgraph(name, sc.lookup(d.Get("subgraph")).graph, projections(d)...)
	case d.Has("fan_out"):
		b.FanOut(name, r.fanOut(sc, d.Get("fan_out")))
	case d.Has("parallel_branches"):
		b.Branches(name, r.branches(sc, d.Get("parallel_branches")))
	default:
		return false
	}
	r.middleware(b, name, d)
	b.Wrap(name, func(ctx context.Context, s graph.State, next graph.Next) (graph.Update, error) {
		r.recorder.Add(evidence.Entry{What: sc.entryKind(), Node: name})
		return next(ctx, s)
	})
	return true
}

// entryKind returns the kind of the entries of this graph's nodes.
func (sc *scope) entryKind() string {
	if sc.outer != nil {
		return evidence.InnerNodeRan
	}
	return evidence.NodeRan
}

// projections reads both spellings: inputs and outputs next to the node's other keys, and under mapping. If both are
// used, it returns two.
func projections(d *fixture.Node) []graph.Projection {
	var out []graph.Projection
	for _, at := range []*fixture.Node{d, d.Get("mapping")} {
		if at.Has("inputs") || at.Has("outputs") {
			out = append(out, graph.Projection{Inputs: texts(at.Get("inputs")), Outputs: texts(at.Get("outputs"))})
		}
	}
	return out
}

// texts reads a mapping of texts; nil if there is none.
func texts(d *fixture.Node) map[string]string {
	if d.IsNull() {
		return nil
	}
	out := map[string]string{}
	d.All(func(key string, v *fixture.Node) { out[key] = v.Text() })
	return out
}

// choose reads a name and returns its value from a table; def is the name if d is nil.
func choose[T any](d *fixture.Node, def string, values map[string]T) T {
	name := def
	if d != nil {
		name = d.Text()
	}
	v, known := values[name]
	if !known {
		d.Malformed("must be one of %v, not %q", slices.Sorted(maps.Keys(values)), name)
	}
	return v
}

func policy(d *fixture.Node) graph.Policy {
	return choose(d, "fail_fast", map[string]graph.Policy{"fail_fast": graph.FailFast, "collect": graph.Collect})
}

// merged reads several mappings of texts into one.
func merged(all ...*fixture.Node) map[string]string {
	out := map[string]string{}
	for _, d := range all {
		maps.Copy(out, texts(d))
	}
	return out
}

// itemToken represents the item in the short form of a fan-out.
const itemToken = "<fan_out_item>"

// fanOut reads a fan-out, in its long or its short form.
func (r *runner) fanOut(sc *scope, d *fixture.Node) graph.FanOut {
	sub := sc.lookup(d.Need("subgraph"))
	m := d.Get("mapping")
	f := graph.FanOut{
		Graph: sub.graph, Items: d.Need("items_field").Text(), Item: d.Get("item_field").Text(),
		Policy: policy(d.Get("error_policy")), Errors: d.Get("errors_field").Text(),
		Inputs:      merged(d.Get("inputs"), m.Get("inputs")),
		Outputs:     merged(d.Get("extra_outputs"), m.Get("outputs"), d.Get("outputs")),
		EmptyIsFine: choose(d.Get("on_empty"), "raise", map[string]bool{"raise": false, "noop": true}),
	}
	for _, field := range slices.Sorted(maps.Keys(f.Inputs)) {
		if f.Inputs[field] == itemToken {
			f.Item = field
			delete(f.Inputs, field)
		}
	}
	sub.items = append(sub.items, f.Item)
	collect, target := d.Get("collect_field"), d.Get("target_field")
	if collect != nil && target != nil {
		f.Outputs[target.Text()] = collect.Text()
	}
	if c := d.Get("concurrency"); !c.IsNull() {
		f.Concurrency = int(c.Number())
	}
	return f
}

func (r *runner) branches(sc *scope, d *fixture.Node) graph.Branches {
	p := graph.Branches{Policy: policy(d.Get("error_policy")), Errors: d.Get("errors_field").Text()}
	d.Need("branches").All(func(name string, b *fixture.Node) {
		br := graph.Branch{Name: name, Graph: sc.lookup(b.Need("subgraph")).graph}
		for i, p := range projections(b) {
			if i > 0 {
				b.Malformed("two projections")
			}
			br.Project = p
		}
		p.Branches = append(p.Branches, br)
	})
	return p
}

// middleware reads wrap_with_middleware. Its markers are recorded.
func (r *runner) middleware(b *graph.Builder, node string, d *fixture.Node) {
	for _, m := range d.Get("wrap_with_middleware").Items() {
		m.Need("name")
		marker := evidence.Marker{Node: node, Before: m.Get("pre_log").Text(), After: m.Get("post_log").Text()}
		r.Markers = append(r.Markers, marker)
		suspend := func(context.Context, graph.State, *graph.Update) error { return nil }
		if d := m.Get("pre_next_calls_suspend_with_descriptor"); d != nil {
			suspend = suspendStep(d, nil)
		}
		b.Wrap(node, func(ctx context.Context, s graph.State, next graph.Next) (graph.Update, error) {
			r.mark(marker.Before)
			if err := suspend(ctx, s, nil); err != nil {
				return nil, err
			}
			u, err := next(ctx, s)
			r.mark(marker.After)
			return u, err
		})
	}
}

func (r *runner) mark(text string) {
	if text != "" {
		r.recorder.Add(evidence.Entry{What: evidence.Middleware, Node: text})
	}
}

// conditionalStep suspends in the fan-out instance whose item has a value, and runs the other steps in the rest.
func (r *runner) conditionalStep(sc *scope, d, others *fixture.Node) step {
	at := d.Need("suspend_on_item_index").Value()
	suspend := suspendStep(d.Need("descriptor"), d.Get("mark_node_completed"))
	rest := r.steps(sc, cmp.Or(d.Get("on_other_indices"), others))
	return func(ctx context.Context, s graph.State, u *graph.Update) error {
		isItem := func(field string) bool {
			item, there := s.Value(field)
			return there && fixture.Equal(item, at)
		}
		if slices.ContainsFunc(sc.items, isItem) {
			return suspend(ctx, s, u)
		}
		return rest(ctx, s, u)
	}
}
