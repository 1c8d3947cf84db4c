package chat

import (
	"log/slog"
	"sync"

	"gatehouse/core"
	"gatehouse/core/graph"
)

// Options make a Harness. Graph and Sessions are needed.
type Options struct {
	Graph    *graph.Graph
	Sessions core.SessionStore
	Pauses   core.PauseStore // nil: Sessions where it is one too
	Replies  Replies         // empty texts are the defaults
	Log      *slog.Logger    // nil = discard
}

// Harness runs turns over a graph. It is safe for concurrent use.
type Harness struct {
	graph   *graph.Graph
	stores  graph.Stores
	replies Replies
	log     *slog.Logger
	locks   locks

	mu        sync.Mutex
	listeners map[core.SessionID][]*listener
	untaken   map[core.SessionID][]core.Outcome
}

// New makes a harness. It refuses (invalid) what could only fail later: a graph that does not declare graph.Messages or whose sessions
// do not keep it (harness-chat §4), and replies that hide the diagnostic.
func New(o Options) (*Harness, error) {
	h := &Harness{
		graph: o.Graph, stores: graph.Stores{Sessions: o.Sessions, Pauses: o.Pauses}, replies: o.Replies.orDefaults(), log: o.Log,
		listeners: map[core.SessionID][]*listener{}, untaken: map[core.SessionID][]core.Outcome{},
	}
	if h.graph == nil {
		return nil, core.Errorf(core.Invalid, "a harness needs a graph")
	}
	if o.Sessions == nil {
		return nil, core.Errorf(core.Invalid, "a harness needs a session store")
	}
	if !h.graph.KeepsMessages() {
		return nil, core.Errorf(core.Invalid, "a chat needs a graph whose sessions keep messages (graph.Messages); %q has none", h.graph.Name())
	}
	if err := h.replies.validate(); err != nil {
		return nil, err
	}
	if h.stores.Pauses == nil {
		pauses, ok := o.Sessions.(core.PauseStore)
		if !ok {
			return nil, core.Errorf(core.Invalid, "a harness needs a store for paused turns")
		}
		h.stores.Pauses = pauses
	}
	if h.log == nil {
		h.log = slog.New(slog.DiscardHandler)
	}
	return h, nil
}
