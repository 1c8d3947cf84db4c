package main

import (
	"errors"
	"maps"
	"slices"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core/graph"
)

// graphName and graphVersion are the same for all cases: fixtures name neither.
const (
	graphName    = "fixture"
	graphVersion = "1"
)

// build reads the graph keys of a case (or of its "graph") into a builder. The fixture language allows initial_state to
// name fields that are not in the schema; they may have any type.
func (r *runner) build(d *fixture.Node) *graph.Builder {
	b := graph.New(graphName, graphVersion)
	r.observers(b)
	sc := &scope{d: d}
	r.define(b, sc)
	r.checkTargets()
	r.Conversation, r.Outer = sc.conversation, sc.fields
	if r.product && !sc.conversation { // each of its turns starts with a message
		b.Fields(graph.Messages)
	}
	if p := d.Get("session_state"); p != nil {
		fields := p.Need("fields").Texts()
		r.Projected = fields
		if r.product && !slices.Contains(fields, graph.Messages.Name()) {
			fields = append(slices.Clone(fields), graph.Messages.Name())
		}
		b.Session(fields...)
	}
	if !d.Get("auto_save").Flag(true) {
		b.NoAutoSave()
	}
	for _, m := range d.Get("session_migrations").Items() {
		from, to := m.Need("from_version").Text(), m.Need("to_version").Text()
		b.Migrate(from, to, r.migration(from+"->"+to, m.Need("migrate")))
	}
	r.trace(b)
	return b
}

// define reads what every graph has: fields, subgraphs, nodes, edges.
func (r *runner) define(b *graph.Builder, sc *scope) {
	d := sc.d
	if st := d.Get("state"); st != nil {
		st.Get("fields").All(func(name string, f *fixture.Node) {
			sc.fields = append(sc.fields, name)
			for _, k := range declare(name, f) {
				sc.conversation = sc.conversation || k == graph.Declared(graph.Messages)
				b.Fields(k)
			}
		})
		if v := st.Get("schema_version"); v != nil {
			b.SchemaVersion(v.Text())
		}
	}
	if sc.outer == nil {
		for _, name := range r.undeclared(sc.fields) {
			b.Fields(graph.Typed(name, graph.AnyType(), graph.Replace[any]()))
		}
	}
	r.subgraphs(sc)
	if e := d.Get("entry"); e != nil {
		b.Entry(e.Text())
	}
	nodes := d.Get("nodes")
	nodes.All(func(name string, n *fixture.Node) {
		r.Nodes[name] = true
		if r.container(b, sc, name, n) {
			return
		}
		b.Node(name, r.node(sc, name, n))
		r.middleware(b, name, n)
	})
	r.edges(b, d.Get("edges"), nodes)
}

// undeclared returns the fields of any initial_state that the schema does not declare.
func (r *runner) undeclared(declared []string) []string {
	known := slices.Clone(declared)
	for _, d := range append([]*fixture.Node{r.doc}, r.doc.Peek("invocations").Items()...) {
		for _, name := range d.Peek("initial_state").Keys() {
			if !slices.Contains(known, name) {
				known = append(known, name)
			}
		}
	}
	return known[len(declared):]
}

func (r *runner) edges(b *graph.Builder, list, nodes *fixture.Node) {
	named := func(name string) string {
		if name == "END" && !nodes.Has("END") {
			return graph.END
		}
		return name
	}
	for _, e := range list.Items() {
		from := e.Need("from").Text()
		if cond := e.Get("condition"); cond != nil {
			e.Get("to") // next to a condition it has no meaning: a route may lead to any node
			b.Route(from, route(cond, named))
			continue
		}
		b.Edge(from, named(e.Need("to").Text()))
	}
}

// keyError represents another language's KeyError.
type keyError struct{ error }

// TypeName returns the exception's type name in a fixture.
func (keyError) TypeName() string { return "KeyError" }

// valueMigration changes the number called value.
func valueMigration(change func(int64) int64) func(map[string]any) (map[string]any, error) {
	return func(in map[string]any) (map[string]any, error) {
		n, ok := in["value"].(int64)
		if !ok {
			return nil, keyError{errors.New("there is no number called value")}
		}
		out := maps.Clone(in)
		out["value"] = change(n)
		return out, nil
	}
}

// migrations are the mock migrations of the fixture language.
var migrations = map[string]func(map[string]any) (map[string]any, error){
	"add_ten_to_value":      valueMigration(func(n int64) int64 { return n + 10 }),
	"multiply_value_by_two": valueMigration(func(n int64) int64 { return n * 2 }),
	"raises_keyerror": func(map[string]any) (map[string]any, error) {
		return nil, keyError{errors.New("the fixture makes this migration fail")}
	},
}

// migration records each run of a migration, to be compared with the engine's own record (Entry.Migrations).
func (r *runner) migration(name string, d *fixture.Node) func(map[string]any) (map[string]any, error) {
	migrate := choose(d, "", migrations)
	return func(in map[string]any) (map[string]any, error) {
		r.Migrations = append(r.Migrations, name)
		r.recorder.Add(evidence.Entry{What: evidence.Migration, Node: name})
		return migrate(in)
	}
}
