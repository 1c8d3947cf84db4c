package main

import (
	"context"
	"maps"
	"slices"

	"gatehouse/core/graph"
)

// scope is a graph that is being built: the case's own, or a subgraph of it.
type scope struct {
	name         string // "" = the outermost
	d            *doc
	outer        *scope
	conversation bool // the schema declares graph.Messages
	subs         map[string]*graph.Graph
	fields       []string
}

// subgraphs compiles what "subgraph" and "subgraphs" of a graph define. A definition sees those before it and around it.
func (w *world) subgraphs(sc *scope) {
	sc.subs = map[string]*graph.Graph{}
	if d := sc.d.get("subgraph"); d != nil {
		name := "inner"
		if n := d.get("name"); n != nil {
			name = n.text()
		}
		w.subgraph(sc, name, d)
	}
	sc.d.get("subgraphs").each(func(name string, d *doc) bool {
		d.get("name")
		w.subgraph(sc, name, d)
		return true
	})
}

func (w *world) subgraph(sc *scope, name string, d *doc) {
	b := graph.New(name, graphVersion)
	in := &scope{name: name, d: d, outer: sc}
	w.define(b, in)
	for target, observers := range w.attached {
		if target == name || target == "inner" {
			b.Observe(observers...)
		}
	}
	g, err := b.Compile()
	if err != nil && w.subFault == nil {
		w.subFault = err
	}
	sc.subs[name] = g
	w.inner[name] = in
}

// lookup finds a subgraph by the name that a node calls it.
func (sc *scope) lookup(d *doc) *graph.Graph {
	for s := sc; s != nil; s = s.outer {
		if g, ok := s.subs[d.text()]; ok {
			return g
		}
	}
	d.malformed("there is no subgraph %q", d.text())
	return nil
}

// container adds a node that has graphs inside, false where it is none. A spy stands around it, for the order of execution.
func (w *world) container(b *graph.Builder, sc *scope, name string, d *doc) bool {
	switch {
	case d.has("subgraph"):
		b.Subgraph(name, w.orEmpty(sc.lookup(d.get("subgraph"))), projections(d)...)
	case d.has("fan_out"):
		b.FanOut(name, w.fanOut(sc, d.get("fan_out")))
	case d.has("parallel_branches"):
		b.Branches(name, w.branches(sc, d.get("parallel_branches")))
	default:
		return false
	}
	w.middleware(b, name, d)
	b.Wrap(name, func(ctx context.Context, s graph.State, next graph.Next) (graph.Update, error) {
		w.journal.add(entry{what: sc.journalled(), node: name})
		return next(ctx, s)
	})
	return true
}

// journalled is what the journal calls a node of this graph.
func (sc *scope) journalled() string {
	if sc.outer != nil {
		return "inner node"
	}
	return "node"
}

// orEmpty stands in for a subgraph that did not compile: the case ends with that fault anyway.
func (w *world) orEmpty(g *graph.Graph) *graph.Graph {
	if g != nil {
		return g
	}
	empty, _ := graph.New("broken", "1").Node("a", func(context.Context, graph.State) (graph.Update, error) { return nil, nil }).
		Entry("a").Edge("a", graph.END).Compile()
	return empty
}

// projections reads both spellings: inputs and outputs beside the node's other keys, and under mapping. Both at once are two.
func projections(d *doc) []graph.Projection {
	var out []graph.Projection
	for _, at := range []*doc{d, d.get("mapping")} {
		if at.has("inputs") || at.has("outputs") {
			out = append(out, graph.Projection{Inputs: texts(at.get("inputs")), Outputs: texts(at.get("outputs"))})
		}
	}
	return out
}

// texts reads a mapping of texts; nil where there is none.
func texts(d *doc) map[string]string {
	if d.isNull() {
		return nil
	}
	out := map[string]string{}
	d.all(func(key string, v *doc) { out[key] = v.text() })
	return out
}

func policy(d *doc) graph.Policy {
	if d == nil {
		return graph.FailFast
	}
	switch d.text() {
	case "fail_fast":
		return graph.FailFast
	case "collect":
		return graph.Collect
	}
	d.malformed("unknown policy %q", d.text())
	return graph.FailFast
}

// itemToken stands, in the short form of a fan-out, for the item.
const itemToken = "<fan_out_item>"

func (w *world) fanOut(sc *scope, d *doc) graph.FanOut {
	f := graph.FanOut{
		Graph: w.orEmpty(sc.lookup(d.need("subgraph"))), Items: d.need("items_field").text(), Item: d.get("item_field").text(),
		Policy: policy(d.get("error_policy")), Errors: d.get("errors_field").text(), Inputs: texts(d.get("inputs")), Outputs: texts(d.get("extra_outputs")),
	}
	if f.Inputs == nil {
		f.Inputs = map[string]string{}
	}
	if f.Outputs == nil {
		f.Outputs = map[string]string{}
	}
	m := d.get("mapping")
	maps.Copy(f.Inputs, texts(m.get("inputs")))
	maps.Copy(f.Outputs, texts(m.get("outputs")))
	maps.Copy(f.Outputs, texts(d.get("outputs")))
	for _, sub := range slices.Sorted(maps.Keys(f.Inputs)) {
		if f.Inputs[sub] == itemToken {
			f.Item = sub
			delete(f.Inputs, sub)
		}
	}
	collect, target := d.get("collect_field"), d.get("target_field")
	if collect != nil && target != nil {
		f.Outputs[target.text()] = collect.text()
	}
	if c := d.get("concurrency"); !c.isNull() {
		f.Concurrency = int(c.number())
	}
	if e := d.get("on_empty"); e != nil {
		switch e.text() {
		case "noop":
			f.EmptyIsFine = true
		case "raise":
		default:
			e.malformed("must be raise or noop")
		}
	}
	return f
}

func (w *world) branches(sc *scope, d *doc) graph.Branches {
	p := graph.Branches{Policy: policy(d.get("error_policy")), Errors: d.get("errors_field").text()}
	d.need("branches").all(func(name string, b *doc) {
		br := graph.Branch{Name: name, Graph: w.orEmpty(sc.lookup(b.need("subgraph")))}
		switch all := projections(b); len(all) {
		case 0:
		case 1:
			br.Project = all[0]
		default:
			b.malformed("two projections")
		}
		p.Branches = append(p.Branches, br)
	})
	return p
}

// middleware reads wrap_with_middleware. Its markers go to the case's log.
func (w *world) middleware(b *graph.Builder, node string, d *doc) {
	for _, m := range d.get("wrap_with_middleware").items() {
		m.need("name")
		before, behind := m.get("pre_log"), m.get("post_log")
		w.markers = append(w.markers, marker{node: node, before: before.text(), behind: behind.text()})
		var asks *doc
		if asks = m.get("pre_next_calls_suspend_with_descriptor"); asks != nil {
			w.markers[len(w.markers)-1].asks = true
		}
		b.Wrap(node, w.marking(before.text(), behind.text(), asks))
	}
}

// marker is what a middleware of the fixture writes, and around which node.
type marker struct {
	node, before, behind string
	asks                 bool
}

func (w *world) marking(before, behind string, asks *doc) graph.Middleware {
	var suspend step
	if asks != nil {
		suspend = suspendStep(asks, nil)
	}
	return func(ctx context.Context, s graph.State, next graph.Next) (graph.Update, error) {
		if before != "" {
			w.journal.add(entry{what: "middleware", node: before})
		}
		if suspend != nil {
			if err := suspend(ctx, s, nil); err != nil {
				return nil, err
			}
		}
		u, err := next(ctx, s)
		if behind != "" {
			w.journal.add(entry{what: "middleware", node: behind})
		}
		return u, err
	}
}

// conditionalStep suspends in one instance of a fan-out and does something else in the others.
func (w *world) conditionalStep(sc *scope, d, others *doc) step {
	at := int(d.need("suspend_on_item_index").number())
	suspend := suspendStep(d.need("descriptor"), d.get("mark_node_completed"))
	if own := d.get("on_other_indices"); own != nil {
		others = own
	}
	var rest []step
	if others != nil {
		rest = w.steps(sc, others)
	}
	return func(ctx context.Context, s graph.State, u *graph.Update) error {
		if i, ok := graph.FanOutIndex(ctx); ok && i == at {
			return suspend(ctx, s, u)
		}
		for _, st := range rest {
			if err := st(ctx, s, u); err != nil {
				return err
			}
		}
		return nil
	}
}
