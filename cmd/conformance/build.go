package main

import (
	"errors"

	"gatehouse/core/graph"
)

// graphName and graphVersion are the same for all cases: fixtures name neither.
const (
	graphName    = "fixture"
	graphVersion = "1"
)

// build reads the graph keys of a case (or of its "graph") into a builder. The fixture language lets initial_state name fields
// that the schema does not: they are fields of any type.
func (w *world) build(d *doc) *graph.Builder {
	b := graph.New(graphName, graphVersion)
	w.attached, w.inner = map[string][]graph.Observer{}, map[string]*scope{}
	w.observers(b)
	sc := &scope{d: d}
	w.define(b, sc)
	w.conversation = sc.conversation
	if p := d.get("session_state"); p != nil {
		var fields []string
		for _, f := range p.need("fields").items() {
			fields = append(fields, f.text())
		}
		w.projected = fields
		b.Session(fields...)
	}
	if !d.get("auto_save").flag(true) {
		b.NoAutoSave()
	}
	for _, m := range d.get("session_migrations").items() {
		from, to := m.need("from_version").text(), m.need("to_version").text()
		b.Migrate(from, to, w.migration(from+"->"+to, m.need("migrate")))
	}
	w.watch(b)
	return b
}

// define reads what any graph has: fields, subgraphs, nodes, edges.
func (w *world) define(b *graph.Builder, sc *scope) {
	d := sc.d
	declared := map[string]bool{}
	if st := d.get("state"); st != nil {
		st.get("fields").all(func(name string, f *doc) {
			declared[name] = true
			sc.fields = append(sc.fields, name)
			for _, k := range declare(name, f) {
				sc.conversation = sc.conversation || k == graph.Declared(graph.Messages)
				b.Fields(k)
			}
		})
		if v := st.get("schema_version"); v != nil {
			b.SchemaVersion(v.text())
		}
	}
	if sc.outer == nil {
		for _, name := range w.undeclared(declared) {
			b.Fields(graph.Typed(name, graph.AnyType(), graph.Replace[any]()))
		}
	}
	w.subgraphs(sc)
	if e := d.get("entry"); e != nil {
		b.Entry(e.text())
	}
	nodes := d.get("nodes")
	nodes.all(func(name string, n *doc) {
		if w.container(b, sc, name, n) {
			return
		}
		b.Node(name, w.node(sc, name, n))
		w.middleware(b, name, n)
	})
	w.edges(b, d.get("edges"), nodes)
}

// undeclared are the fields of any initial_state that the schema does not declare.
func (w *world) undeclared(declared map[string]bool) []string {
	var out []string
	gather := func(d *doc) {
		for _, name := range keysOf(peek(d, "initial_state")) {
			if !declared[name] {
				declared[name] = true
				out = append(out, name)
			}
		}
	}
	gather(w.c)
	if list := peek(w.c, "invocations"); list != nil {
		for _, inv := range list.items() {
			gather(inv)
		}
	}
	return out
}

// peek is get that leaves the key unread.
func peek(d *doc, key string) *doc {
	var out *doc
	if d.isMapping() {
		d.each(func(k string, v *doc) bool {
			if k == key {
				out = v
			}
			return false
		})
	}
	return out
}

func (w *world) edges(b *graph.Builder, list, nodes *doc) {
	named := func(name string) string {
		if name == "END" && !nodes.has("END") {
			return graph.END
		}
		return name
	}
	for _, e := range list.items() {
		from := e.need("from").text()
		if cond := e.get("condition"); cond != nil {
			e.get("to") // beside a condition it only says that the node can be reached, which any node can
			b.Route(from, route(cond, named))
			continue
		}
		b.Edge(from, named(e.need("to").text()))
	}
}

// keyError stands for another language's KeyError.
type keyError struct{ error }

// TypeName is what a fixture calls the type of an exception.
func (keyError) TypeName() string { return "KeyError" }

// migration is one of the fixture language's mocks; each run is written down, as the engine's own account (Entry.Migrations) is to
// be compared with it.
func (w *world) migration(name string, d *doc) func(map[string]any) (map[string]any, error) {
	arithmetic := func(f func(int64) int64) func(map[string]any) (map[string]any, error) {
		return func(in map[string]any) (map[string]any, error) {
			w.migrated = append(w.migrated, name)
			out := map[string]any{}
			for k, v := range in {
				out[k] = v
			}
			n, ok := in["value"].(int64)
			if !ok {
				return nil, keyError{errors.New("there is no number called value")}
			}
			out["value"] = f(n)
			return out, nil
		}
	}
	switch d.text() {
	case "add_ten_to_value":
		return arithmetic(func(n int64) int64 { return n + 10 })
	case "multiply_value_by_two":
		return arithmetic(func(n int64) int64 { return n * 2 })
	case "raises_keyerror":
		return func(map[string]any) (map[string]any, error) {
			w.migrated = append(w.migrated, name)
			return nil, keyError{errors.New("the fixture makes this migration fail")}
		}
	}
	d.malformed("unknown migration")
	return nil
}
