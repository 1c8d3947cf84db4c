package slack_test

import (
	"context"
	"slices"
	"sync"
	"time"
)

// naps are a platform's waits: written down, and ended by the test. Those of no length end at once.
type naps struct {
	mu    sync.Mutex
	asked []time.Duration
	over  map[time.Duration]chan struct{}
}

func newNaps() *naps { return &naps{over: map[time.Duration]chan struct{}{}} }

func (n *naps) sleep(ctx context.Context, d time.Duration) {
	n.mu.Lock()
	n.asked = append(n.asked, d)
	over := n.end(d)
	n.mu.Unlock()
	if d <= 0 {
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// end gives what ends the waits of a length. The caller holds mu.
func (n *naps) end(d time.Duration) chan struct{} {
	if n.over[d] == nil {
		n.over[d] = make(chan struct{})
	}
	return n.over[d]
}

// wake ends the waits of a length that are under way.
func (n *naps) wake(d time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	close(n.end(d))
	delete(n.over, d)
}

// taken counts the waits of a length so far.
func (n *naps) taken(d time.Duration) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(n.asked), func(other time.Duration) bool { return other != d }))
}

// clock is a time that the test moves on.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) read() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
