package graph

import (
	"context"
	"maps"
	"slices"

	"gatehouse/core"
)

// Node is a step of a graph: it reads the state and returns an update, or suspends (Suspend). It may fail; a panic is a
// failure. It must not keep ctx beyond its return.
type Node func(ctx context.Context, s State) (Update, error)

// edge is a node's one outgoing edge: static (to) or conditional (route).
type edge struct {
	from  string
	to    string
	route func(State) (string, error)
}

// Builder collects a graph's definition. Its methods return it, so that calls can be chained; Compile reports errors.
type Builder struct {
	definition
	fields     []Declared
	projection []string
	projected  bool
	migrations []migration
	nodes      map[string]*node
	nodeOrder  []string
	wrapNode   map[string][]Middleware
	edges      []edge
	errs       []error
}

// New begins a graph. Name and version are written into the records of its paused invocations: another graph can't
// resume them, and another version only by a migration (see Graph.Resumable).
func New(name, version string) *Builder {
	return &Builder{
		definition: definition{name: name, version: version, autoSave: true},
		nodes:      map[string]*node{}, wrapNode: map[string][]Middleware{},
	}
}

// Fields declares the state's fields. Declaring a name twice is conflicting_reducers.
func (b *Builder) Fields(f ...Declared) *Builder {
	b.fields = append(b.fields, f...)
	return b
}

// SchemaVersion names the version of the stored state (sessions §7). Without one it is "", which can't be migrated.
func (b *Builder) SchemaVersion(v string) *Builder {
	b.schemaVersion = v
	return b
}

// Session selects the fields that a session keeps (sessions §4.2); all others start from their default in each
// invocation. Without it a session keeps the full state.
func (b *Builder) Session(fields ...string) *Builder {
	b.projected = true
	b.projection = append(b.projection, fields...)
	return b
}

// NoAutoSave leaves out the save at END. A suspension still saves: a paused invocation needs a stored session.
func (b *Builder) NoAutoSave() *Builder {
	b.autoSave = false
	return b
}

// Migrate registers a migration of stored state from one schema version to another (sessions §7). fn gets the stored
// fields, without messages, as plain values (an integer is an int64) and must be pure. The same pair twice is
// session_state_migration_chain_ambiguous.
func (b *Builder) Migrate(from, to string, fn func(map[string]any) (map[string]any, error)) *Builder {
	b.migrations = append(b.migrations, migration{from, to, fn})
	return b
}

// Node adds a node.
func (b *Builder) Node(name string, n Node) *Builder {
	if n == nil {
		b.fail(core.Invalid, "node %q has no function", name)
	}
	return b.add(name, &node{kind: SpanNode, body: n})
}

// add adds a node of any kind.
func (b *Builder) add(name string, n *node) *Builder {
	switch _, known := b.nodes[name]; {
	case name == "" || name == END:
		b.fail(core.Invalid, "a node can't be named %q", name)
	case slices.Contains(n.graphs, nil):
		b.fail(core.Invalid, "node %q has no graph", name)
	case known:
		b.fail(core.Invalid, "there are two nodes named %q", name)
	default:
		b.nodes[name] = n
		b.nodeOrder = append(b.nodeOrder, name)
	}
	return b
}

// Wrap wraps one node in middleware, the first outermost.
func (b *Builder) Wrap(node string, m ...Middleware) *Builder {
	b.wrapNode[node] = append(b.wrapNode[node], m...)
	return b
}

// Trace sets the tracer of this graph's invocations and of everything inside them. Without one there are no spans.
func (b *Builder) Trace(t Tracer) *Builder {
	b.tracer = t
	return b
}

// Edge leads from a node to another one or to END, always.
func (b *Builder) Edge(from, to string) *Builder {
	b.edges = append(b.edges, edge{from: from, to: to})
	return b
}

// Route leads from a node to the node, or END, that fn returns; fn gets the state after the node's update was merged.
// An unknown name is routing_error at run time; an error of fn is edge_exception.
func (b *Builder) Route(from string, fn func(State) (string, error)) *Builder {
	if fn == nil {
		b.fail(core.Invalid, "the route from %q has no function", from)
	}
	b.edges = append(b.edges, edge{from: from, route: fn})
	return b
}

// Entry names the first node.
func (b *Builder) Entry(name string) *Builder {
	b.entry = name
	return b
}

// Observe attaches observers to all invocations. They get each event before the observers of one invocation.
func (b *Builder) Observe(o ...Observer) *Builder {
	for _, one := range o {
		if err := one.validate(); err != nil {
			b.errs = append(b.errs, err)
		}
	}
	b.observers = append(b.observers, o...)
	return b
}

func (b *Builder) fail(c core.Category, format string, args ...any) {
	b.errs = append(b.errs, core.Errorf(c, format, args...))
}

// Compile checks the definition and makes the graph, which never changes. It reports the first fault, as an error with
// one of the compile categories of graph-engine §4, otherwise invalid.
func (b *Builder) Compile() (*Graph, error) {
	if len(b.errs) > 0 {
		return nil, b.errs[0]
	}
	schema, err := b.schema()
	if err != nil {
		return nil, err
	}
	if err := b.checkEdges(); err != nil {
		return nil, err
	}
	if err := b.checkNodes(schema); err != nil {
		return nil, err
	}
	migrations, err := checkMigrations(b.migrations)
	if err != nil {
		return nil, err
	}
	g := &Graph{
		definition: b.definition, schema: schema, migrations: migrations, nodes: make(map[string]*node, len(b.nodes)),
		edges: make(map[string]edge, len(b.edges)), observed: len(b.observers) > 0, pauses: NewMemory(),
	}
	g.observers = slices.Clone(b.observers)
	for name, n := range b.nodes {
		compiled := *n
		compiled.middleware = b.wrapNode[name]
		g.nodes[name] = &compiled
		for _, inside := range n.graphs {
			g.observed = g.observed || inside.observed
		}
	}
	for _, e := range b.edges {
		g.edges[e.from] = e
	}
	g.stored = schema.order
	if b.projected {
		g.stored = slices.DeleteFunc(slices.Clone(schema.order), func(f string) bool {
			return !slices.Contains(b.projection, f)
		})
	}
	for _, name := range g.stored {
		g.history = g.history || schema.fields[name].history
	}
	return g, nil
}

// schema collects the declared fields and checks the names that refer to them.
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
			return nil,
				core.Errorf(core.MappingUndeclaredField, "the session keeps field %q, which is not declared", name)
		}
	}
	return s, nil
}

// checkEdges makes sure that the graph has an entry, that static edges lead somewhere, that no node has two outgoing
// edges, and that every node can be reached. A conditional edge may lead anywhere, so after one every node counts as
// reached. A node that is always reached needs an outgoing edge; another node without one is routing_error if it is
// ever reached (the spec has no compile error for it, and fixtures have such nodes).
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

// checkNodes makes sure that the fields mapped between graphs are declared, and that middleware wraps existing nodes.
func (b *Builder) checkNodes(s *schema) error {
	for _, name := range b.nodeOrder {
		if err := b.nodes[name].body.check(name, s); err != nil {
			return err
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
	return nil
}
