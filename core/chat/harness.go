package chat

import (
	"context"
	"log/slog"
	"sync"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// Mode is fixed when a harness is made (harness §2).
type Mode int

// The modes.
const (
	Sessioned Mode = iota // every turn is bound to a session
	Stateless             // none is; the session store is never touched
)

// Options make a Harness. Graph is needed; in sessioned mode Sessions too.
type Options struct {
	Graph     *graph.Graph
	Mode      Mode
	Sessions  core.SessionStore
	Pauses    core.PauseStore // nil: Sessions where it is one too; a stateless harness may do with its own, in memory
	Replies   Replies         // empty texts are the defaults
	NewID     func() string   // of sessions that begin without an id; nil = UUIDs
	Log       *slog.Logger    // nil = discard
	Observers []graph.Observer

	// TransmissionsOnly makes an abstract harness: any graph will do, and Send is refused.
	TransmissionsOnly bool
	// Register tells the runtime that a signal is awaited (harness §6). The stored record alone makes a pause reachable, so it may
	// be nil. If it fails, the pause is withdrawn and the turn ends as harness_signal_subscription_failed.
	Register func(ctx context.Context, s core.Suspended) error
	// Watch is told of every call of Graph.Invoke, after it returned and before the outcome does. It must not call the harness.
	Watch func(Turn)
}

// Turn is one call of Graph.Invoke.
type Turn struct {
	Path       Path // "" where a Send could not load its session, so that nobody knows
	Invocation graph.Invocation
	Result     graph.Result
}

// Harness runs turns over a graph. It is safe for concurrent use.
type Harness struct {
	graph    *graph.Graph
	mode     Mode
	stores   graph.Stores
	replies  Replies
	newID    func() string
	log      *slog.Logger
	observe  []graph.Observer
	register func(context.Context, core.Suspended) error
	watch    func(Turn)
	locks    locks

	mu        sync.Mutex
	listeners map[core.SessionID][]*listener
	untaken   map[core.SessionID][]core.Outcome
}

// New makes a harness. It refuses (invalid) what could only fail later: a sessioned harness over a graph that does not declare
// graph.Messages or whose sessions do not keep it (harness-chat §4), and replies that hide the diagnostic.
func New(o Options) (*Harness, error) {
	h := &Harness{
		graph: o.Graph, mode: o.Mode, stores: graph.Stores{Sessions: o.Sessions, Pauses: o.Pauses}, replies: o.Replies.orDefaults(),
		newID: o.NewID, log: o.Log, observe: o.Observers, register: o.Register, watch: o.Watch,
		listeners: map[core.SessionID][]*listener{}, untaken: map[core.SessionID][]core.Outcome{},
	}
	if h.graph == nil {
		return nil, core.Errorf(core.Invalid, "a harness needs a graph")
	}
	if h.mode == Sessioned && o.Sessions == nil {
		return nil, core.Errorf(core.Invalid, "a sessioned harness needs a session store")
	}
	if h.mode == Sessioned && !o.TransmissionsOnly && !h.graph.KeepsMessages() {
		return nil, core.Errorf(core.Invalid, "a chat needs a graph whose sessions keep messages (graph.Messages); %q has none", h.graph.Name())
	}
	if err := h.replies.validate(); err != nil {
		return nil, err
	}
	if h.stores.Pauses == nil {
		pauses, ok := o.Sessions.(core.PauseStore)
		switch {
		case ok:
			h.stores.Pauses = pauses
		case h.mode == Stateless:
			h.stores.Pauses = graph.NewMemory()
		default:
			return nil, core.Errorf(core.Invalid, "a sessioned harness needs a store for paused turns")
		}
	}
	if h.newID == nil {
		h.newID = graph.NewID
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	return h, nil
}

// invoke is the one place that calls the graph.
func (h *Harness) invoke(ctx context.Context, in graph.Invocation, path func(graph.Result) Path) graph.Result {
	in.Observers = h.observe
	res := h.graph.Invoke(ctx, h.stores, in)
	if h.watch != nil {
		h.watch(Turn{Path: path(res), Invocation: in, Result: res})
	}
	return res
}

func always(p Path) func(graph.Result) Path {
	return func(graph.Result) Path { return p }
}
