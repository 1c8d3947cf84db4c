package chat

import (
	"log/slog"
	"sync"
	"sync/atomic"

	"gatehouse/core"
	"gatehouse/core/graph"
	"gatehouse/core/keylock"
)

// Options are the parts of a Harness. Only Graph is required.
type Options struct {
	Graph  *graph.Graph
	Stores graph.Stores // of calls without stores of their own, see WithStores
	// wraps each call's stores, to observe what the engine reads and writes; nil: unwrapped
	Wrap    func(graph.Stores) graph.Stores
	Replies Replies // empty texts are the defaults

	// Sentences say what people read of an error, by its category; empty: the built-in ones. nil: the error's own
	// message.
	Sentences core.Sentences

	Log *slog.Logger // nil = discard
}

// Harness runs turns over a graph. It is safe for concurrent use, and one serves all turns of a process.
type Harness struct {
	opt   Options
	graph atomic.Pointer[graph.Graph]
	locks keylock.Locks[core.SessionID]

	mu        sync.Mutex
	listeners map[core.SessionID][]*listener
	untaken   map[core.SessionID][]core.Outcome
}

// New makes a harness. A graph that does not declare graph.Messages, or whose sessions do not store it (harness-chat
// §4), and replies without the diagnostic are invalid.
func New(o Options) (*Harness, error) {
	if o.Graph == nil {
		return nil, core.Errorf(core.Invalid, "a harness needs a graph")
	}
	if !o.Graph.KeepsMessages() {
		return nil, core.Errorf(core.Invalid, "a chat needs a graph whose sessions keep messages (graph.Messages); "+
			"%q has none", o.Graph.Name())
	}
	o.Replies = o.Replies.orDefaults()
	if err := o.Replies.validate(); err != nil {
		return nil, err
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	h := &Harness{opt: o, listeners: map[core.SessionID][]*listener{}, untaken: map[core.SessionID][]core.Outcome{}}
	h.graph.Store(o.Graph)
	return h, nil
}

// Use has the calls that begin from now on run another graph, which New would take; those that run keep theirs.
func (h *Harness) Use(g *graph.Graph) { h.graph.Store(g) }

// CallOption is an option of one Send or Resume.
type CallOption func(*call)

type call struct {
	stores     graph.Stores
	invocation core.InvocationID
}

// WithStores gives a call stores of its own: dispatch stages what a turn writes.
func WithStores(sessions core.SessionStore, pauses core.PauseStore) CallOption {
	return func(c *call) { c.stores = graph.Stores{Sessions: sessions, Pauses: pauses} }
}

// WithInvocation fixes the id of a Send's invocation; without it the engine makes one. A resume has that of the paused
// one.
func WithInvocation(id core.InvocationID) CallOption {
	return func(c *call) { c.invocation = id }
}

// call applies the options. Error: invalid, if neither the call nor the harness has stores.
func (h *Harness) call(opts []CallOption) (call, error) {
	c := call{stores: h.opt.Stores}
	for _, o := range opts {
		o(&c)
	}
	if c.stores.Sessions == nil || c.stores.Pauses == nil {
		return call{}, core.Errorf(core.Invalid, "a harness needs a store for sessions and one for paused turns")
	}
	if h.opt.Wrap != nil {
		c.stores = h.opt.Wrap(c.stores)
	}
	return c, nil
}
