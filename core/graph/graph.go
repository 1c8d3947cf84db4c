package graph

import (
	"context"
	"encoding/json"
	"log/slog"

	"gatehouse/core"
)

// Graph is a compiled graph. It never changes and serves any number of invocations at once.
type Graph struct {
	name, version string
	schema        *schema
	schemaVersion string
	stored        []string // the fields that a session keeps
	history       bool     // Messages is among them
	autoSave      bool
	migrations    migrations
	nodes         map[string]node
	edges         map[string]edge
	entry         string
	observers     []Observer
	observed      bool // somebody is attached to it or to a graph inside it
	tracer        Tracer
	pauses        *Memory // for invocations that are given no PauseStore
	queues        queueSet
	log           *slog.Logger
}

// Name is the graph's name.
func (g *Graph) Name() string { return g.name }

// Version is the graph's version.
func (g *Graph) Version() string { return g.version }

// Entry is the first node.
func (g *Graph) Entry() string { return g.entry }

// Stored are the names of the fields that a session of this graph keeps.
func (g *Graph) StoredFields() []string { return append([]string(nil), g.stored...) }

// KeepsMessages reports whether the field Messages is declared and kept by sessions: what a sessioned chat needs.
func (g *Graph) KeepsMessages() bool { return g.history }

// Stores are what an invocation reads and writes; one graph serves each turn with its own. Sessions may be nil: then a session id
// is carried, but nothing is kept. Pauses may be nil: paused invocations are then kept in the graph itself, in memory.
type Stores struct {
	Sessions core.SessionStore
	Pauses   core.PauseStore
}

// Invocation says what to run. The zero Invocation runs the graph from its entry with default state, bound to no session.
type Invocation struct {
	ID          core.InvocationID // URL-safe; "" = a new UUID. A resume reuses the paused one's
	Correlation string            // URL-safe; "" = a new UUID. A resume inherits the paused one's
	Session     core.SessionID    // "" = none: the session store is not touched. A resume takes it from the record
	Initial     Update            // what the caller supplies; a resume ignores it
	Resume      core.InvocationID // go on with this paused invocation
	Payload     map[string]json.RawMessage
	Observers   []Observer // after those attached to the graph
}

// Status is how an invocation ended.
type Status string

// The statuses (graph-engine §3), in the words of the spec.
const (
	Completed Status = "completed" // END was reached, and the session saved where there is one
	Errored   Status = "errored"   // Err says why
	Suspended Status = "suspended" // Descriptor says what it waits for; the paused record is stored
)

// Result is what an invocation came to. State is the final state, the one at the pause, or the recoverable one of an error; where
// only the save at END failed (session_save_failed) it is the final state.
type Result struct {
	Status      Status
	State       State
	Err         error
	Descriptor  core.Descriptor // of a suspension
	Node        string          // where it suspended or failed, in its own graph; "" for neither
	Namespace   []string        // the path of nodes to that place, the outermost graph's first
	Invocation  core.InvocationID
	Correlation string
	Session     core.SessionID
	FirstNew    int // how many messages the state had when the first node began: what stands behind them is this turn's
	Entry       Entry
}

// Entry is how an invocation began.
type Entry struct {
	State      State    // when the first node began; zero where it never came to that
	Found      bool     // the session had a record
	Loaded     State    // the record as loaded and migrated, over the defaults; zero where there was none
	Fields     []string // the fields that the record held
	Messages   int      // how many messages the session had
	Migrations [][2]string
	Resumed    bool // a paused record was taken up and consumed
}

// Invoke runs the graph until END, an error or a suspension, and returns then, whether or not observers have heard of everything.
// All that goes wrong is in the Result. Nothing is retried. When ctx ends, the invocation fails before its next node with the
// cause of ctx (context.Cause), whose category is the one reported.
func (g *Graph) Invoke(ctx context.Context, st Stores, in Invocation) Result {
	seg := &segment{g: g, st: st}
	if st.Pauses == nil {
		seg.st.Pauses = ownPauses{g.pauses, st.Sessions}
	}
	start, err := seg.findStart(ctx, in)
	res := Result{Status: Errored}
	if err == nil {
		res = seg.run(ctx, in, start)
	} else {
		res.Err = err
	}
	res.Invocation, res.Correlation, res.Session = seg.ids.Invocation, seg.ids.Correlation, seg.ids.Session
	res.Entry = seg.entry
	return res
}

// open validates what was asked for and finds where to start: at the entry, or where a paused invocation stopped.
func (seg *segment) findStart(ctx context.Context, in Invocation) (start, error) {
	for _, o := range in.Observers {
		if err := o.validate(); err != nil {
			return start{}, err
		}
	}
	if in.Resume != "" {
		return seg.fromPause(ctx, in)
	}
	seg.ids = IDs{Invocation: in.ID, Correlation: in.Correlation, Session: in.Session}
	if in.ID == "" {
		seg.ids.Invocation = core.InvocationID(NewID())
	}
	if in.Correlation == "" {
		seg.ids.Correlation = NewID()
	}
	if !urlSafe(string(seg.ids.Invocation)) || !urlSafe(seg.ids.Correlation) {
		return start{}, core.Errorf(core.Invalid, "an invocation id and a correlation id must be URL-safe, not %q and %q", in.ID, in.Correlation)
	}
	return seg.fromEntry(ctx, in)
}
