package graph

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"gatehouse/core"
)

// Projection defines what passes between a graph and a graph inside it (graph-engine §2). The zero Projection takes
// nothing in, so that the subgraph begins with its defaults, and gives back every field that both declare.
//
// What is taken in replaces the default. What is given back is an update like any other: it joins the parent's field
// through the parent's reducer. Outputs that is not nil replaces the matching of names entirely. Two projections for
// one node are conflicting_projection_forms.
type Projection struct {
	Inputs  map[string]string // the subgraph's field: the parent's
	Outputs map[string]string // the parent's field: the subgraph's
}

// Subgraph adds a node that is a graph. It runs on a state of its own and never sees the session; it may suspend like
// any node, and a resume continues inside it. Its observers receive its events after those of the enclosing graphs;
// middleware does not cross its boundary in either direction.
func (b *Builder) Subgraph(name string, g *Graph, p ...Projection) *Builder {
	var project Projection
	if len(p) > 1 {
		b.fail(core.ConflictingProjectionForms, "the subgraph %q has %d projections", name, len(p))
	} else if len(p) == 1 {
		project = p[0]
	}
	return b.add(name, &node{kind: SpanSubgraph, body: subgraph{g, project}, graphs: []*Graph{g}})
}

type subgraph struct {
	g       *Graph
	project Projection
}

func (b subgraph) check(node string, parent *schema) error {
	return b.project.check(node, parent, b.g.schema)
}

func (b subgraph) run(ctx context.Context, nr *nodeRun, s State) (Update, *suspension, error) {
	at := start{node: b.g.entry}
	if nr.resumeAt != nil {
		at = *nr.resumeAt
	} else {
		var err error
		if at.state, err = b.project.input(b.g.schema, s, nil); err != nil {
			return nil, nil, err
		}
	}
	r := nr.subgraphRun(b.g, s)
	r.completed = slices.Clone(at.completed)
	state, susp, err := r.runToEnd(ctx, at)
	if susp != nil || err != nil {
		return nil, susp, err
	}
	u, err := b.project.output(nr.graph.g.schema, state)
	return u, nil, err
}

// input is the state that a subgraph begins with; more are further values of its fields.
func (p Projection) input(sub *schema, parent State, more Update) (State, error) {
	state := sub.defaults()
	for _, name := range slices.Sorted(maps.Keys(p.Inputs)) {
		state = state.with(name, clone(parent.values[p.Inputs[name]]))
	}
	for _, c := range more {
		state = state.with(c.field, clone(c.value))
	}
	if err := sub.check(state); err != nil {
		return state, &Error{Category: core.StateValidationError, State: state, Err: err}
	}
	return state, nil
}

// output is a subgraph's final state as an update of the parent.
func (p Projection) output(parent *schema, end State) (u Update, err error) {
	give := p.Outputs
	if give == nil {
		give = map[string]string{}
		for name := range parent.fields {
			if _, ok := end.schema.fields[name]; ok {
				give[name] = name
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(give)) {
		v := end.values[give[name]]
		// a list like any other: append adds all of it
		if h, ok := v.(core.History); ok && parent.fields[name].history {
			all, err := h.From(context.Background(), 0)
			if err != nil {
				return nil, err
			}
			v = all
		}
		u = append(u, Change{name, clone(v)})
	}
	return u, nil
}

// check refuses a projection that names undeclared fields.
func (p Projection) check(node string, parent, sub *schema) error {
	for _, pair := range pairs(p.Inputs) {
		if err := cmp.Or(sub.maps(node, "the subgraph", pair[0]), parent.maps(node, "the graph", pair[1])); err != nil {
			return err
		}
	}
	for _, pair := range pairs(p.Outputs) {
		if err := cmp.Or(parent.maps(node, "the graph", pair[0]), sub.maps(node, "the subgraph", pair[1])); err != nil {
			return err
		}
	}
	return nil
}

// maps returns an error if the field of a mapping is not declared.
func (s *schema) maps(node, whose, name string) error {
	if _, ok := s.fields[name]; !ok {
		return core.Errorf(core.MappingUndeclaredField, "node %q maps field %q, which %s does not declare", node, name,
			whose)
	}
	return nil
}

func pairs(m map[string]string) [][2]string {
	var out [][2]string
	for _, k := range slices.Sorted(maps.Keys(m)) {
		out = append(out, [2]string{k, m[k]})
	}
	return out
}
