package openharness

import (
	"slices"
	"sync"
	"time"

	"gatehouse/core"
)

// watchers wake whoever waits for a change of a mailbox. They are a hint of this process: what another process stores
// is found by looking.
type watchers struct {
	mu  sync.Mutex
	all map[chan struct{}][]core.ConversationID
}

// add returns a channel that gets a value after each change of these mailboxes; remove must be called.
func (w *watchers) add(mailboxes ...core.ConversationID) (changed <-chan struct{}, remove func()) {
	waiter := make(chan struct{}, 1)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.all == nil {
		w.all = map[chan struct{}][]core.ConversationID{}
	}
	w.all[waiter] = mailboxes
	return waiter, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		delete(w.all, waiter)
	}
}

func (w *watchers) wake(mailbox core.ConversationID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for waiter, of := range w.all {
		if !slices.Contains(of, mailbox) {
			continue
		}
		select {
		case waiter <- struct{}{}:
		default: // the last change was not noticed yet
		}
	}
}

// How often the store is read while no change is noticed.
const (
	firstLook = 50 * time.Millisecond
	lastLook  = 500 * time.Millisecond
)

// await reads the store until done reports true, the wait is over, or the engine stops. The last two are no error.
func (c *call) await(done func() (bool, error)) (bool, error) {
	changed, remove := c.watchers.add(c.mailbox)
	defer remove()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for look := firstLook; ; look = min(2*look, lastLook) {
		if ok, err := done(); ok || err != nil {
			return ok, err
		}
		timer.Reset(look)
		select {
		case <-changed:
			look = firstLook
		case <-timer.C:
		case <-c.waited:
			return false, nil
		case <-c.ended:
			return false, nil
		}
	}
}
