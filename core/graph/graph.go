package graph

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"

	"github.com/google/uuid"

	"gatehouse/core"
)

// Graph is a compiled graph. It never changes and can run any number of invocations at once.
type Graph struct {
	definition
	schema     *schema
	stored     []string // the fields that a session stores
	history    bool     // Messages is among them
	migrations migrations
	nodes      map[string]*node
	edges      map[string]edge
	observed   bool    // it, or a graph inside it, has observers
	pauses     *Memory // for invocations without a PauseStore
	queues     queueSet
}

// definition is what a Graph takes over from its Builder as it is.
type definition struct {
	name, version string
	schemaVersion string
	autoSave      bool
	entry         string
	observers     []Observer
	tracer        Tracer
}

// Name is the graph's name.
func (g *Graph) Name() string { return g.name }

// Version is the graph's version.
func (g *Graph) Version() string { return g.version }

// Entry is the first node.
func (g *Graph) Entry() string { return g.entry }

// StoredFields returns the names of the fields that a session of this graph stores.
func (g *Graph) StoredFields() []string { return slices.Clone(g.stored) }

// KeepsMessages reports whether the field Messages is declared and stored by sessions, as a chat with sessions needs.
func (g *Graph) KeepsMessages() bool { return g.history }

// Stores are the stores of one invocation. Without Sessions the session id is carried, but nothing is stored. Without
// Pauses the graph itself keeps paused invocations in memory.
type Stores struct {
	Sessions core.SessionStore
	Pauses   core.PauseStore
}

// Invocation is what to run. The zero Invocation runs the graph from its entry, with the default state and no session.
type Invocation struct {
	ID          core.InvocationID // URL-safe; "" = a new UUID. A resume keeps the paused one's
	Correlation string            // URL-safe; "" = a new UUID. A resume keeps the paused one's
	// "" = none: the session store is not touched. A resume takes it from the record
	Session   core.SessionID
	Initial   Update                     // fields that the caller supplies; a resume ignores them
	Resume    core.InvocationID          // resume this paused invocation
	Payload   map[string]json.RawMessage // of a resume: overlaid on the state
	Observers []Observer                 // after those attached to the graph
}

// Status is how an invocation ended.
type Status string

// The statuses (graph-engine §3).
const (
	Completed Status = "completed" // END was reached, and the session (if any) saved
	Errored   Status = "errored"   // see Err
	Suspended Status = "suspended" // it waits for Descriptor; the paused record is stored
)

// Result is the result of an invocation. State is the final state, the state at the pause, or the recoverable state of
// an error. If only the save at END failed (session_save_failed), it is the final state.
type Result struct {
	Status      Status
	State       State
	Err         error
	Descriptor  core.Descriptor // of a suspension
	Node        string          // where it suspended or failed; "" = nowhere
	Namespace   []string        // the path of nodes to Node, outermost first
	Invocation  core.InvocationID
	Correlation string
	Session     core.SessionID
	FirstNew    int // index of the first message of this turn: the number of messages when the first node began
	Entry       Entry
}

// Entry is how an invocation began.
type Entry struct {
	State      State    // when the first node began; zero if none did
	Found      bool     // the session had a record
	Loaded     State    // the record as loaded and migrated, over the defaults; zero without a record
	Fields     []string // the fields that the record held
	Messages   int      // how many messages the session had
	Migrations [][2]string
	Resumed    bool // a paused record was consumed
}

// Invoke runs the graph until END, an error or a suspension. It does not wait for observers (see Drain) and retries
// nothing. Every error is in the Result. When ctx ends, the invocation fails before its next node with
// context.Cause(ctx) and its category.
func (g *Graph) Invoke(ctx context.Context, st Stores, in Invocation) Result {
	seg := &segment{g: g, st: st}
	if st.Pauses == nil {
		seg.st.Pauses = ownPauses{g.pauses, st.Sessions}
	}
	start, err := seg.findStart(ctx, in)
	res := Result{Status: Errored, Err: err}
	if err == nil {
		res = seg.run(ctx, in, start)
	}
	res.Invocation, res.Correlation, res.Session = seg.ids.Invocation, seg.ids.Correlation, seg.ids.Session
	res.Entry = seg.entry
	return res
}

// END is the target of an edge that ends the graph. No node can have this name; a node named "END" is an ordinary node.
const END = "\x00END"

// IDs are the three ids in the context of an invocation.
type IDs struct {
	Invocation  core.InvocationID
	Correlation string
	Session     core.SessionID // "" = not bound to a session
}

type idsKey struct{}

// InvocationFrom gives the ids of the invocation that a context belongs to: in nodes, in what they call, and in
// observers (graph-engine §5). A context outside an invocation has none.
func InvocationFrom(ctx context.Context) (ids IDs, ok bool) {
	ids, ok = ctx.Value(idsKey{}).(IDs)
	return ids, ok
}

// NewID is a random UUID of version 4.
func NewID() string { return uuid.NewString() }

// urlSafe matches an id that can be used unescaped in a URL path.
var urlSafe = regexp.MustCompile(`^[a-zA-Z0-9._~:@!$&'()*+,;=-]+$`)
