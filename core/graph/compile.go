package graph

import (
	"maps"
	"slices"

	"gatehouse/core"
)

// schema gathers the declared fields and checks what names them.
func (b *Builder) schema() (*schema, error) {
	s := &schema{fields: map[string]field{}}
	for _, d := range b.fields {
		f := d.declared()
		if f.name == "" {
			return nil, core.Errorf(core.Invalid, "a field needs a name")
		}
		if first, known := s.fields[f.name]; known {
			return nil, core.Errorf(core.ConflictingReducers, "field %q is declared twice, with reducers %s and %s",
				f.name, first.reducer.name, f.reducer.name)
		}
		if f.reducer.configErr != nil {
			return nil, f.reducer.configErr
		}
		if err := f.typ.check(f.initial); err != nil {
			return nil, core.Errorf(core.Invalid, "the default of field %q %v", f.name, err)
		}
		s.fields[f.name] = f
		s.order = append(s.order, f.name)
	}
	for _, name := range b.projection {
		if _, ok := s.fields[name]; !ok {
			return nil, core.Errorf(core.MappingUndeclaredField, "the session keeps field %q, which is not declared", name)
		}
	}
	return s, nil
}

// checkEdges makes sure that the graph has an entry, that static edges lead somewhere, that no node has two ways out, and that
// every node can be reached. A conditional edge may lead anywhere, so behind one every node counts as reached. A node that is
// surely reached needs a way out; where another one lacks it, that is routing_error if it is ever reached (the spec knows no
// compile error for it, and fixtures have such nodes).
func (b *Builder) checkEdges() error {
	if b.entry == "" {
		return core.Errorf(core.NoDeclaredEntry, "the graph %q declares no entry", b.name)
	}
	if b.nodes[b.entry] == nil {
		return core.Errorf(core.NoDeclaredEntry, "the entry %q is not a node", b.entry)
	}
	out := map[string]edge{}
	for _, e := range b.edges {
		if b.nodes[e.from] == nil {
			return core.Errorf(core.DanglingEdge, "an edge leads from %q, which is not a node", e.from)
		}
		if _, known := out[e.from]; known {
			return core.Errorf(core.MultipleOutgoingEdges, "node %q has more than one outgoing edge", e.from)
		}
		if e.route == nil && e.to != END && b.nodes[e.to] == nil {
			return core.Errorf(core.DanglingEdge, "the edge from %q leads to %q, which is not a node", e.from, e.to)
		}
		out[e.from] = e
	}
	return b.checkPaths(out)
}

// checkPaths follows the static edges from the entry, up to the first conditional one.
func (b *Builder) checkPaths(out map[string]edge) error {
	reached := map[string]bool{}
	for name := b.entry; name != END && !reached[name]; {
		reached[name] = true
		e, ok := out[name]
		switch {
		case !ok:
			name = END
		case e.route != nil:
			return nil
		default:
			name = e.to
		}
	}
	for _, name := range b.nodeOrder {
		if !reached[name] {
			return core.Errorf(core.UnreachableNode, "no path leads to node %q", name)
		}
		if _, ok := out[name]; !ok {
			return core.Errorf(core.DanglingEdge, "node %q has no outgoing edge", name)
		}
	}
	return nil
}

// checkNodes makes sure that what is mapped between graphs is declared, and that middleware wraps existing nodes.
func (b *Builder) checkNodes(s *schema) error {
	for _, name := range b.nodeOrder {
		if check := b.nodes[name].check; check != nil {
			if err := check(name, s); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.wrapNode)) {
		if b.nodes[name] == nil {
			return core.Errorf(core.Invalid, "middleware is given for %q, which is not a node", name)
		}
		if slices.ContainsFunc(b.wrapNode[name], func(m Middleware) bool { return m == nil }) {
			return core.Errorf(core.Invalid, "the middleware around %q has no function", name)
		}
	}
	if slices.ContainsFunc(b.wrap, func(m Middleware) bool { return m == nil }) {
		return core.Errorf(core.Invalid, "the graph's middleware has no function")
	}
	return nil
}
