// Package live holds what the turns of this process say while they run, for whoever looks meanwhile: the text so far,
// the tool that runs, until when a model is waited for. It is a view. Nothing of it is stored, nothing is decided by
// it, and a turn that another process runs, or that has ended, is not in it.
//
//	dispatch  Begin … Step, Waits, Writes, Piece, Said … End
//	a view    Watch, then State after each change
//
// State is a snapshot of the whole, so a view that is slow leaves out what lies between two looks, and no turn ever
// waits for a view. How often a view looks is its own affair. What is held is bounded: mostText of one turn, mostAll of
// all; a text that goes beyond is shown up to there. How many turns there are is the dispatcher's limit.
package live

import (
	"slices"
	"sync"
	"sync/atomic"

	"gatehouse/core"
)

// Bytes of texts that are held.
const (
	mostText = 64 << 10 // of one turn
	mostAll  = 32 << 20
)

// Hub has the running turns of a process. A nil Hub has none. It is safe for concurrent use.
type Hub struct {
	platforms []string
	held      atomic.Int64
	watching  atomic.Int32 // watchers, so that a turn that nobody watches takes no lock for them

	mu       sync.RWMutex
	turns    map[core.ConversationID]*Turn
	watchers map[core.ConversationID][]chan struct{}
}

// New makes a hub of the turns of some platforms; those of others can't be looked at.
func New(platforms ...string) *Hub {
	return &Hub{
		platforms: platforms, turns: map[core.ConversationID]*Turn{},
		watchers: map[core.ConversationID][]chan struct{}{},
	}
}

// Begin adds a turn, which is known by the number of its event, until its End. It takes the place of another one of the
// same conversation. nil: it can't be looked at; a nil Turn takes what it is told, and forgets it.
func (h *Hub) Begin(platform string, c core.ConversationID, event int64) *Turn {
	if h == nil || !slices.Contains(h.platforms, platform) {
		return nil
	}
	t := &Turn{hub: h, conversation: c, state: State{Turn: event}}
	h.mu.Lock()
	h.turns[c] = t
	h.mu.Unlock()
	t.changed()
	return t
}

// State is what a conversation's turn shows now; ok is false if none runs here.
func (h *Hub) State(c core.ConversationID) (s State, ok bool) {
	if h == nil {
		return State{}, false
	}
	h.mu.RLock()
	t := h.turns[c]
	h.mu.RUnlock()
	if t == nil {
		return State{}, false
	}
	return t.snapshot(), true
}

// Watch returns a channel that gets a value after a change of these conversations; changes that nobody has noticed are
// one. end must be called. The channel of a nil Hub never gets one.
func (h *Hub) Watch(conversations ...core.ConversationID) (changed <-chan struct{}, end func()) {
	if h == nil {
		return nil, func() {}
	}
	watcher := make(chan struct{}, 1)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.watching.Add(1)
	for _, c := range conversations {
		h.watchers[c] = append(h.watchers[c], watcher)
	}
	return watcher, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.watching.Add(-1)
		for _, c := range conversations {
			left := slices.DeleteFunc(h.watchers[c], func(w chan struct{}) bool { return w == watcher })
			if h.watchers[c] = left; len(left) == 0 {
				delete(h.watchers, c)
			}
		}
	}
}

// wake tells the watchers of a conversation that it has changed.
func (h *Hub) wake(c core.ConversationID) {
	if h.watching.Load() == 0 {
		return
	}
	h.mu.RLock()
	defer h.mu.RUnlock()
	for _, watcher := range h.watchers[c] {
		select {
		case watcher <- struct{}{}:
		default: // it has not noticed the last change yet
		}
	}
}
