package discord_test

import (
	"context"
	"slices"
	"sync"
	"time"
)

// fakeClock is a platform's waits: recorded, and ended by the test. Those of no length end at once.
type fakeClock struct {
	mu    sync.Mutex
	asked []time.Duration
	over  map[time.Duration]chan struct{}
}

func newFakeClock() *fakeClock { return &fakeClock{over: map[time.Duration]chan struct{}{}} }

func (c *fakeClock) sleep(ctx context.Context, d time.Duration) {
	c.mu.Lock()
	c.asked = append(c.asked, d)
	over := c.end(d)
	c.mu.Unlock()
	if d <= 0 {
		return
	}
	select {
	case <-over:
	case <-ctx.Done():
	}
}

// end gives what ends the waits of a length. The caller holds mu.
func (c *fakeClock) end(d time.Duration) chan struct{} {
	if c.over[d] == nil {
		c.over[d] = make(chan struct{})
	}
	return c.over[d]
}

// wake ends the waits of a length that are under way.
func (c *fakeClock) wake(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.end(d))
	delete(c.over, d)
}

// waits counts the waits of a length so far.
func (c *fakeClock) waits(d time.Duration) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(c.asked), func(other time.Duration) bool { return other != d }))
}

// skip has all waits of a length end at once from now on.
func (c *fakeClock) skip(d time.Duration) {
	closed := make(chan struct{})
	close(closed)
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.over[d] != nil {
		close(c.over[d])
	}
	c.over[d] = closed
}
