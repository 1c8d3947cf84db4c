package evidence

import (
	"sync"

	"gatehouse/core"
)

// The kinds of entries.
const (
	Load         = "load"
	Save         = "save"
	ExplicitSave = "explicit save"
	Delete       = "delete"
	List         = "list"
	Pause        = "pause"
	Paused       = "paused"    // a paused record was read by its invocation
	BySignal     = "by signal" // a paused record was read by its signal
	Consume      = "consume"
	NodeRan      = "node"
	InnerNodeRan = "inner node" // of a graph inside the case's graph
	Middleware   = "middleware" // Node is the marker that it wrote
	Migration    = "migration"  // Node is "from->to"
)

// SessionCalls are all calls of a session store.
var SessionCalls = []string{Load, Save, ExplicitSave, Delete, List}

// Entry is one thing that happened: a store call, or the run of a node's body.
type Entry struct {
	What       string
	Node       string
	Seen       int // of a node: how many messages its state had
	Messages   int // of a node: how many messages it returned
	Session    core.SessionID
	Invocation core.InvocationID
	Record     *Stored // what a load gave, or what was to be saved; nil for none
}

// Journal is everything that happened in a case, in order.
type Journal struct {
	mu      sync.Mutex
	entries []Entry
}

// Add appends an entry.
func (j *Journal) Add(e Entry) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.entries = append(j.entries, e)
}

// Len returns the number of entries.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.entries)
}

// From returns the entries from index i on.
func (j *Journal) From(i int) []Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return append([]Entry(nil), j.entries[i:]...)
}
