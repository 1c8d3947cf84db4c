package main

import (
	"cmp"
	"fmt"
	"strings"

	"gatehouse/cmd/conformance/internal/evidence"
	"gatehouse/cmd/conformance/internal/fixture"
	"gatehouse/core"
	"gatehouse/core/graph"
)

// setup makes the stores and the graph. It returns false if the case ends here, with the expected compile error or
// another one.
func (r *runner) setup() bool {
	r.setupStores()
	d := cmp.Or(r.doc.Get("graph"), r.doc)
	r.Version = d.Peek("state").Peek("schema_version").Text()
	b := r.build(d)
	r.seed()
	g, err := b.Compile()
	if r.subFault != nil {
		err = r.subFault
	}
	if want := r.doc.Get("expected_compile_error"); want != nil {
		if got := core.CategoryOf(err); string(got) != want.Text() {
			r.Fault(want, "compiling returns %q, not %q (%v)", got, want.Text(), err)
		}
		r.doc.Get("initial_state").Fields() // not used
		r.Unread(r.doc)
		return false
	}
	if err != nil {
		r.refused(err)
		return false
	}
	r.Graph = g
	return true
}

// refused checks a case whose graph does not compile. The case may expect this error, raised at registration; then
// nothing runs.
func (r *runner) refused(err error) {
	at := cmp.Or(r.doc.Peek("expected_error").Peek("raised_at"),
		r.doc.Peek("expected").Peek("expected_error").Peek("raised_at"))
	want := r.doc.Peek("expected_error").Peek("category")
	// then the category is the only hint
	byCategory := at == nil && want != nil && core.CategoryOf(err) == core.Category(want.Text())
	if !byCategory && at.Name() != "registration" {
		r.Faults = append(r.Faults, fmt.Sprintf("the graph does not compile: %v", err))
		return
	}
	r.doc.Get("initial_state").Fields() // not used
	t := &evidence.Turn{
		Name: "registration", Kind: evidence.Registration, Node: r.doc, Status: graph.Errored, Err: err,
		Category: core.CategoryOf(err),
	}
	t.Session = core.SessionID(r.doc.Get("session_id").Text())
	t.Before = r.stored(t.Session)
	t.After = t.Before
	r.checkTurn(engineChecks, t)
	r.Turns = append(r.Turns, t)
	r.invariants(r.doc.Get("invariants"), r.Turns)
	r.Unread(r.doc)
}

func (r *runner) setupStores() {
	harness := r.doc.Has("chat_turns") || r.doc.Has("transmissions")
	if d := r.doc.Get("session_store"); d != nil || harness {
		r.stores.Sessions, r.HasSessions = r.store, true
		if !d.IsMapping() {
			inMemory(d)
		} else {
			inMemory(d.Need("type"))
			d.Get("behavior").Each(func(key string, v *fixture.Node) bool {
				op, ok := strings.CutSuffix(key, "_raises")
				if ok && (op == "load" || op == "save") {
					r.store.Faults[op] = core.Category(v.Text())
					return true
				}
				return false
			})
		}
	}
	if d := r.doc.Get("checkpointer"); d != nil || harness {
		r.stores.Pauses, r.HasPauses = r.store, true
		inMemory(d)
	}
}

func inMemory(d *fixture.Node) {
	if d != nil && d.Text() != "in_memory" {
		d.Malformed("harness_primitive_missing: there is no store %q", d.Text())
	}
}

// firstSession returns the session of the first turn that names one.
func (r *runner) firstSession() *fixture.Node {
	for _, key := range []string{"invocations", "transmissions", "chat_turns"} {
		for _, d := range r.doc.Peek(key).Items() {
			if id := cmp.Or(d.Peek("session_id"), d.Peek("payload").Peek("session_id")); id != nil {
				return id
			}
		}
	}
	return nil
}

// seed stores a session without recording the call.
func (r *runner) seed() {
	d := r.doc.Get("seeded_session")
	if d == nil {
		return
	}
	id := cmp.Or(d.Get("session_id"), r.doc.Get("session_id"), r.firstSession())
	state := d.Need("state")
	rec := &core.SessionRecord{ID: core.SessionID(id.Text()), SchemaVersion: r.Version, State: payload(state)}
	if rec.ID == "" {
		d.Malformed("there is no session_id")
	}
	if v := d.Get("schema_version"); v != nil {
		rec.SchemaVersion = v.Text()
	}
	if list, ok := state.Get(graph.Messages.Name()).Value().([]any); ok && r.Conversation {
		h := core.History{}.Append(messagesOf(list)...)
		rec.Messages, rec.Writer = &h, core.Writer{Invocation: "seed"}
		delete(rec.State, graph.Messages.Name())
	}
	if err := r.memory.Save(r.ctx, rec, core.SaveOptions{}); err != nil {
		d.Malformed("%v", err)
	}
}
