package main

import (
	"context"
	"encoding/json"
	"fmt"
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
	migrated     []string // the migrations that were begun, each "from->to"

	attached map[string][]graph.Observer // to subgraphs, by name or "inner"
	inner    map[string]*scope           // the subgraphs
	subFault error                       // of a subgraph that does not compile
	markers  []marker
	told     *telemetry

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
	inside        []graph.Event // all events, as the runner's own observer heard them
	spans         []*span
	lines         []record
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

	insideAt, spansAt, linesAt int
}

// result is that of the turn's last invocation; nil where the graph was not invoked.
func (t *turn) result() *graph.Result {
	if len(t.invoked) == 0 {
		return nil
	}
	return &t.invoked[len(t.invoked)-1].Result
}

// entry is how the turn's last invocation began; zero where the graph was not invoked.
func (t *turn) entry() graph.Entry {
	if r := t.result(); r != nil {
		return r.Entry
	}
	return graph.Entry{}
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

// begin opens a turn.
func (w *world) begin(kind string, d *doc) *turn {
	t := &turn{kind: kind, d: d, name: fmt.Sprintf("%s %d", kind, len(w.turns)+1)}
	if n := d.get("name"); n != nil {
		t.name = n.text()
	}
	t.journalAt, t.earsAt, t.subsAt, t.began = w.journal.len(), w.ears.len(), len(w.subscribed), time.Now()
	t.insideAt = w.ears.lenAll()
	t.spansAt, t.linesAt = w.told.marks()
	w.turns = append(w.turns, t)
	return t
}

// end closes a turn: what happened since it began is its own.
func (w *world) end(t *turn) {
	t.took = time.Since(t.began)
	t.entries = w.journal.from(t.journalAt)
	t.heard = w.ears.from(t.earsAt)
	t.inside = w.ears.allFrom(t.insideAt)
	t.spans, t.lines = w.told.since(t.spansAt, t.linesAt)
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
