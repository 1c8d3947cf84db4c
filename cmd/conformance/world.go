package main

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"gatehouse/core"
	"gatehouse/core/chat"
	"gatehouse/core/graph"
)

// world is all there is of one case: what it runs on, what has happened, and what was found wrong.
type world struct {
	ctx     context.Context
	c       *doc
	journal *journal
	ears    *ears
	spy     *spy
	stores  graph.Stores
	graph   *graph.Graph
	scoped  []graph.Observer // of each invocation
	harness *chat.Harness

	conversation bool     // the schema declares graph.Messages
	projected    []string // session_state.fields; nil = full state
	version      string   // the schema's
	migrated     int      // runs of migrations

	turns      []*turn
	listeners  map[string]*listening
	subscribed []core.Suspended // what the harness registered
	match      matcher

	faults    []string
	unchecked []string
}

// turn is what one invocation, transmission, send or signal came to.
type turn struct {
	name       string
	d          *doc
	kind       string // invocation, transmission, send, signal
	session    core.SessionID
	message    *core.Message      // of a send
	signal     *chat.Signal       // of whatever resumes
	waited     *core.PausedRecord // for which a signal was meant, as it was before
	invoked    []chat.Turn        // calls of Graph.Invoke
	path       chat.Path
	status     graph.Status
	err        error
	category   core.Category
	bucket     core.Bucket
	replies    []core.Message
	pending    []core.Message
	reply      *core.Message
	descriptor *core.Descriptor
	invocation core.InvocationID
	response   *chat.Response
	newSubs    int // registrations during the turn

	entries       []entry
	before, after *stored
	heard         []heard
	drained       graph.Drained
	drainTook     time.Duration
	drainLimit    time.Duration
	took          time.Duration
	waits         *core.PausedRecord // the turn's own record, once it was over

	errorExpected bool
	journalAt     int
	earsAt        int
	subsAt        int
	began         time.Time
}

// result is that of the turn's last invocation; nil where the graph was not invoked.
func (t *turn) result() *graph.Result {
	if len(t.invoked) == 0 {
		return nil
	}
	return &t.invoked[len(t.invoked)-1].Result
}

// ran are the nodes whose bodies ran, in order.
func (t *turn) ran() []string {
	out := []string{}
	for _, e := range t.entries {
		if e.what == "node" {
			out = append(out, e.node)
		}
	}
	return out
}

func (t *turn) count(what ...string) int {
	n := 0
	for _, e := range t.entries {
		for _, w := range what {
			if e.what == w {
				n++
			}
		}
	}
	return n
}

func (w *world) fault(d *doc, format string, args ...any) {
	w.faults = append(w.faults, d.path+": "+fmt.Sprintf(format, args...))
}

// runFile runs every case of a file.
func runFile(ctx context.Context, path string) []verdict {
	base := verdict{File: strings.TrimSuffix(strings.TrimSuffix(filepath.Base(path), ".yaml"), ".yml"), Case: "case"}
	root, err := loadDoc(path)
	if err != nil {
		base.Capability, base.Faults = "unknown", []string{"fixture_schema_invalid: " + err.Error()}
		return []verdict{base}
	}
	base.Capability = capabilityOf(path, root)
	if !root.has("cases") {
		w := runCase(ctx, base.Capability, root)
		base.Faults, base.Unchecked = w.faults, w.unchecked
		return []verdict{base}
	}
	var out []verdict
	all := &world{ctx: ctx}
	for i, c := range root.get("cases").items() {
		v := base
		v.Case = fmt.Sprintf("case %d", i+1)
		if name := c.get("name"); name != nil {
			v.Case = name.text()
		}
		w := runCase(ctx, base.Capability, c)
		v.Faults, v.Unchecked = w.faults, w.unchecked
		all.join(w)
		out = append(out, v)
	}
	if len(out) == 0 {
		base.Faults = []string{"fixture_schema_invalid: there are no cases"}
		return []verdict{base}
	}
	// what stands beside the cases is of the file as a whole; it is told with the last case
	if root.has("invariants") && unsupported(base.Capability, root) == "" {
		all.guard(func() { all.invariants(root.get("invariants"), all.turns) })
	}
	root.each(func(key string, v *doc) bool {
		switch key {
		case "cases", "name", "description", "conformance_version":
			return true
		case "invariants":
			v.value()
			return true
		}
		all.faults = append(all.faults, "fixture_directive_unknown: "+key)
		return false
	})
	last := &out[len(out)-1]
	last.Faults, last.Unchecked = append(last.Faults, all.faults...), append(last.Unchecked, all.unchecked...)
	return out
}

// join adds what happened in another world.
func (w *world) join(o *world) {
	w.turns = append(w.turns, o.turns...)
	w.migrated += o.migrated
	w.spy, w.graph, w.stores, w.ears, w.c = o.spy, o.graph, o.stores, o.ears, o.c
}

// runCase runs one case in a world of its own.
func runCase(ctx context.Context, capability string, c *doc) *world {
	w := &world{ctx: ctx, c: c, journal: &journal{}, ears: &ears{}, listeners: map[string]*listening{}}
	if reason := unsupported(capability, c); reason != "" {
		w.faults = append(w.faults, reason)
		return w
	}
	w.guard(func() {
		c.get("name")
		c.get("description")
		if !w.setup() {
			return
		}
		switch {
		case c.has("chat_turns"):
			w.runChat()
		case c.has("transmissions"):
			w.runTransmissions()
		default:
			w.runEngine()
		}
		w.invariants(c.get("invariants"), w.turns)
		for _, path := range c.leftovers() {
			w.faults = append(w.faults, "fixture_directive_unknown: "+path)
		}
	})
	return w
}

// guard turns a malformed fixture, and a panic of ours, into a fault of the case.
func (w *world) guard(f func()) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case schemaFault:
			w.faults = append(w.faults, p.text)
		default:
			w.faults = append(w.faults, fmt.Sprintf("the runner panicked: %v", p))
		}
	}()
	f()
}

// setup makes stores and graph. It gives false where the case ends here: with the compile error that it expects, or another one.
func (w *world) setup() bool {
	w.setupStores()
	d := w.c
	if g := w.c.get("graph"); g != nil {
		d = g
	}
	w.version = peek(peek(d, "state"), "schema_version").text()
	g, err := w.build(d).Compile()
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
	w.seed()
	return true
}

// refused checks a case whose graph does not compile: it may expect just that, "at registration". Nothing runs then.
func (w *world) refused(err error) {
	at := peek(peek(w.c, "expected_error"), "raised_at")
	if at == nil {
		at = peek(peek(peek(w.c, "expected"), "expected_error"), "raised_at")
	}
	if at == nil || at.text() != "registration" {
		w.faults = append(w.faults, fmt.Sprintf("the graph does not compile: %v", err))
		return
	}
	for _, key := range []string{"session_id", "initial_state", "seeded_session"} {
		w.c.get(key).value() // nobody comes to need them
	}
	w.checkTurn(engineChecks, &turn{name: "registration", kind: "registration", d: w.c, status: graph.Errored, err: err, category: core.CategoryOf(err)})
	w.c.get("invariants").each(func(name string, v *doc) bool { w.registration(name, v, err); return true })
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

// begin opens a turn.
func (w *world) begin(kind string, d *doc) *turn {
	t := &turn{kind: kind, d: d, name: fmt.Sprintf("%s %d", kind, len(w.turns)+1)}
	if n := d.get("name"); n != nil {
		t.name = n.text()
	}
	t.journalAt, t.earsAt, t.subsAt, t.began = w.journal.len(), w.ears.len(), len(w.subscribed), time.Now()
	w.turns = append(w.turns, t)
	return t
}

// end closes a turn: what happened since it began is its own.
func (w *world) end(t *turn) {
	t.took = time.Since(t.began)
	t.entries = w.journal.from(t.journalAt)
	t.heard = w.ears.from(t.earsAt)
	t.newSubs = len(w.subscribed) - t.subsAt
	if r := t.result(); r != nil {
		t.invocation = r.Invocation
		if r.Session != "" {
			t.session = r.Session
		}
	}
	t.after = w.spy.look(w.ctx, t.session)
	t.waits, _ = w.spy.mem.Paused(w.ctx, t.invocation)
}

// resolve replaces a placeholder for an invocation's id.
func (w *world) resolve(d *doc) core.InvocationID {
	text := d.text()
	if !strings.HasPrefix(text, "<") || !strings.HasSuffix(text, ">") {
		return core.InvocationID(text)
	}
	switch {
	case strings.Contains(text, "suspended outcome"):
		for i := len(w.turns) - 1; i >= 0; i-- {
			if t := w.turns[i]; t.status == graph.Suspended {
				return t.invocation
			}
		}
		d.malformed("no turn has suspended yet")
	case strings.Contains(text, "complete"):
		for _, t := range w.turns {
			if t.status == graph.Completed {
				return t.invocation
			}
		}
		d.malformed("no turn has completed yet")
	}
	return core.InvocationID(text)
}

// payload reads a signal's payload.
func payloadOf(d *doc) map[string]json.RawMessage {
	if d == nil {
		return nil
	}
	out := map[string]json.RawMessage{}
	for k, v := range d.fields() {
		raw, err := json.Marshal(v)
		if err != nil {
			d.malformed("%s: %v", k, err)
		}
		out[k] = raw
	}
	return out
}
