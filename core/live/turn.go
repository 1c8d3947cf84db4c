package live

import (
	"slices"
	"strings"
	"sync"
	"time"

	"gatehouse/core"
)

// State is what a turn shows at a moment.
type State struct {
	Turn    int64     // the number of its event, which the posts that it ends with name, too
	Said    []string  // its answers that are whole
	Writing string    // the answer that is being written, as far as it is
	Tool    string    // that runs; "": none does
	Since   time.Time // when Tool began
	RetryAt time.Time // when a model is asked again that asked to wait; it may have passed
}

// Turn is a turn that runs. A nil Turn can't be looked at. It is safe for concurrent use, and nothing in it blocks.
type Turn struct {
	hub          *Hub
	conversation core.ConversationID

	mu      sync.Mutex
	state   State           // guarded by mu; its Writing is in writing
	writing strings.Builder // guarded by mu
	full    bool            // guarded by mu: the answer that is being written is shown up to here
	held    int             // guarded by mu: bytes of the hub's
}

// Step shows a tool that begins.
func (t *Turn) Step(tool string, at time.Time) {
	t.change(func() { t.state.Tool, t.state.Since, t.state.RetryAt = tool, at, time.Time{} })
}

// Waits shows until when a model is waited for.
func (t *Turn) Waits(until time.Time) {
	t.change(func() { t.state.RetryAt = until })
}

// Writes shows that an answer begins, or begins anew.
func (t *Turn) Writes() {
	t.change(func() {
		t.drop()
		t.state.Tool, t.state.Since = "", time.Time{}
	})
}

// Piece adds to the answer that is being written.
func (t *Turn) Piece(text string) {
	t.change(func() {
		t.state.RetryAt = time.Time{}
		if t.full = t.full || !t.take(len(text)); !t.full {
			t.writing.WriteString(text)
		}
	})
}

// Said shows a whole answer in place of the one that is being written. One that is too long to be held leaves what is
// shown of it.
func (t *Turn) Said(text string) {
	t.change(func() {
		t.state.RetryAt = time.Time{}
		if t.held-t.writing.Len()+len(text) > mostText {
			return
		}
		t.drop()
		if text != "" && t.take(len(text)) {
			t.state.Said = append(slices.Clip(t.state.Said), text) // a snapshot has the list before
		}
	})
}

// Watched reports whether anybody looks at the turn.
func (t *Turn) Watched() bool {
	if t == nil || t.hub.watching.Load() == 0 {
		return false
	}
	t.hub.mu.RLock()
	defer t.hub.mu.RUnlock()
	return len(t.hub.watchers[t.conversation]) > 0
}

// End takes the turn away.
func (t *Turn) End() {
	if t == nil {
		return
	}
	t.hub.mu.Lock()
	if t.hub.turns[t.conversation] == t { // else the next one has begun
		delete(t.hub.turns, t.conversation)
	}
	t.hub.mu.Unlock()
	t.mu.Lock()
	t.hub.held.Add(-int64(t.held))
	t.held = 0
	t.mu.Unlock()
	t.changed()
}

func (t *Turn) change(do func()) {
	if t == nil {
		return
	}
	t.mu.Lock()
	do()
	t.mu.Unlock()
	t.changed()
}

func (t *Turn) changed() { t.hub.wake(t.conversation) }

// take takes some bytes of what may be held; false: there are none left.
func (t *Turn) take(n int) bool {
	if t.held+n > mostText {
		return false
	}
	if t.hub.held.Add(int64(n)) > mostAll {
		t.hub.held.Add(-int64(n))
		return false
	}
	t.held += n
	return true
}

// drop drops the answer that was being written.
func (t *Turn) drop() {
	t.hub.held.Add(-int64(t.writing.Len()))
	t.held -= t.writing.Len()
	t.full = false
	t.writing = strings.Builder{} // a snapshot has the text of the one before
}

func (t *Turn) snapshot() State {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.state
	s.Writing = t.writing.String()
	return s
}
