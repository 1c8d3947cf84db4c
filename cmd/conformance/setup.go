package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// setup makes stores and graph. It gives false where the case ends here: with the compile error that it expects, or another one.
func (w *world) setup() bool {
	w.setupStores()
	d := w.c
	if g := w.c.get("graph"); g != nil {
		d = g
	}
	w.version = peek(peek(d, "state"), "schema_version").text()
	b := w.build(d)
	w.seed()
	g, err := b.Compile()
	if w.subFault != nil {
		err = w.subFault
	}
	if want := w.c.get("expected_compile_error"); want != nil {
		if got := core.CategoryOf(err); string(got) != want.text() {
			w.fault(want, "compiling gives %q, not %q (%v)", got, want.text(), err)
		}
		for _, path := range w.c.leftovers() {
			w.faults = append(w.faults, "fixture_directive_unknown: "+path)
		}
		return false
	}
	if err != nil {
		w.refused(err)
		return false
	}
	w.graph = g
	return true
}

// refused checks a case whose graph does not compile: it may expect just that, "at registration". Nothing runs then.
func (w *world) refused(err error) {
	at := peek(peek(w.c, "expected_error"), "raised_at")
	if at == nil {
		at = peek(peek(peek(w.c, "expected"), "expected_error"), "raised_at")
	}
	if want := peek(peek(w.c, "expected_error"), "category"); at == nil && want != nil && core.CategoryOf(err) == core.Category(want.text()) {
		at = &doc{node: &yaml.Node{Kind: yaml.ScalarNode, Value: "registration"}} // the category alone says that it was then
	}
	if at == nil || at.text() != "registration" {
		w.faults = append(w.faults, fmt.Sprintf("the graph does not compile: %v", err))
		return
	}
	w.c.get("initial_state").value() // nobody comes to need it
	t := &turn{name: "registration", kind: "registration", d: w.c, status: graph.Errored, err: err, category: core.CategoryOf(err)}
	t.session = core.SessionID(w.c.get("session_id").text())
	t.before = w.spy.look(w.ctx, t.session)
	t.after = t.before
	w.checkTurn(engineChecks, t)
	w.c.get("invariants").each(func(name string, v *doc) bool { w.registration(name, v, t); return true })
	for _, path := range w.c.leftovers() {
		w.faults = append(w.faults, "fixture_directive_unknown: "+path)
	}
}

func (w *world) setupStores() {
	w.spy = &spy{mem: graph.NewMemory(), journal: w.journal, faults: map[string]core.Category{}}
	harness := w.c.has("chat_turns") || w.c.has("transmissions")
	if d := w.c.get("session_store"); d != nil || harness {
		w.stores.Sessions = w.spy
		if d.isMapping() {
			inMemory(d.need("type"))
			d.get("behavior").each(func(key string, v *doc) bool {
				op, ok := strings.CutSuffix(key, "_raises")
				if ok && (op == "load" || op == "save") {
					w.spy.faults[op] = core.Category(v.text())
					return true
				}
				return false
			})
		} else if d != nil {
			inMemory(d)
		}
	}
	if d := w.c.get("checkpointer"); d != nil || harness {
		w.stores.Pauses = w.spy
		if d != nil {
			inMemory(d)
		}
	}
}

func inMemory(d *doc) {
	if d.text() != "in_memory" {
		d.malformed("harness_primitive_missing: there is no store %q", d.text())
	}
}

// firstSession is the session of the first turn that names one.
func (w *world) firstSession() *doc {
	for _, key := range []string{"invocations", "transmissions", "chat_turns"} {
		if !w.c.has(key) {
			continue
		}
		for _, d := range peek(w.c, key).items() {
			for _, at := range []*doc{d, peek(d, "payload")} {
				if id := peek(at, "session_id"); id != nil {
					return id
				}
			}
		}
	}
	return nil
}

// seed writes a session past the spy.
func (w *world) seed() {
	d := w.c.get("seeded_session")
	if d == nil {
		return
	}
	id := w.c.get("session_id")
	if own := d.get("session_id"); own != nil {
		id = own
	}
	if id == nil {
		id = w.firstSession()
	}
	rec := &core.SessionRecord{ID: core.SessionID(id.text()), SchemaVersion: w.version, State: map[string]json.RawMessage{}}
	if rec.ID == "" {
		d.malformed("there is no session_id")
	}
	if v := d.get("schema_version"); v != nil {
		rec.SchemaVersion = v.text()
	}
	for name, v := range d.need("state").fields() {
		if list, ok := v.([]any); ok && w.conversation && name == graph.Messages.Name() {
			h := core.History{}.Append(messagesOf(list)...)
			rec.Messages, rec.Writer = &h, core.Writer{Invocation: "seed"}
			continue
		}
		raw, err := json.Marshal(v)
		if err != nil {
			d.malformed("%s: %v", name, err)
		}
		rec.State[name] = raw
	}
	if err := w.spy.mem.Save(w.ctx, rec, core.SaveOptions{}); err != nil {
		d.malformed("%v", err)
	}
}
