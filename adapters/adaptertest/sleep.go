package adaptertest

import (
	"context"
	"slices"
	"sync"
	"time"
)

// FakeSleep takes the place of a platform's waits: each is recorded, and ends when the test says so. Waits of no length end at once.
type FakeSleep struct {
	mu    sync.Mutex
	waits []time.Duration
	ends  map[time.Duration]chan struct{}
}

// NewFakeSleep makes one.
func NewFakeSleep() *FakeSleep { return &FakeSleep{ends: map[time.Duration]chan struct{}{}} }

// Sleep waits until the test ends the waits of this length, or ctx ends.
func (s *FakeSleep) Sleep(ctx context.Context, d time.Duration) {
	s.mu.Lock()
	s.waits = append(s.waits, d)
	end := s.end(d)
	s.mu.Unlock()
	if d <= 0 {
		return
	}
	select {
	case <-end:
	case <-ctx.Done():
	}
}

// end gives what ends the waits of a length. The caller holds mu.
func (s *FakeSleep) end(d time.Duration) chan struct{} {
	if s.ends[d] == nil {
		s.ends[d] = make(chan struct{})
	}
	return s.ends[d]
}

// Wake ends the waits of a length that are under way.
func (s *FakeSleep) Wake(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.end(d))
	delete(s.ends, d)
}

// Skip ends all waits of a length at once from now on.
func (s *FakeSleep) Skip(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.end(d))
}

// Count counts the waits of a length so far.
func (s *FakeSleep) Count(d time.Duration) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(s.waits), func(other time.Duration) bool { return other != d }))
}

// FakeClock is a time that the test moves on.
type FakeClock struct {
	mu  sync.Mutex
	now time.Time
}

// NewFakeClock makes a clock that begins at a time.
func NewFakeClock(now time.Time) *FakeClock { return &FakeClock{now: now} }

// Now reads the clock.
func (c *FakeClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Add moves the clock on.
func (c *FakeClock) Add(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
