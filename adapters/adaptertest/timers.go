package adaptertest

import (
	"context"
	"sync"
	"time"
)

// Timers are a platform's pauses under the control of the test. They are counted, and end when the test calls Fire.
// Pauses of length zero end at once.
type Timers struct {
	mu    sync.Mutex
	asked map[time.Duration]int
	ends  map[time.Duration]chan struct{}
}

// NewTimers returns timers without any pauses.
func NewTimers() *Timers {
	return &Timers{asked: map[time.Duration]int{}, ends: map[time.Duration]chan struct{}{}}
}

// Sleep waits until the test ends the pauses of this length, or until the context ends.
func (n *Timers) Sleep(ctx context.Context, d time.Duration) {
	n.mu.Lock()
	n.asked[d]++
	end := n.end(d)
	n.mu.Unlock()
	if d <= 0 {
		return
	}
	select {
	case <-end:
	case <-ctx.Done():
	}
}

// end returns the channel that ends the pauses of a length. The caller holds the lock.
func (n *Timers) end(d time.Duration) chan struct{} {
	if n.ends[d] == nil {
		n.ends[d] = make(chan struct{})
	}
	return n.ends[d]
}

// Fire ends the current pauses of a length.
func (n *Timers) Fire(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.end(d))
	delete(n.ends, d)
}

// FireAlways ends the current pauses of a length, and all later ones at once.
func (n *Timers) FireAlways(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.end(d))
}

// Count counts the pauses of a length so far.
func (n *Timers) Count(d time.Duration) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.asked[d]
}
